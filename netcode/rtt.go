package netcode

import "time"

// rttEstimator smooths round-trip samples with the weights of RFC 6298, after
// taking off the time that the peer says it held the ack back. A peer can lie
// its round trip down to nothing, or up; down gains it nothing (less rewind,
// resends at its own cost), and up is the caller's to bound.
type rttEstimator struct {
	smoothed, deviation, latest time.Duration
	samples                     int
}

func (e *rttEstimator) sample(raw, delay time.Duration) {
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
