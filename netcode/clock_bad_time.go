package netcode

import "math"

// badTime finds a short time in which commands came late, and forgets it after a calm of the
// same length. It would count for the whole window otherwise.
//
// Bad times that come back are expected again: the calm must then be as long as all the time
// since the first of them. A few late samples here and there are no bad time, so their chance
// to lie so close together must be small. Those that frames of the caller caused need no such
// proof, for the path had no part in them.
type badTime struct {
	any          bool
	begun, ended float64 // local times: the first sample of the first, the last of the newest
}

const (
	badCalm   = 1.0  // seconds that the calm lasts at least
	badFew    = 3    // samples: fewer are no bad time, and no calm
	badChance = 1e-2 // most chance that late samples lie so close together
	badMemory = 30.0 // seconds after which a bad time is the first one again
	badLeast  = 1.0  // ticks above the calm that are worth it
)

// forgetSamples drops the samples of a bad time that is over, and reports whether there was one.
func (b *badTime) forgetSamples(w *sampleWindow, now, rate float64) bool {
	if w.spread() < badLeast {
		return false
	}
	high, low, calm := w.rangeSince(now - badCalm*rate)
	level := high + 0.1 + (high-low)/2
	if calm < 2*badFew || w.quantile(1) < level+badLeast {
		return false
	}
	first, last, n := w.above(level)
	if !b.any || first-b.ended > badMemory*rate {
		share := max((last-first)/(now-w.oldest()), w.shareIn(first, last)) // a stall brings no samples
		chance := float64(n) * math.Pow(share, float64(n-1))
		if (n < badFew || chance > badChance) && !w.hitched(level) {
			return false
		}
		b.begun = first
	}
	b.any, b.ended = true, last
	if now-last < max(badCalm*rate, last-b.begun) {
		return false
	}
	w.dropAbove(level)
	return true
}
