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
	DefaultTickRate   = 30
	DefaultDepth      = time.Second
	DefaultMaxRewind  = 600 * time.Millisecond
	DefaultSettle     = 5 * time.Second
	DefaultGrowth     = 150 * time.Millisecond
	DefaultGrowthRate = 200 * time.Millisecond
)

// The bounds that Config is held to.
const (
	maxTickRate = 1000
	maxDepth    = 10 * time.Second
	maxRewind   = time.Second
	maxSettle   = 24 * time.Hour
)

// Config holds the settings of a History and of a Judge; both take the same
// value, so that a judge never grants what the history no longer holds. The
// zero Config means the defaults.
type Config struct {
	// TickRate is the simulation's ticks a second, up to 1000. Zero means 30;
	// negative is an error.
	TickRate int
	// Depth is how much past the history keeps. Zero means one second, which
	// also leaves room for the tick that a query interpolates towards; negative is
	// an error. At most 10 s.
	Depth time.Duration
	// MaxRewind is the furthest back that a judge lets anyone look, whatever
	// the latency. Zero means 600 ms, which serves a round trip of 400 ms;
	// negative means not at all. At most one second, and no more than Depth.
	// Smaller favours the target.
	MaxRewind time.Duration
	// Settle is how long after its first measurement a judge believes whatever
	// round trip is measured. After that, growth is counted. Zero means 5 s;
	// negative means that the first measurement counts as settled. At most a day.
	Settle time.Duration
	// Growth is how far above the settled round trip the one used for claims may
	// grow, in all. It serves players whose path becomes slower in mid-play; a
	// player who holds acknowledgements back gains as much. Zero means 150 ms;
	// negative means none: such players are then clamped (and counted) until
	// Judge.RemeasureLatency or a new session. At most one second.
	Growth time.Duration
	// GrowthRate is how much of that it may grow in a second. Zero means 200 ms,
	// and no more is allowed; negative means none.
	GrowthRate time.Duration
	// Shapes are the game's own shapes; Hitbox.Shape of CustomHitbox names one
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
	c.MaxRewind = orDefault(c.MaxRewind, min(DefaultMaxRewind, c.Depth))
	c.Settle = orDefault(c.Settle, DefaultSettle)
	c.Growth = orDefault(c.Growth, DefaultGrowth)
	c.GrowthRate = orDefault(c.GrowthRate, DefaultGrowthRate)
	return c
}

// orDefault is what a duration of a config means: zero the default, negative off.
func orDefault(d, byDefault time.Duration) time.Duration {
	if d == 0 {
		return byDefault
	}
	return max(d, 0)
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
	check(c.MaxRewind <= maxRewind, "MaxRewind is %v: use up to %v, 0 for %v, or less for none", c.MaxRewind, maxRewind, DefaultMaxRewind)
	check(c.MaxRewind <= c.Depth, "MaxRewind %v is more than Depth %v: raise Depth or lower MaxRewind", c.MaxRewind, c.Depth)
	check(c.Settle <= maxSettle, "Settle is %v: use up to %v, 0 for %v, or less for none", c.Settle, maxSettle, DefaultSettle)
	check(c.Growth <= maxRewind, "Growth is %v: use up to %v, 0 for %v, or less for none", c.Growth, maxRewind, DefaultGrowth)
	check(c.GrowthRate <= DefaultGrowthRate, "GrowthRate is %v: use up to %v a second, 0 for that, or less for none", c.GrowthRate, DefaultGrowthRate)
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
