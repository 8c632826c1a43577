package netcode

import "math"

// target returns the offset of predicted time from local time to steer for.
func (c *Clock) target() float64 { return max(c.lead(), c.delayLead()) }

// lead returns the offset at which commands arrive in time. What was measured while the server lost ticks
// counts only for as long as it loses ticks.
func (c *Clock) lead() float64 {
	lead := c.calmLead()
	if c.slips.slipping(c.rate) {
		if late, ok := c.slips.slowLate(); ok {
			lead = max(lead, late+c.frames.mean+0.1)
		}
	}
	return lead
}

// calmLead is lead while the server loses no ticks.
func (c *Clock) calmLead() float64 {
	n := c.late.len()
	if n < 4 {
		return c.guess()
	}
	// The lead need not cover the worst of 300 samples. With more samples, the share that it need not cover is
	// larger, since steering up is quicker than down and errs on the safe side.
	spare := 0.0035 + 0.002*max(0, 1-300/float64(n))
	lead := c.late.quantile(1-spare-c.cfg.LateShare) + c.frames.mean + 0.1
	return lead + c.caution(lead)
}

// guess returns the lead while nothing is known about the path to the server.
func (c *Clock) guess() float64 {
	return c.rtt - c.arrival.mean() + float64(c.cfg.StartBuffer) + max(0, c.frames.mean-c.frames.fast)
}

// caution returns what is added to a lead that was measured with few samples. A path that was
// calm so far needs little of it, and one that lost something needs it for longer.
func (c *Clock) caution(lead float64) float64 {
	lasts := 60.0
	if c.gaps {
		lasts = 75
	}
	most := float64(c.cfg.StartBuffer) * math.Exp(-float64(c.late.len())/lasts)
	if c.calm() {
		return min(most, calmShare*(lead+c.arrival.mean()))
	}
	return most
}

// calm reports whether the path was even and lost nothing, both ways, for long enough to
// believe it.
func (c *Clock) calm() bool {
	return !c.gaps && c.late.len() >= calmFew && c.at-c.late.oldest() >= calmAfter*c.rate &&
		c.late.spread() < calmSpread && c.arrival.spread() < calmSpread+c.frames.usual
}

const (
	calmFew    = 26   // samples that calm needs
	calmAfter  = 1.35 // seconds of samples that calm needs
	calmSpread = 0.4  // ticks: greatest spread of the samples
	calmShare  = 0.1  // share of the lead that caution adds at most
)

// fallsFor is for how many seconds after a bad time the lead falls quickly.
const fallsFor = 4.0

// fallsQuickly reports whether a lead above the target is known to be of no use.
func (c *Clock) fallsQuickly() bool {
	return c.at < c.falls || c.calm() || c.slips.recovering(c.rate)
}
