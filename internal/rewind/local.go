package rewind

import (
	"math"

	"github.com/foretick/foretick/lagcomp"
)

// Local takes the claim of a player in the server's own process. Its screen showed the
// ticks as the server computed them, so the claim is granted.
func (s *Shooter) Local(now Tick, claim lagcomp.Claim) {
	s.claim, s.arrived, s.offset, s.acked = claim, math.MaxInt64, 0, now-1
	s.verdict = Verdict{At: now, Asked: claim, Used: claim}
	if newest := s.past.newest(); len(s.deliveries.ring) > 0 {
		s.deliveries.putWhole(delivery{tick: newest}, 1)
	}
}

// Records reports whether a tick was recorded: before, every view is empty.
func (p *Past) Records() bool { return p.recorded }
