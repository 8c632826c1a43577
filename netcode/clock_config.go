package netcode

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// ClockConfig configures a [Clock]. The zero value is the default; negative
// numbers are errors.
type ClockConfig struct {
	// TickRate is the simulation rate in ticks a second. 0 means 30, at most
	// 1000. Negative is an error.
	TickRate int
	// SnapshotInterval is the number of ticks from one snapshot to the next. 0
	// means 1, at most 255. Negative is an error.
	SnapshotInterval int
	// StartBuffer is the number of snapshots that must arrive before the clock
	// starts. It is also the slack, in ticks, that inputs start with. 0 means
	// 3, at most 64. Negative is an error.
	StartBuffer int
	// HardReset is the largest time error that the clock corrects gradually; a larger error makes it jump. 0
	// means 500 ms, at most 30 s; negative is an error. The limit is never shorter than three of the caller's
	// frames. While an overloaded server loses ticks, predicted time that is ahead jumps sooner: at half of the
	// ticks that the server computes in this time.
	HardReset time.Duration
	// History is the number of ticks that prediction may run ahead of the
	// newest snapshot, which is as far as the caller can restore. Where inputs
	// must run farther ahead, the clock adds input delay. 0 means 32, at most
	// 4096. Negative is an error.
	History int
	// Delay is the least input delay, in ticks: each command is made at least this
	// many ticks before its tick is predicted. If that is more than the latency
	// needs, commands are made earlier, and wait on the server. 0 means none; at most
	// 1000. Negative is an error.
	Delay int
	// Reach is the most ticks that prediction may run ahead of a snapshot that
	// arrives with the average delay. If inputs must run farther ahead, the clock
	// adds input delay for the rest. A longer silence of the server adds none. Two
	// ticks and the jitter are always allowed, so that every tick is predicted before
	// its snapshot arrives. 0 means that History alone bounds it; negative, NaN and
	// infinity are errors.
	Reach float64
	// LateShare is the share of commands that may arrive after their tick, beyond the few
	// that always may: predicted time then runs that much less ahead. It is for servers that
	// run late commands in their own tick. 0 means none, at most MaxLateShare. Negative and
	// NaN are errors.
	LateShare float64
	// SnapshotLateShare is the share of snapshots that may arrive after render time has reached the
	// one before: render time then trails that much less, and stands still more often. 0.03 or
	// less means 0.03. At most MaxLateShare. Negative and NaN are errors.
	SnapshotLateShare float64
	// SnapshotBuffer is the least time by which render time trails the average newest snapshot. 0
	// means what the path needs, at most MaxSnapshotBuffer. Negative is an error.
	SnapshotBuffer time.Duration
	// Window is the number of seconds over which the buffers are measured. 0
	// means 10, at most 60. Negative is an error.
	Window int
}

// Validate returns nil, or a *ConfigError that lists every fault.
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
	check("Delay", c.Delay, 0, 1000)
	if !(c.Reach >= 0 && c.Reach <= math.MaxInt32) {
		errs = append(errs, fmt.Errorf("ClockConfig.Reach is %v ticks: use a positive number, or 0 for no limit but History", c.Reach))
	}
	if !(c.LateShare >= 0 && c.LateShare <= MaxLateShare) {
		errs = append(errs, fmt.Errorf("ClockConfig.LateShare is %v: use up to %v, or 0 for none", c.LateShare, MaxLateShare))
	}
	if !(c.SnapshotLateShare >= 0 && c.SnapshotLateShare <= MaxLateShare) {
		errs = append(errs, fmt.Errorf("ClockConfig.SnapshotLateShare is %v: use up to %v, or 0 for %v", c.SnapshotLateShare, MaxLateShare, leastSnapshotLateShare))
	}
	if c.SnapshotBuffer < 0 || c.SnapshotBuffer > MaxSnapshotBuffer {
		errs = append(errs, fmt.Errorf("ClockConfig.SnapshotBuffer is %v: use up to %v, or 0 for what the path needs", c.SnapshotBuffer, MaxSnapshotBuffer))
	}
	if c.HardReset < 0 || c.HardReset > maxHardReset {
		errs = append(errs, fmt.Errorf("ClockConfig.HardReset is %v: use up to %v, or 0 for %v", c.HardReset, maxHardReset, defaultHardReset))
	}
	if len(errs) > 0 {
		return &ConfigError{errors.Join(errs...)}
	}
	return nil
}

// MaxLateShare is the largest share of commands, and of snapshots, that may be meant to arrive late.
const MaxLateShare = 0.2

// MaxSnapshotBuffer is the largest SnapshotBuffer.
const MaxSnapshotBuffer = 500 * time.Millisecond

// leastSnapshotLateShare is the default of SnapshotLateShare.
const leastSnapshotLateShare = 0.03

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
