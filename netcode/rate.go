package netcode

import "time"

// rateControl is a token bucket whose rate follows the path. It watches the
// delay that packets gather in front of a bottleneck: see pathDelay. When there
// is too much of it, it drains: it sends much less for a moment. Either the delay
// falls, then it was a queue, and the rate stays below what arrived; or it does
// not, then the path has become longer, and the rate is what it was. Losses lower
// the rate only to half again what arrives, and never below a quarter of the
// ceiling: on a path that merely loses, that changes nothing.
type rateControl struct {
	ceiling, floor float64
	fixed          bool
	mtu            float64

	tokens  float64
	quarter float64 // bytes that messages of channels may have even so
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
	sliceSent  int
	sending    float64       // bytes/s sent over the last slices, smoothed
	measures   time.Duration // acks before it are of packets sent while draining

	delay     pathDelay
	drain     drain
	capacity  float64       // bytes/s that arrived when the path was last seen full; 0: never
	full      time.Duration // when that was
	congested uint64        // times the rate was lowered
}

type deliverySlice struct {
	bytes  int
	length time.Duration
}

const (
	sliceLength = 200 * time.Millisecond
	mostLent    = 4 * (maxEntryHead + maxFragment)
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
		r.started, r.at, r.slice = true, now, now
		r.tokens = r.depth()
		r.delay.begin(now)
	}
	if d := now - r.at; d > 0 {
		r.tokens = min(r.depth(), r.tokens+d.Seconds()*r.rate)
		r.quarter = min(mostLent, r.quarter+d.Seconds()*r.rate/4)
		r.at = now
	}
	if !r.fixed {
		r.watch(now)
	}
	if d := now - r.slice; d >= sliceLength {
		// A slice without any ack says that acks take longer, not that nothing came.
		if r.sliceBytes > 0 && now-d >= r.measures && !r.drain.on {
			r.slices[r.sliceN%len(r.slices)] = deliverySlice{r.sliceBytes, d}
			r.sliceN++
			r.measure()
		}
		if !r.drain.on {
			r.sending += (float64(r.sliceSent)/d.Seconds() - r.sending) / 2
		}
		r.slice, r.sliceBytes, r.sliceSent = now, 0, 0
		r.adjust(now)
	}
}

// allowance is how many bytes may go now.
func (r *rateControl) allowance() int { return max(0, int(r.tokens)) }

// lent is how many bytes messages of channels may have though the rate is used up
// by what always goes: a quarter of any rate is theirs.
func (r *rateControl) lent() int { return int(r.quarter) }

// carried takes what messages of channels had from their quarter.
func (r *rateControl) carried(n int) { r.quarter = max(0, r.quarter-float64(n)) }

// spend may leave the bucket in debt by what must always go: headers.
func (r *rateControl) spend(n int) {
	r.tokens = max(-r.mtu, r.tokens-float64(n))
	r.sliceSent += n
	r.drain.sent += n
}

func (r *rateControl) acked(size int) {
	r.sliceBytes += size
	r.loss -= r.loss / 64
}

func (r *rateControl) lost() { r.loss += (1 - r.loss) / 64 }

// found takes back that a packet was lost.
func (r *rateControl) found() { r.loss = max(0, r.loss-1./64) }

// roundTrip takes a sample of a packet that was sent at a time.
func (r *rateControl) roundTrip(now, sent, rtt time.Duration) {
	r.delay.sample(now, rtt)
	r.drain.sample(sent, rtt)
}

func (r *rateControl) measure() {
	bytes, length := 0, time.Duration(0)
	for _, s := range r.slices[:min(r.sliceN, len(r.slices))] {
		bytes += s.bytes
		length += s.length
	}
	r.delivered = float64(bytes) / length.Seconds()
}

// near tells whether the rate is about what the path took when it was full.
func (r *rateControl) near() bool { return r.rate > 0.9*r.capacity && r.rate < 1.2*r.capacity }

// watch begins and ends drains.
func (r *rateControl) watch(now time.Duration) {
	queue := r.delay.queue()
	switch {
	case r.drain.on:
		r.judge(now)
	case queue > queueFull+r.delay.slack():
		if r.sliceN > 0 && r.delivered > 0 {
			r.capacity = r.delivered
		}
		r.begin(now, queue, true)
	case r.near() && now-r.full < recently && now-r.delay.touched > untouched:
		// The queue is short, but it has not been empty for long: what the path
		// itself needs is becoming a guess.
		r.begin(now, queue, false)
	}
}

func (r *rateControl) adjust(now time.Duration) {
	if r.fixed || r.drain.on {
		return
	}
	if r.loss > 0.1 {
		r.rate = min(r.rate, max(r.floor, r.ceiling/4, 1.5*r.delivered))
	}
	if r.delay.queue() < queueFull/2+r.delay.slack() {
		grow := 1.10
		if r.near() {
			grow = 1.02 // near where the path was full: carefully
		}
		r.rate = min(r.ceiling, max(r.floor, r.rate*grow))
	}
}
