package netcode

import (
	"math"
	"time"
)

// rateControl is a token bucket whose rate follows the path. It watches the
// delay that the connection's own packets build up in front of a bottleneck:
// the smallest of the last few round trips (so that jitter does not count)
// above the smallest of the last seconds. Losses lower the rate only to half
// again what arrives, and never below a quarter of the ceiling: on a path that
// merely loses, that changes nothing.
type rateControl struct {
	ceiling, floor float64
	fixed          bool
	mtu            float64

	tokens  float64
	at      time.Duration
	started bool
	rate    float64 // bytes/s in force

	loss float64 // smoothed share of packets lost

	// delivered is what the peer acknowledged, bytes/s, over the last slices;
	// the rate is looked at once a slice.
	delivered  float64
	slices     [4]deliverySlice
	sliceN     int
	slice      time.Duration
	sliceBytes int

	recent    [6]time.Duration // last round trips
	recentN   int
	wobble    time.Duration    // smoothed difference of one round trip to the next
	least     [2]time.Duration // smallest of this and the previous epoch
	leastAt   time.Duration
	capacity  float64 // bytes/s that arrived when the path was last seen full; 0: never
	congested uint64  // times the rate was lowered
}

type deliverySlice struct {
	bytes  int
	length time.Duration
}

const (
	sliceLength = 200 * time.Millisecond
	leastEpoch  = 30 * time.Second
	queueFull   = 35 * time.Millisecond  // of standing delay: lower the rate
	queueDrain  = 600 * time.Millisecond // the longer the queue against this, the lower
)

func newRateControl(cfg Config) rateControl {
	return rateControl{ceiling: float64(cfg.Rate), floor: float64(cfg.MinRate), fixed: cfg.FixedRate,
		mtu: float64(cfg.MTU), rate: float64(cfg.Rate)}
}

func (r *rateControl) setCeiling(ceiling, floor float64) {
	open := r.rate >= r.ceiling // the path has not said that it is full
	r.ceiling, r.floor = ceiling, floor
	if open || r.rate > ceiling {
		r.rate = ceiling
	}
	r.rate = max(r.rate, floor)
}

// depth is what the bucket holds: a full packet, and an eighth of a second.
func (r *rateControl) depth() float64 { return r.mtu + r.rate/8 }

func (r *rateControl) refill(now time.Duration) {
	if !r.started {
		r.started, r.at, r.slice, r.leastAt = true, now, now, now
		r.tokens = r.depth()
		r.least = [2]time.Duration{math.MaxInt64, math.MaxInt64}
	}
	if d := now - r.at; d > 0 {
		r.tokens = min(r.depth(), r.tokens+d.Seconds()*r.rate)
		r.at = now
	}
	if d := now - r.slice; d >= sliceLength {
		r.slices[r.sliceN%len(r.slices)] = deliverySlice{r.sliceBytes, d}
		r.sliceN++
		r.slice, r.sliceBytes = now, 0
		r.measure()
		r.adjust()
	}
}

// allowance is how many bytes may go now.
func (r *rateControl) allowance() int { return max(0, int(r.tokens)) }

// spend may leave the bucket in debt by what must always go: headers.
func (r *rateControl) spend(n int) { r.tokens = max(-r.mtu, r.tokens-float64(n)) }

func (r *rateControl) acked(size int) {
	r.sliceBytes += size
	r.loss -= r.loss / 64
}

func (r *rateControl) lost() { r.loss += (1 - r.loss) / 64 }

// found takes back that a packet was lost.
func (r *rateControl) found() { r.loss = max(0, r.loss-1./64) }

func (r *rateControl) roundTrip(now, rtt time.Duration) {
	if now-r.leastAt >= leastEpoch {
		r.least[1], r.least[0], r.leastAt = r.least[0], math.MaxInt64, now
	}
	r.least[0] = min(r.least[0], rtt)
	if r.recentN > 0 {
		d := rtt - r.recent[(r.recentN-1)%len(r.recent)]
		r.wobble += (max(d, -d) - r.wobble) / 16
	}
	r.recent[r.recentN%len(r.recent)] = rtt
	r.recentN++
}

// queue is the standing delay: what even the quickest of the last round trips
// took longer than the path itself needs.
func (r *rateControl) queue() time.Duration {
	if r.recentN < len(r.recent) {
		return 0
	}
	least := r.recent[0]
	for _, v := range r.recent[1:] {
		least = min(least, v)
	}
	return least - min(r.least[0], r.least[1])
}

func (r *rateControl) measure() {
	bytes, length := 0, time.Duration(0)
	for _, s := range r.slices[:min(r.sliceN, len(r.slices))] {
		bytes += s.bytes
		length += s.length
	}
	r.delivered = float64(bytes) / length.Seconds()
}

func (r *rateControl) adjust() {
	if r.fixed {
		return
	}
	queue := r.queue()
	if over := queue - queueFull - 2*r.wobble; over > 0 {
		if r.delivered > 0 {
			r.capacity = r.delivered
		}
		r.congested++
		share := max(0.2, 0.95-over.Seconds()/queueDrain.Seconds())
		r.rate = min(r.rate, max(r.floor, share*r.capacity))
		return
	}
	if r.loss > 0.1 {
		r.rate = min(r.rate, max(r.floor, r.ceiling/4, 1.5*r.delivered))
	}
	if queue < queueFull/2+2*r.wobble {
		grow := 1.10
		if r.rate > 0.9*r.capacity && r.rate < 1.2*r.capacity {
			grow = 1.02 // near where the path was full: carefully
		}
		r.rate = min(r.ceiling, max(r.floor, r.rate*grow))
	}
}
