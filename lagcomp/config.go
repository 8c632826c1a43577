package lagcomp

import (
	"errors"
	"fmt"
	"time"
)

// Tick numbers the steps of the simulation; it does not wrap in practice
// (a year at 128 Hz).
type Tick = uint32

// ID is the caller's handle of an entity. Zero is never excluded by a Filter
// and is what a miss carries, so a game does better not to use it.
type ID = uint64

// The defaults of Config.
const (
	DefaultTickRate  = 30
	DefaultDepth     = time.Second
	DefaultMaxRewind = 600 * time.Millisecond
	DefaultSettle    = 5 * time.Second
	DefaultRise      = 20 * time.Millisecond
)

// The bounds that Config is held to.
const (
	maxTickRate = 1000
	maxDepth    = 10 * time.Second
	maxRewind   = time.Second
)

// Config holds the settings of a History and of a Judge; both take the same
// value, so that a judge never grants what the history no longer holds. The
// zero Config means the defaults.
type Config struct {
	// TickRate is the simulation's ticks a second. Zero means 30.
	TickRate int
	// Depth is how much past the history keeps. Zero means one second, which
	// also leaves room for the tick that a query interpolates towards. At most
	// 10 s.
	Depth time.Duration
	// MaxRewind is the furthest back that a judge lets anyone look, whatever
	// the latency. Zero means 600 ms, which serves a round trip of 400 ms; at
	// most one second, and no more than Depth. Smaller favours the target.
	MaxRewind time.Duration
	// Settle is how long after its first measurement a judge believes whatever
	// round trip is measured. After that a longer one is not believed at once.
	// Zero means 5 s.
	Settle time.Duration
	// Rise is how much the round trip used for claims may grow in a second once
	// settled. Zero means 20 ms, and no more is allowed.
	Rise time.Duration
	// RiseLimit is how far above the settled round trip it may grow in all.
	// Zero means not at all: acknowledgements held back in the middle of a
	// fight then gain nothing, and a player whose true latency has grown for
	// good is clamped (and counted) until Judge.Resettle or a new session.
	RiseLimit time.Duration
	// Shapes are the game's own shapes; Volume.Shape of CustomVolume names one
	// by its place here. At most 64.
	Shapes []Shape
}

// ConfigError says which fields of a Config cannot be used, all at once.
type ConfigError struct{ Faults []error }

// Error lists every fault.
func (e *ConfigError) Error() string {
	return "lagcomp: invalid config: " + errors.Join(e.Faults...).Error()
}

// Unwrap gives the single faults.
func (e *ConfigError) Unwrap() []error { return e.Faults }

// withDefaults fills in what is zero.
func (c Config) withDefaults() Config {
	if c.TickRate == 0 {
		c.TickRate = DefaultTickRate
	}
	if c.Depth == 0 {
		c.Depth = DefaultDepth
	}
	if c.MaxRewind == 0 {
		c.MaxRewind = min(DefaultMaxRewind, c.Depth)
	}
	if c.Settle == 0 {
		c.Settle = DefaultSettle
	}
	if c.Rise == 0 {
		c.Rise = DefaultRise
	}
	return c
}

// Validate reports every fault of the config as a *ConfigError, or nil.
func (c Config) Validate() error {
	c = c.withDefaults()
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	check(c.TickRate > 0 && c.TickRate <= maxTickRate, "TickRate is %d: use 1 to %d, or 0 for %d", c.TickRate, maxTickRate, DefaultTickRate)
	check(c.Depth > 0 && c.Depth <= maxDepth, "Depth is %v: use up to %v, or 0 for %v", c.Depth, maxDepth, DefaultDepth)
	check(c.MaxRewind > 0 && c.MaxRewind <= maxRewind, "MaxRewind is %v: use up to %v, or 0 for %v", c.MaxRewind, maxRewind, DefaultMaxRewind)
	check(c.MaxRewind <= c.Depth, "MaxRewind %v is more than Depth %v: raise Depth or lower MaxRewind", c.MaxRewind, c.Depth)
	check(c.Settle > 0, "Settle is %v: use a positive duration, or 0 for %v", c.Settle, DefaultSettle)
	check(c.Rise > 0 && c.Rise <= DefaultRise, "Rise is %v: use up to %v a second, or 0 for that", c.Rise, DefaultRise)
	check(c.RiseLimit >= 0, "RiseLimit is %v: use 0 or more", c.RiseLimit)
	check(len(c.Shapes) <= maxShapes, "%d Shapes: at most %d", len(c.Shapes), maxShapes)
	for i, s := range c.Shapes {
		check(s != nil, "Shapes[%d] is nil", i)
	}
	if len(faults) == 0 {
		return nil
	}
	return &ConfigError{Faults: faults}
}

// ticks converts a duration to ticks, rounded up.
func (c Config) ticks(d time.Duration) int {
	return int((int64(d)*int64(c.TickRate) + int64(time.Second) - 1) / int64(time.Second))
}
