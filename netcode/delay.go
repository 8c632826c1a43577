package netcode

import (
	"math"
	"time"
)

// pathDelay separates the delay caused by a queue from the delay of the path
// itself. The queue's delay is the smallest of the last few round trips (so
// that jitter does not count) minus the smallest of the last half minute.
type pathDelay struct {
	recent  [6]time.Duration // recent has the last round trips.
	recentN int
	wobble  time.Duration // wobble is the smoothed difference between consecutive round trips.
	// least has the shortest round trips of this half minute and of the one before.
	least   [2]time.Duration
	leastAt time.Duration
	touched time.Duration // touched is when a round trip was last about as short as the shortest.
}

const (
	leastEpoch = 30 * time.Second
	queueFull  = 35 * time.Millisecond // standing delay that starts a drain
	nearBase   = 8 * time.Millisecond
	muchWobble = 25 * time.Millisecond
)

func (p *pathDelay) beginEpoch(now time.Duration) {
	p.leastAt, p.touched = now, now
	p.least = [2]time.Duration{math.MaxInt64, math.MaxInt64}
}

func (p *pathDelay) addRTT(now, rtt time.Duration) {
	if now-p.leastAt >= leastEpoch {
		p.least[1], p.least[0], p.leastAt = p.least[0], math.MaxInt64, now
	}
	p.least[0] = min(p.least[0], rtt)
	if rtt <= p.base()+nearBase+p.wobble {
		p.touched = now
	}
	if p.recentN > 0 {
		d := rtt - p.recent[(p.recentN-1)%len(p.recent)]
		p.wobble += (max(d, -d) - p.wobble) / 16
	}
	p.recent[p.recentN%len(p.recent)] = rtt
	p.recentN++
}

// slack returns what jitter alone may add to the quickest of the last round
// trips.
func (p *pathDelay) slack() time.Duration { return p.wobble + 2*max(0, p.wobble-muchWobble) }

// base returns the delay of the path itself.
func (p *pathDelay) base() time.Duration { return min(p.least[0], p.least[1]) }

// raise sets the delay of the path itself to base.
func (p *pathDelay) raise(now, base time.Duration) {
	p.least, p.leastAt, p.touched = [2]time.Duration{base, base}, now, now
}

// queue returns the standing delay: by how much even the quickest of the last
// round trips exceeds the delay of the path itself.
func (p *pathDelay) queue() time.Duration {
	if p.recentN < len(p.recent) {
		return 0
	}
	least := p.recent[0]
	for _, v := range p.recent[1:] {
		least = min(least, v)
	}
	return least - p.base()
}
