package client

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/internal/game"
)

// trails are hashes of the predicted state after each system. Only debug builds have them.
type trails struct {
	*base
	ghosts    *ghosts
	predicted *predicted
	row       *game.SingletonRow

	ours, theirs cause.Trail // the trails of the two ends
	due          bool        // a system ran whose state has to be hashed
}

func newTrails(b *base, gs *ghosts, pr *predicted, row *game.SingletonRow) trails {
	ts := trails{base: b, ghosts: gs, predicted: pr, row: row}
	if game.DebugBuild {
		ts.ours, ts.theirs = cause.NewTrail(b.cfg.History), cause.NewTrail(b.cfg.History)
	}
	return ts
}

// settleTrail hashes the state after a system, for the client and for a sync test.
func (ts *trails) settleTrail(tester *syncTester) {
	if game.DebugBuild && ts.due {
		ts.due = false
		ts.noteTrail()
	}
	if tester.due > 0 {
		tester.hashSystem(tester.due - 1)
		tester.due = 0
	}
}

// noteTrail hashes the current predicted state.
func (ts *trails) noteTrail() {
	ts.row.TakeRow()
	var sum uint32
	for _, e := range ts.predicted.entities() {
		id := ts.p.Identity.Find(ts.world, e)
		if id == nil || ts.ghosts.anothers(e) {
			continue // it is not in this tick, or the server does not hash it for this client
		}
		name := id.Origin
		if name == 0 {
			name = id.Net
		}
		sum += ts.p.EntityHash(ts.world, e, name, nil)
	}
	ts.ours.Note(sum)
}

// blame returns the system after which the ends first differed, and its tick, in the ticks from … t. It
// is for corrections whose cause is code.
func (ts *trails) blame(from, t foretick.Tick) (system string, at foretick.Tick) {
	if ts.p.OtherBuild {
		return "", 0 // another build has other systems
	}
	k, i, found := cause.FirstDifference(&ts.ours, &ts.theirs, from, t)
	switch {
	case !found:
		return "", 0
	case i == 0:
		return "(ahead of the tick's systems)", k
	}
	return ts.p.SharedSystem(i - 1), k
}
