package rewind

import (
	"math"

	"github.com/foretick/foretick/lagcomp"
)

// Settled is what one player's views of a tick rest on, as the network decided it: the
// moments that its client showed, and the judgement of its claim. Its views can be asked
// again from it without the network.
type Settled struct {
	claim           lagcomp.Claim
	arrived, offset int64
	gave, basis     Tick
	acked           Tick
	verdict         Verdict
	deliveries      deliveries
}

// Settled copies the claim and the deliveries that make the player's views of the running
// tick. Call it at the end of the tick: a claim that the game did not ask about is not judged.
func (s *Shooter) Settled() Settled {
	of := Settled{
		claim: s.claim, arrived: s.arrived, offset: s.offset, gave: s.gave, basis: s.basis,
		acked: s.acked, verdict: s.verdict,
	}
	of.deliveries.copyOf(&s.deliveries)
	return of
}

// Replay makes the player's views those of the match that a Settled was copied from.
func (s *Shooter) Replay(of *Settled) {
	s.claim, s.arrived, s.offset, s.gave, s.basis = of.claim, of.arrived, of.offset, of.gave, of.basis
	s.acked, s.verdict = of.acked, of.verdict
	s.deliveries.copyOf(&of.deliveries)
}

// Local takes the claim of a player in the server's own process. Its screen showed the
// ticks as the server computed them, so the claim is granted.
func (s *Shooter) Local(now Tick, claim lagcomp.Claim) {
	s.claim, s.arrived, s.offset, s.acked = claim, math.MaxInt64, 0, now-1
	s.verdict = Verdict{At: now, Asked: claim, Used: claim}
	if newest := s.past.newest(); len(s.deliveries.ring) > 0 {
		s.deliveries.put(delivery{tick: newest}, 1)
	}
}

// Records reports whether a tick was recorded: before, every view is empty.
func (p *Past) Records() bool { return p.recorded }
