package lagcomp

import "time"

// trip is the round trip that claims are bounded by.
type trip struct {
	tick   time.Duration
	settle time.Duration
	rate   time.Duration // rate is the growth allowed in a second.
	limit  time.Duration // limit is the growth allowed in all.

	started bool
	anew    bool          // anew is true if it settles again. The rate then limits growth meanwhile.
	left    time.Duration // left is the time until the round trip is settled.
	last    Tick
	used    time.Duration
	settled time.Duration // settled is the round trip that growth counts from.
	// smoothed is the mean over about a second. It becomes settled, and counts when it is below settled.
	smoothed time.Duration
	recent   Trend // recent follows the round trip once it has grown beyond settled.
}

// settleOver is the time over which measurements are averaged while they settle.
const settleOver = time.Second

func newTrip(c Config) trip {
	return trip{tick: time.Second / time.Duration(c.TickRate), settle: c.Settle, rate: c.GrowthRate, limit: c.Growth, left: c.Settle}
}

// addMeasurement takes one measurement; several of one tick count once.
func (r *trip) addMeasurement(now Tick, measured time.Duration) {
	if measured < 0 {
		r.last = max(r.last, now)
		return
	}
	measured = bounded(measured)
	if !r.started {
		r.started, r.last = true, now
		r.smoothed, r.used, r.settled = measured, measured, measured
		r.recent.Set(measured)
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
	r.smoothed = toward(r.smoothed, measured, dt, settleOver)
	recent := r.recent.Add(measured, dt, r.settled+r.limit)
	step := time.Duration(r.rate.Seconds() * float64(dt))
	if r.left > r.tick/2 { // a tick is a rounded number of nanoseconds
		r.left -= dt
		r.settled = r.smoothed
		if r.anew {
			r.settled = min(r.smoothed, r.used+step)
		}
		r.used = r.settled
		return
	}
	to := min(r.smoothed, r.settled)
	if recent > r.settled {
		to = recent
	}
	r.used = min(to, r.used+step)
}

// raised reports whether a measurement is a tick or more above the believed one.
func (r *trip) raised(measured time.Duration) bool { return measured >= r.used+r.tick }

func (r *trip) remeasure() { r.left, r.anew = r.settle, true }

// Trend follows a measured delay: a rise over 0.2 s, a fall over 0.5 s. So it rises soon
// after a path becomes slower, and has fallen most of the way 2 s after the path is quick
// again. The zero Trend is at 0.
type Trend struct{ at time.Duration }

const (
	riseOver = 200 * time.Millisecond
	fallOver = 500 * time.Millisecond
)

// Set puts the trend at a value.
func (t *Trend) Set(d time.Duration) { t.at = d }

// Add takes a measurement, dt after the one before, and returns the trend. The trend does
// not rise above most, so that a later fall begins there and not higher.
func (t *Trend) Add(measured, dt, most time.Duration) time.Duration {
	over := fallOver
	if measured > t.at {
		over = riseOver
	}
	t.at = min(toward(t.at, measured, dt, over), most)
	return t.at
}

// toward moves a smoothed value closer to a measured one.
func toward(at, measured, dt, over time.Duration) time.Duration {
	return at + time.Duration(float64(measured-at)*float64(dt)/float64(dt+over))
}
