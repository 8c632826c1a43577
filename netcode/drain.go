package netcode

import (
	"math"
	"time"
)

// drain is a short period of sending little, to see whether the delay falls.
type drain struct {
	on      bool
	chain   int           // chain is the position in a series of drains.
	blamed  bool          // blamed is true if the delay was too long, and not only unproven for long.
	fell    bool          // fell is true if a drain of the series made the delay fall.
	from    time.Duration // from is when the drain began.
	length  time.Duration // length is how long little is sent.
	base    time.Duration // base is the delay of the path itself, as known at the start.
	before  time.Duration // before is the quickest round trip of packets sent just before the drain.
	edged   bool          // edged is true if before is measured, and not only guessed from older packets.
	rate    float64       // rate is the rate in force before the series.
	low     time.Duration // low is the quickest round trip of packets sent after length has passed.
	lowest  time.Duration // lowest is the quickest round trip of packets sent since the start.
	samples int           // samples counts the round trips in low.
	sent    int           // sent counts the bytes sent since the start.
	sending float64       // sending is the bytes/s that were sent before the series.
}

const (
	drainShare = 0.3 // share of what arrived that is still sent
	drainLeast = 250 * time.Millisecond
	fallLeast  = 4 * time.Millisecond
	// divisor: the delay must fall by this part of what sending less removes from a queue that is only ours
	fallPart    = 16
	drainMost   = 600 * time.Millisecond
	drainEnough = 3    // samples that a drain needs
	drainChain  = 6    // drains in a row after which a series ends without proof
	drainSure   = 0.35 // share of the former sending up to which one drain proves that there is no queue
	drainSlow   = 2    // drains in a row that prove that there is no queue, if more was sent
	drainEdge   = 100 * time.Millisecond
	drainWait   = time.Second // wait for samples, beyond a round trip
	drainWeak   = 0.85        // share of the former sending above which a drain proves nothing
	usesRate    = 0.75        // share of the rate: sending below it was not limited by the rate
	belowFull   = 0.92        // share of what arrived on a full path that is sent afterwards
	recently    = time.Minute
	untouched   = 10 * time.Second
)

func (d *drain) addRTT(sent, rtt time.Duration) {
	switch {
	case !d.on || sent < d.from-drainEdge:
	case sent < d.from:
		// The last packets before the drain waited for the whole queue.
		if !d.edged {
			d.edged, d.before = true, rtt
		}
		d.before = min(d.before, rtt)
		d.length = max(d.length, drainFor(d.before-d.base))
	default:
		d.lowest = min(d.lowest, rtt)
		if sent >= d.from+d.length {
			d.low = min(d.low, rtt)
			d.samples++
		}
	}
}

// drainFor returns how long to send little, for a queue of this delay.
func drainFor(queue time.Duration) time.Duration {
	return min(max(time.Duration(float64(queue)/(1-drainShare)), drainLeast), drainMost)
}

// beginDrain starts a drain of a suspected queue.
func (r *rateControl) beginDrain(now, queue time.Duration, blamed bool) {
	d := &r.drain
	if !d.on {
		*d = drain{on: true, blamed: blamed, rate: r.rate, sending: r.sending}
	}
	d.chain++
	d.from, d.before = now, r.delay.base()+queue
	d.edged = false
	d.low, d.lowest, d.samples, d.sent = math.MaxInt64, math.MaxInt64, 0, 0
	d.base, d.length = r.delay.base(), min(drainFor(queue)<<(d.chain-1), drainMost)
	r.rate = min(r.rate, max(r.floor, drainShare*r.capacity))
	r.tokens = min(r.tokens, 0)
}

// judgeDrain ends a drain once it has shown what causes the delay.
func (r *rateControl) judgeDrain(now time.Duration) {
	d := &r.drain
	slack := nearBase + r.delay.wobble
	if d.lowest-r.delay.base() <= slack {
		d.fell = true
		r.endDrain(now)
		return
	}
	if d.samples < drainEnough {
		if now-d.from > d.length+d.before+drainWait {
			// hardly a round trip was measured: end the drain, so that adjust reacts to losses
			r.endDrain(now)
		}
		return
	}
	sent := float64(d.sent) / (now - d.from).Seconds()
	share := sent / max(min(d.sending, r.capacity), 1)
	expected := min(d.before-r.delay.base(), time.Duration(float64(d.length)*max(0, 1-share)))
	least := max(fallLeast, expected/fallPart) + r.delay.wobble/4
	fall := d.before - d.low
	weak, held := sent > drainWeak*d.sending, d.sending > usesRate*d.rate
	switch {
	case weak && held, d.chain >= drainChain:
		// The sending hardly fell, because headers and commands must be sent. So the drain proves nothing.
		d.fell = true
		r.endDrain(now)
	case fall >= least && !weak:
		d.chain, d.fell = 0, true
		r.beginDrain(now, max(d.low-r.delay.base(), 0), d.blamed)
	case max(fall, -fall) < least && !weak && share > drainSure && d.chain < drainSlow:
		// The sending fell little, so a queue would shrink slowly. Try for longer.
		r.beginDrain(now, max(d.low-r.delay.base(), 0), d.blamed)
	case max(fall, -fall) < least:
		r.delay.raise(now, d.low)
		r.endDrain(now)
	case weak:
		r.endDrain(now) // others cause the queue: sending less does not help
	default:
		r.beginDrain(now, max(d.low-r.delay.base(), 0), d.blamed)
	}
}

// endDrain restores the former rate, unless there was a queue.
func (r *rateControl) endDrain(now time.Duration) {
	d := &r.drain
	d.on = false
	r.rate = d.rate
	if d.blamed && d.fell {
		r.congested++
		r.full = now
		r.rate = min(r.rate, max(r.floor, belowFull*r.capacity))
	}
	r.delay.recentN = 0
	r.sliceN, r.measures = 0, now+r.delay.base()
}
