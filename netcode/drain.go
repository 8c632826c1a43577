package netcode

import (
	"math"
	"time"
)

// drain is a short period of sending little, to see whether the delay falls.
type drain struct {
	on      bool
	chain   int           // position in a series of drains
	blamed  bool          // the delay was too long, not only unproven for long
	fell    bool          // a drain of the series made the delay fall
	from    time.Duration // start
	length  time.Duration // length is how long little is sent.
	base    time.Duration // delay of the path itself, as known at the start
	before  time.Duration // quickest round trip of packets sent just before
	edged   bool          // before is measured, not only guessed from older packets
	rate    float64       // rate is the one in force before the series.
	low     time.Duration // quickest round trip of packets sent after length
	lowest  time.Duration // quickest round trip since the start
	samples int           // samples in low
	sent    int           // bytes since the start
	sending float64       // bytes/s before the series
}

const (
	drainShare  = 0.3 // share of what arrived that is still sent
	drainLeast  = 250 * time.Millisecond
	fallLeast   = 4 * time.Millisecond
	fallPart    = 16 // share of the delay that sending less would remove if the queue were only ours
	drainMost   = 600 * time.Millisecond
	drainEnough = 3    // samples
	drainChain  = 6    // drains in a row that prove nothing
	drainSure   = 0.35 // share of the former sending: one drain proves that it is no queue
	drainSlow   = 2    // drains in a row that prove it, otherwise
	drainEdge   = 100 * time.Millisecond
	drainWait   = time.Second // beyond a round trip, for samples
	drainWeak   = 0.85        // share of the former sending
	usesRate    = 0.75        // share of the rate: a lower use is not limited by it
	belowFull   = 0.92        // share of what arrived on a full path that is sent afterwards
	recently    = time.Minute
	untouched   = 10 * time.Second
)

func (d *drain) addRTT(sent, rtt time.Duration) {
	switch {
	case !d.on || sent < d.from-drainEdge:
	case sent < d.from:
		// The last packets sent before the drain waited behind all the others.
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
			r.endDrain(now) // nothing comes back: the losses need attention
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
		// The sending hardly fell, since headers and commands must go: nothing
		// is proven.
		d.fell = true
		r.endDrain(now)
	case fall >= least && !weak:
		d.chain, d.fell = 0, true
		r.beginDrain(now, max(d.low-r.delay.base(), 0), d.blamed)
	case max(fall, -fall) < least && !weak && share > drainSure && d.chain < drainSlow:
		// The sending fell little, so a queue would shrink slowly: try for
		// longer.
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
