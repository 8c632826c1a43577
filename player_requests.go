package foretick

import "time"

// playerRequests are a player's requests for the next tick.
type playerRequests struct {
	askings    []asking
	askedBytes []byte
	taken      uint32 // since the place's token was given
	allowance  allowance
}

// asking is a request that the next tick handles.
type asking struct {
	kind       uint8
	from, upto int // in player.askedBytes
}

// add adds a request.
func (r *playerRequests) add(kind uint8, payload []byte) {
	from := len(r.askedBytes)
	r.askedBytes = append(r.askedBytes, payload...)
	r.askings = append(r.askings, asking{kind, from, len(r.askedBytes)})
}

// allowance is a token bucket. The zero value is full.
type allowance struct {
	spent float64 // of the burst
	at    time.Duration
}

// permits reports whether one more request may be taken.
func (a *allowance) permits(now time.Duration, rate, burst float64) bool {
	a.spent, a.at = max(a.spent-(now-a.at).Seconds()*rate, 0), now
	return a.spent+1 <= burst
}

func (a *allowance) take(now time.Duration, rate, burst float64) bool {
	if !a.permits(now, rate, burst) {
		return false
	}
	a.spent++
	return true
}
