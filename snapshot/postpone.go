package snapshot

import (
	"math/bits"

	"github.com/foretick/foretick/schema"
)

// unsure returns the number of entities shown that the viewer may not have received,
// including those being removed.
func (s *Sender) unsure() (n int) {
	for i, m := range s.told {
		n += bits.OnesCount64(m &^ s.held[i] & (s.live[i] | s.away[i]))
	}
	return n
}

// postpone lists the candidates that were not chosen and raises their gain.
func (s *Sender) postpone() {
	for i, want := range s.want {
		for m := s.chosen[i] & s.waiting[i]; m != 0; m &= m - 1 {
			s.gained[i<<6+bits.TrailingZeros64(m)] = 0
		}
		late := want &^ s.chosen[i]
		s.waiting[i] = s.waiting[i]&^s.chosen[i] | late
		s.count.Postponed += uint64(bits.OnesCount64(late))
		for m := late; m != 0; m &= m - 1 {
			w := i<<6 + bits.TrailingZeros64(m)
			gain := 1
			if s.cfg.Priority != nil {
				gain = max(1, min(s.cfg.Priority(s.shown[w].id), 1<<20))
			}
			if s.own.has(schema.WireID(w)) { // the viewer predicts with it
				gain *= 2
			}
			s.gained[w] = min(s.gained[w]+uint32(gain), 1<<31)
		}
	}
	s.addRuns()
}

// speaks returns a word of the set of shown entities that are neither sent nor
// postponed. Their absence says that they did not change, so no run of postponed ids
// may cover them. A run may cover entities with a record in the snapshot, and ids not
// in use.
func (s *Sender) speaks(i int) uint64 { return s.live[i] &^ s.want[i] }

// addRuns makes runs of postponed entities and removals, each as long as possible.
func (s *Sender) addRuns() {
	open := false // the last run ends at the next id that is not postponed
	for i, want := range s.want {
		late, speaks := want&^s.chosen[i]|s.away[i]&^s.leaves[i], s.speaks(i)
		for m := late; m != 0; {
			at := bits.TrailingZeros64(m)
			if below := uint64(1)<<at - 1; speaks&below != 0 {
				speaks, open = speaks&^below, false
			}
			w := schema.WireID(i<<6 + at)
			if !open {
				s.runs, open = append(s.runs, span{w, w}), true
			}
			// All postponed ids up to the next bit in speaks belong to this run.
			if end := speaks & -speaks; end != 0 {
				s.runs[len(s.runs)-1].to = schema.WireID(i<<6 + 63 - bits.LeadingZeros64(m&(end-1)))
				m &^= end - 1
			} else {
				s.runs[len(s.runs)-1].to = schema.WireID(i<<6 + 63 - bits.LeadingZeros64(m))
				m = 0
			}
		}
		open = open && speaks == 0
	}
}
