package snapshot

import (
	"math/bits"
	"slices"
)

// Late is what a snapshot told its viewer of what it left out: the entities that
// changed and found no room. It is a copy that outlives the [Sent] it was taken
// from; the zero Late is of a snapshot that held everything.
type Late struct {
	runs []span
	told []WireID // of these in the runs the ones that it carried all the same
}

// Late copies into to, whose memory is used again, which entities the snapshot
// put off, as its viewer was told.
func (r *Sent) Late(to *Late) {
	to.runs, to.told = append(to.runs[:0], r.late...), to.told[:0]
	if len(to.runs) == 0 {
		return
	}
	for i, m := range r.records {
		for ; m != 0; m &= m - 1 {
			if w := WireID(i<<6 + bits.TrailingZeros64(m)); inSpans(to.runs, w) {
				to.told = append(to.told, w) // in order
			}
		}
	}
}

// Any tells whether anything was put off.
func (l *Late) Any() bool { return len(l.runs) > 0 }

// Has tells whether a viewer that received the snapshot does not know from it
// what an entity then was: [Ghost.At] answers false there for this reason, and
// [Ghost.Sample] interpolates between other ticks.
func (l *Late) Has(w WireID) bool {
	if !inSpans(l.runs, w) {
		return false
	}
	_, told := slices.BinarySearch(l.told, w)
	return !told
}

// Shown is Known with the tick since which the viewer has been shown the entity,
// [Ghost.Born]: of the ticks before it knows nothing, whatever it received.
func (s *Sender) Shown(id NetID) (w WireID, since Tick, ok bool) {
	if w = s.known(id); w == 0 {
		return 0, 0, false
	}
	return w, s.shown[w].born, true
}
