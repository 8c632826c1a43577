package netcode

import (
	"math"
	"time"
)

// drain is a moment in which little is sent, to see whether the delay falls.
type drain struct {
	on      bool
	chain   int           // how many in a row this is
	blamed  bool          // the delay was too long, not only long unproven
	fell    bool          // one of them made the delay fall
	from    time.Duration // when it began
	length  time.Duration // of sending little
	base    time.Duration // what the path takes, as far as was known when it began
	before  time.Duration // quickest round trip of what was sent just before
	edged   bool          // that is known, and not only guessed from older ones
	rate    float64       // in force before the first in a row
	low     time.Duration // quickest round trip of what was sent after the length
	lowest  time.Duration // … and of all since it began
	samples int           // of the former
	sent    int           // bytes since it began
	sending float64       // bytes/s before the first in a row
}

const (
	drainShare  = 0.3 // of what arrived is sent
	drainLeast  = 250 * time.Millisecond
	fallLeast   = 4 * time.Millisecond
	fallPart    = 16 // of the delay that sending less would take off a queue of our own alone
	drainMost   = 600 * time.Millisecond
	drainEnough = 3    // samples
	drainChain  = 6    // in a row that prove nothing
	drainSure   = 0.35 // of what was sent before: one drain proves that it is no queue
	drainSlow   = 2    // drains in a row that prove it, else
	drainEdge   = 100 * time.Millisecond
	drainWait   = time.Second // beyond a round trip, for samples
	drainWeak   = 0.85        // of what was sent before
	usesRate    = 0.75        // of the rate: who sends less is not held by it
	belowFull   = 0.92        // of what arrived when the path was full is sent afterwards
	recently    = time.Minute
	untouched   = 10 * time.Second
)

func (d *drain) sample(sent, rtt time.Duration) {
	switch {
	case !d.on || sent < d.from-drainEdge:
	case sent < d.from:
		// What was sent last before it waited behind all the rest.
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

// drainFor is how long little is sent, for a queue.
func drainFor(queue time.Duration) time.Duration {
	return min(max(time.Duration(float64(queue)/(1-drainShare)), drainLeast), drainMost)
}

// begin starts a drain of a queue that there seems to be.
func (r *rateControl) begin(now, queue time.Duration, blamed bool) {
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

// judge ends a drain when it has shown what the delay is of.
func (r *rateControl) judge(now time.Duration) {
	d := &r.drain
	slack := nearBase + r.delay.wobble
	if d.lowest-r.delay.base() <= slack {
		d.fell = true
		r.end(now)
		return
	}
	if d.samples < drainEnough {
		if now-d.from > d.length+d.before+drainWait {
			r.end(now) // nothing comes back: there are losses to see to
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
		// Hardly less was sent, as headers and commands must go: nothing is proven.
		d.fell = true
		r.end(now)
	case fall >= least && !weak:
		d.chain, d.fell = 0, true
		r.begin(now, max(d.low-r.delay.base(), 0), d.blamed)
	case max(fall, -fall) < least && !weak && share > drainSure && d.chain < drainSlow:
		// Little less was sent, so a queue would fall slowly: try for longer.
		r.begin(now, max(d.low-r.delay.base(), 0), d.blamed)
	case max(fall, -fall) < least:
		r.delay.raise(now, d.low)
		r.end(now)
	case weak:
		r.end(now) // a queue that others make: to send less is no use
	default:
		r.begin(now, max(d.low-r.delay.base(), 0), d.blamed)
	}
}

// end sends again: as before, unless there was a queue.
func (r *rateControl) end(now time.Duration) {
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
