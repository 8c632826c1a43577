package netcode

import (
	"math"
	"time"
)

// Time is the result of [Clock.Advance]: the times a client's systems run at.
type Time struct {
	Started bool // whether the clock runs; false: too few snapshots came yet, and no other field is set
	// Ticks is the number of predicted ticks to simulate now; the last of them
	// is Predicted. After a Reset it is 1, however many ticks were skipped.
	Ticks int
	// Reset means that Predicted jumped forward or back; the ticks in between
	// have no input. The first start is not a reset.
	Reset     bool
	Predicted Tick
	// Commands is the number of commands to create now; the last one is for tick
	// Command. Normally they equal Ticks and Predicted. When prediction cannot reach
	// as far ahead as inputs must (see ClockConfig.History), Command runs ahead of
	// Predicted. That is input delay: the caller keeps the commands until their tick
	// is predicted. After a Reset, no commands are made for the skipped ticks.
	Commands       int
	Command        Tick
	Fraction       float32 // position within the tick after Predicted, 0 to 1
	Render         Tick    // remote entities are drawn between this tick and the next: at RenderFraction
	RenderFraction float32 // position between Render and the next tick, 0 to 1
	// Lead is the time from the tick of a snapshot that arrives now, with the average delay,
	// to the newest command. The part above the input delay is
	// predicted.
	Lead time.Duration
	// Interpolation is the age of the render time, measured from the tick of a
	// snapshot that arrives now with the average delay.
	Interpolation time.Duration
	// Speed is the speed of the server's ticks as a share of time. It is below 1 while an
	// overloaded server loses ticks.
	Speed float64
}

func (c *Clock) describe(out *Time) {
	out.Started, out.Speed = true, c.slips.speed
	out.Command = c.base + Tick(c.executed)
	out.Predicted = out.Command - Tick(c.delay)
	out.Fraction = float32(min(max(c.predicted-float64(c.executed), 0), 1))
	whole := math.Floor(c.render)
	out.Render = c.base + Tick(int64(whole))
	out.RenderFraction = float32(c.render - whole)
	out.Lead = time.Duration(max(0, c.reach()) / c.rate * float64(time.Second))
	behind := (c.slips.tickAt(c.last-c.arrival.mean()) - c.render) / c.rate
	out.Interpolation = time.Duration(max(0, behind) * float64(time.Second))
}
