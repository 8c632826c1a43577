package netcode

import (
	"time"

	"github.com/foretick/foretick/internal/counts"
)

// ClockStats are the figures of a [Clock] as of its last Advance. All are 0 before the
// clock has started.
type ClockStats struct {
	// InputBuffer is the time that commands waited at the server for their tick: the least
	// since the snapshot before, as the newest report says. Negative: too late.
	InputBuffer time.Duration
	// InputBufferTarget is the mean wait that the clock steers for. It follows the jitter
	// of the path to the server.
	InputBufferTarget time.Duration
	// SnapshotBuffer is the time from the rendered moment to the newest snapshot. It is 0
	// when nothing is left to interpolate to.
	SnapshotBuffer time.Duration
	// SnapshotBufferTarget is the delay from the average newest snapshot to the rendered
	// moment that the clock steers for.
	SnapshotBufferTarget time.Duration
	// Lead is the distance from the average newest snapshot to the moment that commands
	// are made for.
	Lead time.Duration
	// InputDelay is the part of Lead that prediction does not reach: inputs take effect
	// later by that time.
	InputDelay time.Duration
	// TimeScale is the speed of predicted time in the last Advance; 1 is the server's.
	TimeScale float64
	// RenderTimeScale is the speed of render time.
	RenderTimeScale float64
}

// String returns the figures that are not zero as one line for a log.
func (s ClockStats) String() string { return counts.Line(s) }

// Stats returns the clock's figures. It may be called at any time.
func (c *Clock) Stats() ClockStats {
	if !c.started {
		return ClockStats{}
	}
	lag := c.arrival.mean() // average age of the newest snapshot's tick, on paced time
	s := ClockStats{
		InputBuffer:          c.span(c.early),
		SnapshotBuffer:       c.span(float64(c.newest) - c.render),
		SnapshotBufferTarget: c.span(c.behind() - lag),
		Lead:                 c.span(c.reach()),
		InputDelay:           c.span(float64(c.delay)),
		TimeScale:            c.scale,
		RenderTimeScale:      c.showScale,
	}
	if c.late.len() > 0 {
		s.InputBufferTarget = c.span(c.target() - c.late.mean())
	}
	return s
}

// span converts a number of ticks.
func (c *Clock) span(ticks float64) time.Duration {
	return time.Duration(ticks / c.rate * float64(time.Second))
}

// speed returns the speed of a time that advanced by dt and, in addition, by shift.
func speed(dt, shift float64) float64 {
	if dt <= 0 {
		return 1
	}
	return 1 + shift/dt
}
