package game

import "time"

// Allowance is a token bucket. The zero value is full.
type Allowance struct {
	Spent float64       // Spent is the part of the burst that is used up.
	at    time.Duration // at is when Spent was last computed.
}

// Permits reports whether one more request may be taken.
func (a *Allowance) Permits(now time.Duration, rate, burst float64) bool {
	a.Spent, a.at = max(a.Spent-(now-a.at).Seconds()*rate, 0), now
	return a.Spent+1 <= burst
}

// TakeOne takes a request, and reports whether it may be taken.
func (a *Allowance) TakeOne(now time.Duration, rate, burst float64) bool {
	if !a.Permits(now, rate, burst) {
		return false
	}
	a.Spent++
	return true
}
