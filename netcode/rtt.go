package netcode

import "time"

// rttEstimator smooths round-trip samples with the weights of RFC 6298, after
// subtracting the time that the peer says it held the ack back. A lying peer
// can make its round trip look like zero, or longer. Shorter gains it nothing
// (less rewind, and resends at its own cost). Longer is for the caller to
// limit.
type rttEstimator struct {
	smoothed, deviation, latest time.Duration
	samples                     int
}

func (e *rttEstimator) addRTT(raw, delay time.Duration) {
	r := max(raw-delay, 0)
	e.latest = r
	if e.samples++; e.samples == 1 {
		e.smoothed, e.deviation = r, r/2
		return
	}
	d := e.smoothed - r
	e.deviation += (max(d, -d) - e.deviation) / 4
	e.smoothed -= d / 8
}
