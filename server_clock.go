package foretick

import (
	"errors"
	"time"
)

// serverClock is the time of a match. All durations count from the start.
type serverClock struct {
	rate     int // ticks a second
	interval time.Duration
	begun    bool
	start    time.Time
	slipped  time.Duration // of it, that no ticks were computed for
	now      time.Duration // of the Step that runs
	before   time.Duration // of the one before
}

// due is when a tick is computed. It is exact at any rate: 31 Hz does not divide a
// second into whole nanoseconds.
func (c *serverClock) due(t Tick) time.Duration {
	return c.slipped + time.Duration(uint64(t)*uint64(time.Second)/uint64(c.rate))
}

// ticks returns a time in ticks: tick k is computed at k.0. A command for a tick that
// is due but not yet computed, the one after newest, still counts as in time.
func (c *serverClock) ticks(t time.Duration, newest Tick) float64 {
	return min((t-c.slipped).Seconds()*float64(c.rate), float64(newest+1))
}

// step takes the time of a Step.
func (c *serverClock) step(t time.Duration) { c.before, c.now = c.now, t }

// slip gives up the time between the newest tick and t.
func (c *serverClock) slip(t time.Duration, newest Tick) { c.slipped += t - c.due(newest) }

// startAfter makes tick t+1 the first one that is due.
func (c *serverClock) startAfter(t Tick) {
	c.slipped = 0
	c.slipped = -c.due(t)
}

// lastTick is the last tick that a server computes. Ticks have 32 bits: at 128 a second
// they last for 388 days. The numbers above it are for clients, which run ahead, and for
// 0, which is no tick at all.
const lastTick Tick = 1<<32 - 1<<12

// ErrEnded is the error of [Server.Run] after the last of 2³² − 4096 ticks: 388 days at
// 128 ticks a second. The players were disconnected with the reason. Start a new server to
// continue the match.
var ErrEnded = errors.New("foretick: the match has reached its last tick: begin another with NewServer")

// ended is the text that players receive.
const ended = "the match has reached its last tick"
