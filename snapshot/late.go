package snapshot

import (
	"math/bits"
	"slices"

	"github.com/foretick/foretick/schema"
)

// Late lists the entities that a snapshot postponed: they changed and found no room. It
// is a copy that outlives its [Sent]. The zero Late belongs to a snapshot that held
// everything.
type Late struct {
	runs []span
	told []schema.WireID // entities in the runs that it carried nevertheless
}

// Late copies the entities that the snapshot postponed to to, as the viewer knows them.
// It reuses the memory of to.
func (r *Sent) Late(to *Late) {
	to.runs, to.told = append(to.runs[:0], r.late...), to.told[:0]
	if len(to.runs) == 0 {
		return
	}
	for i, m := range r.records {
		for ; m != 0; m &= m - 1 {
			if w := schema.WireID(i<<6 + bits.TrailingZeros64(m)); inSpans(to.runs, w) {
				to.told = append(to.told, w) // in order
			}
		}
	}
}

// Copy makes l a copy of another. It reuses the memory of l.
func (l *Late) Copy(from *Late) {
	l.runs, l.told = append(l.runs[:0], from.runs...), append(l.told[:0], from.told...)
}

// Any reports whether anything was postponed.
func (l *Late) Any() bool { return len(l.runs) > 0 }

// Has reports whether the snapshot left its viewer without the entity's value for that
// tick. If so, [Ghost.At] returns false there, and [Ghost.Sample] interpolates between
// other ticks.
func (l *Late) Has(w schema.WireID) bool {
	if !inSpans(l.runs, w) {
		return false
	}
	_, told := slices.BinarySearch(l.told, w)
	return !told
}

// Shown is Known and also returns the first tick that the viewer was shown the entity
// ([Ghost.Born]). The viewer knows nothing of earlier ticks, whatever it received.
func (s *Sender) Shown(id NetID) (w schema.WireID, since schema.Tick, ok bool) {
	if w = s.known(id); w == 0 {
		return 0, 0, false
	}
	return w, s.shown[w].born, true
}
