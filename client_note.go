package foretick

import (
	"bytes"

	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/prediction"
)

// takeNote reads the note of the snapshot of t.
func (tl *timeline) takeNote(t Tick) {
	n := tl.reasons.Take(t)
	if n.Substituted == 0 {
		return
	}
	newest := t - (n.Substituted - 1)
	tl.input.missed(newest-n.Run, newest)
	if !tl.likeItsOwn(n, newest) {
		tl.reasons.Substituted()
	} else if last, ok := n.EarlierTick(t); ok && !tl.repeatedItself(&n.Earlier, last) {
		tl.reasons.SubstitutedEarlier()
	} else if tl.input.late == 0 { // a late command changes what stands in for those after it
		tl.agreed.standIns = t
	}
}

// ranOwn reports whether a tick that the server ran without the client's command ran with an
// equal one, as an earlier note told, or both ends agree on it anyway.
func (tl *timeline) ranOwn(k Tick) bool {
	return int32(k-tl.agreed.newest) <= 0 || int32(k-tl.agreed.standIns) <= 0
}

// repeatedItself reports whether the client's own commands repeated the one before a run of
// ticks. The run ends at last, and the server ran it with repetitions. Ticks of which an
// earlier note told so, or before the client's first command, do not count.
func (tl *timeline) repeatedItself(run *reason.EarlierRun, last Tick) bool {
	first := last - run.Run
	before := tl.input.unpressed(first - 1)
	for k := last; int32(k-first) >= 0 && !tl.ranOwn(k) && int32(k-tl.input.first) >= 0; k-- {
		if run.How != prediction.Repeated || before == nil || !bytes.Equal(tl.input.played(k), before) {
			return false
		}
	}
	return true
}

// likeItsOwn reports whether the server ran the client's own command anyway, in tick last
// and in the run of ticks before it.
func (tl *timeline) likeItsOwn(n *reason.Note, last Tick) bool {
	if tl.p.Command == nil {
		return false
	}
	if tl.ranOwn(last) {
		return true
	}
	if !n.HasStandIn() { // too old for the note to hold the command
		return tl.repeatedItself(&reason.EarlierRun{Run: n.Run, How: n.How}, last)
	}
	for i := uint32(0); i <= n.Run; i++ {
		if k := last - i; i > 0 && (tl.ranOwn(k) || int32(k-tl.input.first) < 0) {
			break // both ends agreed on it, or neither had a command
		}
		// Earlier ticks of the run ran with the same only where it was repeated, or where the
		// zero command of its end is what was repeated before.
		if !bytes.Equal(tl.input.played(last-i), n.StandIn) || i > 0 && n.How != prediction.Repeated && !tl.repeatsZero(n, last) {
			return false
		}
	}
	return true
}

// repeatsZero reports whether a run that ended with zero commands began with repetitions of
// one, so that all its ticks ran with the same.
func (tl *timeline) repeatsZero(n *reason.Note, last Tick) bool {
	return n.How == prediction.Neutral && tl.p.handlers.decay == nil && bytes.Equal(tl.input.unpressed(last-n.Run-1), n.StandIn)
}
