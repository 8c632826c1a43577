package lagcomp

import "time"

// trip is the round trip that claims are bounded by.
type trip struct {
	tick   time.Duration
	settle time.Duration
	rise   time.Duration // a second
	limit  time.Duration

	started  bool
	anew     bool          // settling again: the rate holds
	left     time.Duration // until settled
	last     Tick
	used     time.Duration
	settled  time.Duration // what used may return to
	smoothed time.Duration
}

// fall is the time over which measurements are averaged.
const fall = time.Second

func newTrip(c Config) trip {
	return trip{tick: time.Second / time.Duration(c.TickRate), settle: c.Settle, rise: c.Rise, limit: c.RiseLimit, left: c.Settle}
}

// observe takes one measurement; several of one tick count once.
func (r *trip) observe(now Tick, measured time.Duration) {
	measured = bounded(measured)
	if !r.started {
		r.started, r.last = true, now
		r.smoothed, r.used, r.settled = measured, measured, measured
		return
	}
	if now <= r.last {
		return
	}
	dt := time.Minute
	if n := time.Duration(now - r.last); n < time.Minute/r.tick {
		dt = n * r.tick
	}
	r.last = now
	r.smoothed += time.Duration(float64(measured-r.smoothed) * float64(dt) / float64(dt+fall))
	step := time.Duration(r.rise.Seconds() * float64(dt))
	if r.left > r.tick/2 { // a tick is a rounded number of nanoseconds
		r.left -= dt
		r.settled = r.smoothed
		if r.anew {
			r.settled = min(r.smoothed, r.used+step)
		}
		r.used = r.settled
		return
	}
	r.used = min(r.smoothed, r.used+step, r.settled+r.limit)
}

// raised says whether a measurement is a tick or more above what is believed.
func (r *trip) raised(measured time.Duration) bool { return measured >= r.used+r.tick }

func (r *trip) resettle() { r.left, r.anew = r.settle, true }
