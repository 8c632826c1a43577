package netcode

import "math"

// badTime finds a short time in which commands came late, and drops its samples after a calm of the same
// length. Otherwise they would count for the whole window.
//
// When bad times repeat, more are expected: the calm must then be as long as the time from the begin of the
// first to the end of the newest. A few scattered late samples are no bad time, so the chance that they fall so
// close together must be small. Late samples that only the caller's frames caused need no such proof, because
// the path is not at fault.
type badTime struct {
	any bool
	// begun is the local time of the first late sample of the first bad time, and ended that of the last late
	// sample of the newest.
	begun, ended float64
}

const (
	badCalm   = 1.0  // seconds that the calm lasts at least
	badFew    = 3    // late samples that a bad time needs; a calm needs twice as many samples
	badChance = 1e-2 // greatest chance that late samples fall so close together
	badMemory = 30.0 // seconds without a bad time after which the next one is the first again
	badLeast  = 1.0  // ticks above the calm: a smaller rise is not worth dropping
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
