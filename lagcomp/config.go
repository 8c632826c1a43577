package lagcomp

import (
	"errors"
	"fmt"
	"time"
)

// Tick numbers the steps of the simulation. It does not wrap in practice: 32 bits last a
// year at 128 Hz.
type Tick = uint32

// ID is the caller's handle of an entity. Do not use zero: a Filter cannot exclude it, and a Hit that is a miss
// has it.
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

// Config holds the settings of a History and of a Judge. Give both the same value, so
// that the judge never grants a moment that the history no longer holds. The zero Config
// means the defaults.
type Config struct {
	// TickRate is the simulation's rate in ticks a second, up to 1000. Zero means 30;
	// negative is an error.
	TickRate int
	// Depth is the time that the history keeps. Zero means one second; negative is an
	// error. At most 10 s. The tick that a query interpolates towards is kept on top.
	Depth time.Duration
	// MaxRewind is the furthest back that a judge allows anybody to look, whatever the
	// latency. Zero means 600 ms, which serves a round trip of 400 ms; negative means
	// none. At most one second, and no more than Depth. A smaller value favours the
	// target.
	MaxRewind time.Duration
	// Settle is the time after its first measurement for which a judge believes any round
	// trip. After that, Growth limits the round trip that it believes. Zero means 5 s;
	// negative means that the first measurement is the settled one. At most a day.
	Settle time.Duration
	// Growth limits, in total, the rise of the believed round trip above the settled one.
	// It serves players whose path becomes slower in mid-match. A cheater who holds
	// acknowledgements back gains the same. Zero means 150 ms. Negative means none: the
	// claims of such players are then clamped (and counted) until Judge.RemeasureLatency
	// or a new session. At most one second.
	Growth time.Duration
	// GrowthRate limits how much the believed round trip rises in each second, within
	// Growth. Zero means 200 ms, which is also the most; negative means none.
	GrowthRate time.Duration
	// Shapes are the game's own shapes. CustomHitbox names one by its index here. At most
	// 64.
	Shapes []Shape
}

// ConfigError lists every field of a Config that cannot be used.
type ConfigError struct{ Faults []error }

// Error lists every fault.
func (e *ConfigError) Error() string {
	return "lagcomp: invalid config: " + errors.Join(e.Faults...).Error()
}

// Unwrap returns the faults one by one.
func (e *ConfigError) Unwrap() []error { return e.Faults }

// withDefaults returns the config with the defaults in place of zeros.
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

// orDefault reads a duration of a config: zero means the default, negative means off.
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
	check(len(c.Shapes) <= MaxShapes, "%d Shapes: use up to %d", len(c.Shapes), MaxShapes)
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
