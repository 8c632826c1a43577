package netcode

import (
	"errors"
	"fmt"
	"time"
)

// ClockConfig is what a Clock may be told. The zero value is the default; negative
// numbers are errors.
type ClockConfig struct {
	// TickRate is the simulation's rate, ticks a second. 0 means 30, at most 1000.
	// Negative is an error.
	TickRate int
	// SnapshotInterval is how many ticks lie between snapshots. 0 means 1, at
	// most 255. Negative is an error.
	SnapshotInterval int
	// StartBuffer is how many snapshots must have come before the clock starts,
	// and how many ticks of slack inputs begin with. 0 means 3, at most 64.
	// Negative is an error.
	StartBuffer int
	// HardReset is by how much a time may be off and still be steered; beyond, it
	// jumps. 0 means 500 ms, at most 30 s; negative is an error. Three of the caller's
	// frames count where they are longer.
	HardReset time.Duration
	// History is how many ticks the prediction may lie ahead of the newest
	// snapshot: what it can restore. Where inputs must lie farther ahead, the
	// clock adds input delay. 0 means 32, at most 4096. Negative is an error.
	History int
	// Window is over how many seconds the buffers are measured. 0 means 10, at most
	// 60. Negative is an error.
	Window int
}

// Validate reports every fault at once, as a *ConfigError, or nil.
func (c ClockConfig) Validate() error {
	var errs []error
	check := func(name string, v, byDefault, most int) {
		if v < 0 || v > most {
			errs = append(errs, fmt.Errorf("ClockConfig.%s is %d: use 1 to %d, or 0 for %d", name, v, most, byDefault))
		}
	}
	check("TickRate", c.TickRate, 30, 1000)
	check("SnapshotInterval", c.SnapshotInterval, 1, 255)
	check("StartBuffer", c.StartBuffer, 3, 64)
	check("History", c.History, 32, 4096)
	check("Window", c.Window, 10, 60)
	if c.HardReset < 0 || c.HardReset > maxHardReset {
		errs = append(errs, fmt.Errorf("ClockConfig.HardReset is %v: use up to %v, or 0 for %v", c.HardReset, maxHardReset, defaultHardReset))
	}
	if len(errs) > 0 {
		return &ConfigError{errors.Join(errs...)}
	}
	return nil
}

const (
	defaultHardReset = 500 * time.Millisecond
	maxHardReset     = 30 * time.Second
)

func (c ClockConfig) defaults() ClockConfig {
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	set(&c.TickRate, 30)
	set(&c.SnapshotInterval, 1)
	set(&c.StartBuffer, 3)
	set(&c.History, 32)
	set(&c.Window, 10)
	if c.HardReset == 0 {
		c.HardReset = defaultHardReset
	}
	return c
}
