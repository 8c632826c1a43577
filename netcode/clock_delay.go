package netcode

import "math"

// Input delay: commands are made for tick Command, and the caller predicts up to tick
// Predicted, which may be earlier.

// delaySlack is how many ticks the delay may differ from what Reach asks for before it changes. With less than
// half a tick it would keep changing back and forth.
const delaySlack = 0.75

// delayLead returns the least offset of predicted time at which a fixed delay still leaves something to
// predict: the tick after the newest snapshot, even when snapshots come quickest.
func (c *Clock) delayLead() float64 {
	if c.cfg.Delay == 0 || c.arrival.len() == 0 {
		return math.Inf(-1)
	}
	return float64(c.cfg.Delay) + 1 - c.arrival.quantile(0)
}

// reach returns how many ticks the newest command is ahead of the snapshot that arrives
// with the mean delay.
func (c *Clock) reach() float64 { return c.predicted - c.slips.tickAt(c.last-c.arrival.mean()) }

// delayed returns the input delay that is needed. now is the present delay.
func (c *Clock) delayed(now int64) int64 {
	d := int64(c.cfg.Delay)
	if c.cfg.Reach > 0 {
		// With less, snapshots would overtake the prediction, and the delay would keep changing back and forth.
		least := c.arrival.mean() - c.arrival.quantile(0) + 1 + delaySlack
		soft := c.reach() - max(c.cfg.Reach, least)
		if math.Abs(soft-float64(now)) <= delaySlack {
			soft = float64(now)
		}
		d = max(d, int64(math.Round(soft)))
	}
	d = min(d, c.executed-c.newest) // predict no tick before the newest snapshot
	return max(0, d, c.executed-c.newest-int64(c.cfg.History))
}

// hold returns the number of ticks to predict, which is less than the number of commands while the input delay
// grows. The delay grows at once when needed. It shrinks by one tick after it could have been shorter for half
// a second. It shrinks at once if a snapshot has overtaken the prediction.
func (c *Clock) hold(commands int, reset bool) (ticks int) {
	before := c.delay
	need := c.delayed(before)
	switch {
	case reset:
		c.delay, c.relaxed = c.delayed(0), c.last
		return 1
	case need >= c.delay:
		c.relaxed = c.last
		c.delay = min(need, before+int64(commands)) // predicted ticks never run backwards
	case c.executed-c.newest < c.delay:
		c.delay = max(c.executed-c.newest, 0)
	case c.last-c.relaxed > c.rate/2:
		c.delay--
	}
	return commands + int(before-c.delay)
}
