package foretick

import "github.com/foretick/foretick/prediction"

// settleEvents confirms the events predicted up to t. A note comes when the server ran
// another command, or wrote predicted state. The note then decides about events since the
// last agreement, even if the state agrees, since some events leave no trace in it. With
// remote prediction, a note comes whenever an event was raised. It then counts after a
// correction, and after a snapshot that left entities out.
func (tl *timeline) settleEvents(t Tick, v prediction.Verdict) {
	open, answered := tl.reasons.NoteOf(t) != nil, tl.input.answered(t)
	if tl.p.Remote.Predicts && !tl.doubted(t) {
		open = v == prediction.Different || !tl.ghosts.whollyTold(t)
	}
	for i, q := range tl.frame.queues {
		if open {
			q.refuse(&tl.frame, answered, func(k Tick) int {
				return tl.reasons.RaisedIn(i, k, t, tl.agreed.newest)
			})
		}
		q.confirm(&tl.frame, answered)
	}
}

// doubted reports whether a note says that the server ran another command, or wrote
// predicted state.
func (tl *timeline) doubted(t Tick) bool {
	n := tl.reasons.NoteOf(t)
	return n != nil && (n.Substituted != 0 || n.Effect != 0)
}
