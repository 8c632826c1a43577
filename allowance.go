package foretick

import "time"

// allowance is a token bucket. The zero value is full.
type allowance struct {
	spent float64 // spent is the part of the burst that is used up.
	at    time.Duration
}

// permits reports whether one more request may be taken.
func (a *allowance) permits(now time.Duration, rate, burst float64) bool {
	a.spent, a.at = max(a.spent-(now-a.at).Seconds()*rate, 0), now
	return a.spent+1 <= burst
}

func (a *allowance) takeOne(now time.Duration, rate, burst float64) bool {
	if !a.permits(now, rate, burst) {
		return false
	}
	a.spent++
	return true
}
