package snapshot

import (
	"math/bits"

	"github.com/foretick/foretick/schema"
)

// ordinaryGaps are the preferred ticks from each baseline back to the next older one: 1
// from the newest to the second, 3 from the second to the third.
var ordinaryGaps = [3]uint32{0, 1, 3}

// aim chooses the usual baselines: the newest delivered snapshot, the one before it,
// which gives the speed, and one some ticks earlier, which shows whether the speed
// changes.
func (s *Sender) aim() {
	s.usual, s.planned = [3]uint32{}, false
	clear(s.plans)
	t := s.src.tick
	if s.newest == 0 || t-s.newest > maxBack {
		return
	}
	s.usual[0] = t - s.newest
	m := s.sent.byAge(s.sent.delivered)
	if m == 0 || s.sent.aged(bits.LeadingZeros64(m)).tick != s.newest {
		s.ages[0] = sentLength // older than the whole log
		return
	}
	s.ages[0] = bits.LeadingZeros64(m)
	most := uint32(min(s.cfg.Window, s.src.history, 64))
	from := s.newest
	for i := 1; i < 3; i++ {
		best, want := uint32(0), ordinaryGaps[i]
		for age := s.ages[i-1] + 1; age < sentLength; age++ {
			if m<<age>>63 == 0 {
				continue
			}
			d := from - s.sent.aged(age).tick
			if t-from+d >= most || (best != 0 && gap(d, want) >= gap(best, want)) {
				break // older snapshots are no better
			}
			best, s.ages[i] = d, age
		}
		if best == 0 {
			return
		}
		s.usual[i] = best
		from -= best
	}
	s.planned = true
}

func gap(a, b uint32) uint32 { return max(a, b) - min(a, b) }

// isUsual reports whether acked is the tick of the value that the viewer finds as its newest at or before the
// usual tick.
func (s *Sender) isUsual(w schema.WireID, acked schema.Tick) bool {
	if s.usual[0] == 0 {
		return false
	}
	t, ok := s.sent.holds(w, s.ages[0])
	return ok && t == acked
}
