package client

import (
	"bytes"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// agreement records the ticks on which both ends agree.
type agreement struct {
	*base
	ghosts  *ghosts
	input   *input
	reasons *cause.Log

	newest foretick.Tick // the newest tick on which both ends agree
	all    foretick.Tick // the newest tick on which they also agree on remote players
	unsure bool          // a snapshot since newest left something out
	// standIns is the newest snapshot whose note shows that all replacements by the server equalled the
	// client's commands. Later notes have less about the same ticks.
	standIns foretick.Tick
	// parts has an entry for each ghost that is predicted here, while snapshots leave some out. It is
	// sorted by wire id.
	parts, spare []agreedPart
}

// agreedPart is a ghost and the last ticks whose snapshots had the ghost. Once these were compared,
// both ends agreed on it.
type agreedPart struct {
	wire   schema.WireID
	born   foretick.Tick
	newest foretick.Tick // the newest such tick; 0: none yet
	before uint64        // bit i is set if the tick i+1 before newest is one, too
}

func (a *agreedPart) addTold(t foretick.Tick) {
	if d := t - a.newest; a.newest == 0 || d > 64 {
		a.before = 0
	} else {
		a.before = a.before<<d | 1<<(d-1)
	}
	a.newest = t
}

func (a *agreedPart) toldIn(t foretick.Tick) bool {
	d := a.newest - t
	return a.newest != 0 && (d == 0 || d <= 64 && a.before>>(d-1)&1 != 0)
}

// clearTicks forgets all ticks, when the prediction starts again.
func (ag *agreement) clearTicks() { ag.newest, ag.all, ag.unsure, ag.parts = 0, 0, false, ag.parts[:0] }

// noteParts notes which ghosts the snapshot of t had. Those that it left out may still be received
// later.
func (ag *agreement) noteParts(ours []*snapshot.Ghost, t foretick.Tick) {
	next, i := ag.spare[:0], 0
	for _, g := range ours {
		for i < len(ag.parts) && (ag.parts[i].wire < g.Wire || ag.parts[i].wire == g.Wire && int32(ag.parts[i].born-g.Born) < 0) {
			i++
		}
		part := agreedPart{wire: g.Wire, born: g.Born}
		if i < len(ag.parts) && ag.parts[i].wire == g.Wire && ag.parts[i].born == g.Born {
			part = ag.parts[i]
		}
		if _, ok := g.At(t); ok {
			part.addTold(t)
		}
		next = append(next, part)
	}
	ag.parts, ag.spare = next, ag.parts
}

// ghostTold reports whether the snapshot of t had a ghost when it arrived.
func (ag *agreement) ghostTold(g *snapshot.Ghost, t foretick.Tick) bool {
	return slices.ContainsFunc(ag.parts, func(p agreedPart) bool { return p.wire == g.Wire && p.born == g.Born && p.toldIn(t) })
}

// agreeOn notes that both ends agree on t. Entities that the snapshot left out may still differ, since
// an unknown tick. Nothing may be known yet about a remote player that has just joined.
func (ag *agreement) agreeOn(t foretick.Tick) {
	_, all, _ := ag.ghosts.receiver.Complete(t)
	ag.unsure = !all
	switch {
	case all:
		ag.newest, ag.all = t, t
	case ag.ghosts.whollyTold(t):
		ag.newest = t
	default:
		if !ag.ghosts.receiver.PostponedUnknown(t) {
			ag.noteParts(ag.ghosts.ours, t)
		}
		return
	}
	ag.parts = ag.parts[:0]
}

// toldApart reports whether the snapshot of k had an entity, and left out none of the player's entities
// that systems may have visited together with it: they visit rows of one owner and one component set at
// a time. Singletons belong to all of these.
func (ag *agreement) toldApart(g *snapshot.Ghost, k foretick.Tick) bool {
	if !ag.ghostTold(g, k) {
		return false
	}
	mask := g.Newest().Mask
	return !slices.ContainsFunc(ag.ghosts.ours, func(o *snapshot.Ghost) bool {
		if ag.ghostTold(o, k) || ag.ghosts.remotePredicted(o) || int32(k-o.Born) < 0 || o.Gone != 0 && int32(k-o.Gone) >= 0 {
			return false
		}
		return o.Prefab == g.Prefab || o.Newest().Mask.Equal(mask) || ag.p.Prefabs[o.Prefab].ECS == &ag.build.SingletonRow
	})
}

// takeNote handles the note of the snapshot of t.
func (ag *agreement) takeNote(t foretick.Tick) {
	n := ag.reasons.Take(t)
	if n.Substituted == 0 {
		return
	}
	newest := t - (n.Substituted - 1)
	ag.input.missed(newest-n.Run, newest)
	if !ag.likeItsOwn(n, newest) {
		ag.reasons.Substituted()
	} else if last, ok := n.EarlierTick(t); ok && !ag.repeatedItself(&n.Earlier, last) {
		ag.reasons.SubstitutedEarlier()
	} else if ag.input.late == 0 { // a late command changes the replacements of those after it
		ag.standIns = t
	}
}

// ranOwn reports whether a tick that the server ran without the client's command ran with an equal one,
// as an earlier note said, or both ends agree on that tick anyway.
func (ag *agreement) ranOwn(k foretick.Tick) bool {
	return int32(k-ag.newest) <= 0 || int32(k-ag.standIns) <= 0
}

// repeatedItself reports whether the client's own commands, in a run of ticks, repeated the command
// before the run. The run ends at last, and the server ran it with repetitions. Ticks for which an
// earlier note said so, and those before the client's first command, do not count.
func (ag *agreement) repeatedItself(run *cause.EarlierRun, last foretick.Tick) bool {
	first := last - run.Run
	before := ag.input.unpressed(first - 1)
	for k := last; int32(k-first) >= 0 && !ag.ranOwn(k) && int32(k-ag.input.first) >= 0; k-- {
		if run.How != prediction.Repeated || before == nil || !bytes.Equal(ag.input.played(k), before) {
			return false
		}
	}
	return true
}

// likeItsOwn reports whether the server's replacements equalled the client's own commands, in tick last
// and in the run of ticks before it.
func (ag *agreement) likeItsOwn(n *cause.Note, last foretick.Tick) bool {
	if ag.p.Command == nil {
		return false
	}
	if ag.ranOwn(last) {
		return true
	}
	if !n.HasStandIn() { // too old: the note does not have the command
		return ag.repeatedItself(&cause.EarlierRun{Run: n.Run, How: n.How}, last)
	}
	for i := uint32(0); i <= n.Run; i++ {
		if k := last - i; i > 0 && (ag.ranOwn(k) || int32(k-ag.input.first) < 0) {
			break // both ends agreed on it, or neither had a command
		}
		// Earlier ticks of the run had the same replacement only if it was repeated, or if the zero
		// command at its end was also the command that was repeated before.
		if !bytes.Equal(ag.input.played(last-i), n.StandIn) || i > 0 && n.How != prediction.Repeated && !ag.repeatsZero(n, last) {
			return false
		}
	}
	return true
}

// repeatsZero reports whether a run that ended with zero commands began with repetitions of a zero
// command, so that all its ticks ran with the same one.
func (ag *agreement) repeatsZero(n *cause.Note, last foretick.Tick) bool {
	return n.How == prediction.Neutral && ag.p.Decay == nil && bytes.Equal(ag.input.unpressed(last-n.Run-1), n.StandIn)
}

// settleEvents confirms the events that were predicted up to t. A note comes when the server ran
// another command, or wrote predicted state. The note then decides about the events since the last
// agreement, even if the state agrees, since some events do not change the state. With remote
// prediction, a note comes whenever an event was raised. It is then used only after a correction, and
// after a snapshot that left entities out.
func (ag *agreement) settleEvents(t foretick.Tick, corrected bool) {
	open, answered := ag.reasons.NoteOf(t) != nil, ag.input.answered(t)
	if ag.p.Remote.Predicts && !ag.doubted(t) {
		open = corrected || !ag.ghosts.whollyTold(t)
	}
	for i, q := range ag.frames.Queues {
		if open {
			q.Refuse(ag.frames, &ag.frame, answered, func(k foretick.Tick) int {
				return ag.reasons.RaisedIn(i, k, t, ag.newest)
			})
		}
		q.Confirm(ag.frames, &ag.frame, answered)
	}
}

// doubted reports whether a note says that the server ran another command, or wrote predicted state.
func (ag *agreement) doubted(t foretick.Tick) bool {
	n := ag.reasons.NoteOf(t)
	return n != nil && (n.Substituted != 0 || n.Effect != 0)
}
