package netcode

import "time"

// rateControl is a token bucket whose rate adapts to the path. It watches the
// delay from queues in front of a bottleneck: see pathDelay. When the delay
// gets too long, it drains: it sends much less for a moment. If the delay
// falls, there was a queue, and the rate stays below what arrived. If not, the
// path has become longer, and the old rate returns. Losses lower the rate to no
// less than half again what arrives, and never below a quarter of the ceiling.
// So a path that merely loses packets keeps its rate.
type rateControl struct {
	ceiling, floor float64
	fixed          bool
	mtu            float64

	tokens  float64
	quarter float64 // quarter is how many bytes channel messages may have even when the rate is used up.
	at      time.Duration
	started bool
	rate    float64 // rate is the rate in force, in bytes/s.

	loss float64 // loss is the smoothed share of packets lost.

	// delivered is what the peer acknowledged over the last slices, in bytes/s.
	// The rate is adjusted once a slice.
	delivered  float64
	slices     [4]deliverySlice
	sliceN     int
	slice      time.Duration
	sliceBytes int
	sliceSent  int
	sending    float64       // sending is what was sent over the last slices, in bytes/s, smoothed.
	measures   time.Duration // measures is the time before which acks are for packets sent while draining.

	delay pathDelay
	drain drain
	// capacity is the bytes/s that arrived when the path was last full. 0 means that it never was.
	capacity  float64
	full      time.Duration // full is when the path was last found full.
	congested uint64        // congested counts the times that the rate was lowered.
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
	open := r.rate >= r.ceiling // no sign yet that the path is full
	r.ceiling, r.floor = ceiling, floor
	if open || r.rate > ceiling {
		r.rate = ceiling
	}
	r.rate = max(r.rate, floor)
}

// depth is the bucket's size: a full packet, plus an eighth of a second.
func (r *rateControl) depth() float64 { return r.mtu + r.rate/8 }

func (r *rateControl) refill(now time.Duration) {
	if !r.started {
		r.started, r.at, r.slice = true, now, now
		r.tokens = r.depth()
		r.delay.beginEpoch(now)
	}
	if d := now - r.at; d > 0 {
		r.tokens = min(r.depth(), r.tokens+d.Seconds()*r.rate)
		r.quarter = min(mostLent, r.quarter+d.Seconds()*r.rate/4)
		r.at = now
	}
	if !r.fixed {
		r.watchQueue(now)
	}
	if d := now - r.slice; d >= sliceLength {
		// A slice without any ack means that acks take longer, not that nothing
		// arrived.
		if r.sliceBytes > 0 && now-d >= r.measures && !r.drain.on {
			r.slices[r.sliceN%len(r.slices)] = deliverySlice{r.sliceBytes, d}
			r.sliceN++
			r.measureRate()
		}
		if !r.drain.on {
			r.sending += (float64(r.sliceSent)/d.Seconds() - r.sending) / 2
		}
		r.slice, r.sliceBytes, r.sliceSent = now, 0, 0
		r.adjust(now)
	}
}

// allowance returns how many bytes may be sent now.
func (r *rateControl) allowance() int { return max(0, int(r.tokens)) }

// lent returns how many bytes channel messages may have when packets that must go have used up the rate. A
// quarter of the rate is reserved for them.
func (r *rateControl) lent() int { return int(r.quarter) }

// carried subtracts n bytes of channel messages from their quarter.
func (r *rateControl) carried(n int) { r.quarter = max(0, r.quarter-float64(n)) }

// spend may put the bucket in debt, for bytes that must always go: headers.
func (r *rateControl) spend(n int) {
	r.tokens = max(-r.mtu, r.tokens-float64(n))
	r.sliceSent += n
	r.drain.sent += n
}

func (r *rateControl) acked(size int) {
	r.sliceBytes += size
	r.loss -= r.loss / 64
}

func (r *rateControl) packetLost() { r.loss += (1 - r.loss) / 64 }

// found undoes one packetLost, for a packet that arrived after all.
func (r *rateControl) found() { r.loss = max(0, r.loss-1./64) }

// roundTrip takes the round trip of a packet and the time it was sent.
func (r *rateControl) roundTrip(now, sent, rtt time.Duration) {
	r.delay.addRTT(now, rtt)
	r.drain.addRTT(sent, rtt)
}

func (r *rateControl) measureRate() {
	bytes, length := 0, time.Duration(0)
	for _, s := range r.slices[:min(r.sliceN, len(r.slices))] {
		bytes += s.bytes
		length += s.length
	}
	r.delivered = float64(bytes) / length.Seconds()
}

// near reports whether the rate is close to what the path carried when it was
// full.
func (r *rateControl) near() bool { return r.rate > 0.9*r.capacity && r.rate < 1.2*r.capacity }

// watchQueue starts and ends drains.
func (r *rateControl) watchQueue(now time.Duration) {
	queue := r.delay.queue()
	switch {
	case r.drain.on:
		r.judgeDrain(now)
	case queue > queueFull+r.delay.slack():
		if r.sliceN > 0 && r.delivered > 0 {
			r.capacity = r.delivered
		}
		r.beginDrain(now, queue, true)
	case r.near() && now-r.full < recently && now-r.delay.touched > untouched:
		// The queue is short, but has not been empty for long: the known delay
		// of the path itself is becoming a guess.
		r.beginDrain(now, queue, false)
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
			grow = 1.02 // close to where the path was full: grow carefully
		}
		r.rate = min(r.ceiling, max(r.floor, r.rate*grow))
	}
}
