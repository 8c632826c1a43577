package netcode

import "time"

// ClockConfig is what a Clock may be told. The zero value is the default.
type ClockConfig struct {
	// TickRate is the simulation's rate, ticks a second. 0 means 30.
	TickRate int
	// SnapshotInterval is how many ticks lie between snapshots. 0 means 1.
	SnapshotInterval int
	// StartBuffer is how many snapshots must have come before the clock starts,
	// and how many ticks of slack inputs begin with. 0 means 3.
	StartBuffer int
	// HardReset is by how much a time may be off and still be steered; beyond, it
	// jumps. 0 means 500 ms. Three of the caller's frames count where they are
	// longer.
	HardReset time.Duration
	// History is how many ticks the prediction may lie ahead of the newest
	// snapshot: what it can restore. Where inputs must lie farther ahead, the
	// clock adds input delay. 0 means 32.
	History int
	// Window is over how many seconds the buffers are measured. 0 means 10.
	Window int
}

func (c ClockConfig) defaults() ClockConfig {
	set := func(v *int, d, most int) {
		if *v <= 0 {
			*v = d
		}
		*v = min(*v, most)
	}
	set(&c.TickRate, 30, 1000)
	set(&c.SnapshotInterval, 1, 255)
	set(&c.StartBuffer, 3, 64)
	if c.HardReset <= 0 {
		c.HardReset = 500 * time.Millisecond
	}
	c.HardReset = min(c.HardReset, 30*time.Second)
	set(&c.History, 32, 4096)
	set(&c.Window, 10, 60)
	return c
}
