package netcode

import (
	"math"
	"time"

	"github.com/foretick/foretick/internal/loss"
	"github.com/foretick/foretick/internal/misuse"
)

// Clock keeps a client's two times, predicted time and render time, from the
// contents and arrival times of snapshots.
//
// Predicted time runs ahead of the server so that inputs arrive just in time.
// Each server report says how early a command arrived. The clock converts it to
// the path's lateness: the lead of predicted time over the local clock when the
// command was made, minus how early the command arrived. Lateness does not
// depend on later steering, so the clock cannot chase its own delayed
// corrections. The target is the worst lateness in the window plus a margin.
//
// The server's clock and the local clock may run at different speeds. All
// internal times use the server's speed as estimated so far; see drift. When
// the estimate changes, earlier measurements are converted.
//
// Render time runs behind, so that the next snapshot has arrived when it is
// needed. Its delay follows how late snapshots arrive after the one before,
// including jitter and loss. It never passes the newest snapshot, and runs
// backwards only in a reset.
//
// A Clock is not safe for concurrent use, and allocates nothing after NewClock.
type Clock struct {
	cfg    ClockConfig
	rate   float64
	origin time.Duration
	base   Tick // base is the tick that internal ticks are counted from.
	any    bool
	at     float64 // at is the local time of the last Advance, in ticks since origin.
	last   float64 // last is the paced time at the last Advance.
	rtt    float64

	drift  drift
	fast   float64 // fast is the estimated share by which the local clock is fast.
	turned float64 // turned is the local time when fast was last estimated.
	ahead  float64 // ahead is by how much paced time trailed local time at turned.

	newest   int64 // newest is the tick of the newest snapshot.
	slips    slipTime
	received int

	arrival sampleWindow // arrival has paced time − the snapshot's tick, on the arrival of each snapshot.
	need    sampleWindow // need has paced time − the newest tick before, on the arrival of each snapshot.
	late    sampleWindow // late has the lateness of the path of commands.
	bad     badTime
	bridge  loss.Bridge
	gaps    bool // gaps is true if a snapshot was ever missing.
	// issued covers 8 s at 128 Hz, because the report on a command comes a round trip later.
	issued [1024]issue
	frames frameTime

	started   bool
	predicted float64
	early     float64 // early is how many ticks early a command arrived, as the newest report says.
	scale     float64 // scale is the speed of predicted time in the last Advance.
	showScale float64 // showScale is the speed of render time in the last Advance.
	executed  int64   // executed is the tick of the last command: predicted, rounded down.
	delay     int64   // delay is the input delay: how many ticks prediction is held behind executed.
	relaxed   float64 // relaxed is the paced time since which the delay could be smaller.
	render    float64
	falls     float64 // falls is the local time until which the lead falls quickly.
}

// saturated is the largest earliness, in ticks, that a report can express.
const saturated = 127

// issue records a tick that was issued: the local time, how long the tick had
// been due, and the caller's frame time at that moment if frames were slow.
type issue struct {
	tick            int64
	at, wait, frame float64
	// lead is how long after at the tick seemed due, and speed is the speed of ticks.
	lead, speed float64
	lost        float64 // lost is how many ticks the server had lost.
	valid       bool
}

// NewClock returns a clock that starts when StartBuffer snapshots have arrived.
// It panics when cfg is not valid, with a foretick.UsageError that unwraps to a
// *ConfigError.
func NewClock(cfg ClockConfig) *Clock {
	if err := cfg.Validate(); err != nil {
		misuse.Panic(err)
	}
	cfg = cfg.defaults()
	perSecond := max(1, cfg.TickRate/cfg.SnapshotInterval)
	return &Clock{
		cfg: cfg, rate: float64(cfg.TickRate), frames: newFrameTime(float64(cfg.TickRate)), slips: newSlipTime(cfg.SnapshotInterval),
		arrival: newSampleWindow(max(16, 2*perSecond)),
		need:    newSampleWindow(max(16, 4*perSecond)),
		late:    newSampleWindow(max(32, cfg.Window*perSecond)),
	}
}

func (c *Clock) local(now time.Duration) float64 { return (now - c.origin).Seconds() * c.rate }

// paced converts a local time to the server clock's speed, as estimated so far.
func (c *Clock) paced(local float64) float64 {
	return local - c.ahead - (local-c.turned)*c.fast
}

// Snapshot feeds a received snapshot to the clock; call it once per snapshot,
// before Advance. It takes the arrival time, the server tick of the snapshot,
// the report of how early the client's commands arrived, the connection's round-trip time,
// and the ticks that the server lost (see SnapshotHeader).
func (c *Clock) Snapshot(now time.Duration, tick Tick, early int16, hasEarly bool, rtt time.Duration, lost uint32) {
	if !c.any {
		c.any, c.origin, c.base = true, now, tick
		c.newest = -1
	}
	t, local := int64(Distance(tick, c.base)), c.local(now)
	c.rtt = rtt.Seconds() * c.rate
	far, paced := c.apart(), c.paced(local)
	if c.received > 0 && t <= c.newest {
		c.hear(t, early, hasEarly, far)
		return
	}
	sum := c.slips.lostBy(lost)
	if ahead := c.arrival.mean() - paced + float64(t) + sum; c.received > 0 && ahead > far && sum > c.slips.lost {
		// Less time passed than the server says that it lost: its clock was set.
		sum -= min(ahead, sum-c.slips.lost)
	}
	moment := float64(t) + sum
	lag := paced - moment
	// A snapshot that arrives after the caller itself paused says nothing about
	// the path. One tick far in the future is ignored; three in a row are
	// believed.
	future := c.received > 0 && lag < c.arrival.mean()-far
	onTime := future || !c.started || paced-c.last <= max(c.rate/10, 3*c.frames.usual)
	taken, emptied := false, false
	if onTime {
		if taken, emptied = c.arrival.addSample(local, lag, far); future && !taken {
			return
		}
	}
	before := float64(c.newest) + c.slips.lost
	if c.slips.addSnapshot(t, lost, sum, c.rate) {
		c.late.dropAfter(local - c.rate) // drop what was measured while the server fell behind already
	}
	late, reported := c.hear(t, early, hasEarly, far)
	if emptied {
		c.need.clearSamples()
		c.drift.dropSamples()
	} else if onTime && c.received > 0 {
		c.need.addSample(local, paced-before, far)
	}
	if reported && taken && c.drift.addSample(local, local-moment, late, c.rate) {
		c.turn(local, c.drift.estimate())
	}
	if c.received > 0 && t-c.newest > int64(max(1, c.cfg.SnapshotInterval)) {
		c.gaps = true
	}
	c.newest = t
	c.received++
}

// hear takes the earliness report of a snapshot, if there is one. It returns the results of report.
func (c *Clock) hear(t int64, early int16, has bool, far float64) (late float64, ok bool) {
	if !has || !c.started {
		return 0, false
	}
	c.early = float64(early) / 256
	return c.report(t, c.early, far)
}

// far is the largest error, in ticks, that is steered rather than jumped. It is
// at least three frames; otherwise a caller with a low frame rate could never
// get in step.
func (c *Clock) far() float64 { return max(c.cfg.HardReset.Seconds()*c.rate, 3*c.frames.usual) }

// farAhead is far for a predicted time that is ahead of where it should be: inputs then wait at the server for
// all those ticks. In an overload each tick takes longer, and predicted time falls back no faster than the
// server's ticks advance. So predicted time jumps sooner then, but not for two steps of the server.
func (c *Clock) farAhead() float64 {
	if c.slips.speed == 1 {
		return c.far()
	}
	return min(c.far(), max(c.far()*c.slips.speed/2, 2*float64(c.slips.span), 3*c.frames.usual))
}

// apart is the largest difference, in ticks, between samples of one path.
func (c *Clock) apart() float64 { return max(samplesApart, 3*c.frames.usual) }

const samplesApart = 10

// turn applies a new estimate of the drift. A measurement made now does not
// change; older ones change in proportion to their age.
func (c *Clock) turn(local, fast float64) {
	by := fast - c.fast
	if math.Abs(by) < driftLeast {
		return
	}
	c.arrival.turn(local, by)
	c.need.turn(local, by)
	c.late.turn(local, -by)
	c.ahead, c.turned, c.fast = local-c.paced(local), local, fast
}

// report takes one earliness report. The server measured it just before it
// wrote tick t, so the tick of the command follows from it. It returns how late
// the command arrived, relative to the local clock.
func (c *Clock) report(t int64, early, far float64) (late float64, ok bool) {
	if early <= -saturated || early >= saturated {
		// The value is beyond the range of a report: what was learned about the
		// path to the server is void.
		if !c.slips.slipping(c.rate) {
			c.late.clearSamples()
		}
		return 0, false
	}
	tick := t + int64(math.Floor(early))
	i := c.issued[uint64(tick)%uint64(len(c.issued))]
	if !i.valid || i.tick != tick {
		// Rounding to 1/256 may have moved it past a tick boundary.
		tick--
		if i = c.issued[uint64(tick)%uint64(len(c.issued))]; !i.valid || i.tick != tick {
			return 0, false
		}
	}
	// A tick waits for the caller's next Advance. The target always includes
	// the wait of one ordinary interval, since the phase may drift through it.
	// Only the extra wait of a slow frame belongs to the sample.
	slow := max(0, i.wait-max(c.frames.mean, c.frames.tardy(), i.frame))
	if i.lost != c.slips.lost || c.slips.slipping(c.rate) {
		c.slips.addSlow(i.lead-early/i.speed+slow, i.speed)
		return 0, false
	}
	moment := float64(tick) + i.lost
	c.late.addLate(i.at, moment-c.paced(i.at)+slow-early, slow, far)
	if c.bad.forgetSamples(&c.late, i.at, c.rate) {
		c.falls = c.at + fallsFor*c.rate
	}
	return moment - i.at + slow - early, true
}

// Advance moves both times forward to now. A now earlier than the last one
// counts as the last one.
func (c *Clock) Advance(now time.Duration) Time {
	local := c.local(now)
	if slow := c.frames.slow(); c.frames.noteAdvance(now, c.rate) && c.frames.slow() != slow {
		c.frameRateChanged(slow)
	}
	if !c.started && !c.ready(local) {
		return Time{}
	}
	var out Time
	c.at = max(c.at, local)
	if !c.started {
		c.beginAt(local)
		out.Ticks, out.Commands = 1, 1
	} else {
		dt := max(0, c.paced(local)-c.last)
		c.last += dt
		out.Commands, out.Reset = c.predict(dt)
		out.Ticks = c.hold(out.Commands, out.Reset)
		c.advanceShown(dt)
	}
	c.describe(&out)
	return out
}

// frameRateChanged runs when frames become slow, or fast again. The caller's effect on
// earlier samples no longer applies.
func (c *Clock) frameRateChanged(wereSlow bool) {
	c.late.forgive()
	if wereSlow {
		from := c.local(c.frames.lagged)
		c.arrival.keepAfter(from)
		c.need.keepAfter(from)
	}
}

// ready reports whether there are enough snapshots and a known round trip. It
// waits at most a quarter of a second for the round trip, since that may really
// be 0.
func (c *Clock) ready(local float64) bool {
	return c.received >= c.cfg.StartBuffer && (c.rtt > 0 || local > c.rate/4)
}

func (c *Clock) beginAt(local float64) {
	c.started, c.last = true, local
	c.scale, c.showScale = 1, 1
	c.frames.startPlay()
	c.predicted = c.slips.tickAt(local + c.target())
	c.executed = int64(math.Floor(c.predicted))
	c.issue(c.executed, 0)
	c.delay, c.relaxed = c.delayed(0), local
	c.render = min(c.slips.tickAt(local-c.behind()), float64(c.newest))
}

func (c *Clock) predict(dt float64) (ticks int, reset bool) {
	target := c.target()
	off := c.slips.tickAt(c.last-dt+target) - c.predicted
	if off > c.far() || -off > c.farAhead() {
		c.predicted, reset = c.slips.tickAt(c.last+target), true
	} else {
		due := dt * c.slips.speed
		shift := steer(off) * dt
		if h := hurry(off/c.rate) * dt; math.Abs(h) > math.Abs(shift) {
			shift = h
		}
		if off < 0 && c.fallsQuickly() {
			shift = min(shift, max(-0.15, 0.25*off)*dt)
		}
		if math.Abs(shift) > math.Abs(off) {
			shift = off
		}
		if c.slips.faster { // the server misses each tick until predicted time has caught up
			c.slips.faster, shift = false, max(shift, off)
		}
		shift = max(shift, -due)
		c.predicted += due + shift
		c.scale = speed(due, shift)
	}
	whole := int64(math.Floor(c.predicted))
	due := whole - c.executed // an int of 32 bits is too small if time jumped by years
	if reset || float64(due) > min(c.far(), maxCommands) {
		// Later ticks are issued again, if at all. Reports on their earlier
		// commands say nothing about the path, whenever they arrive.
		for i := range c.issued {
			c.issued[i].valid = c.issued[i].valid && c.issued[i].tick <= whole
		}
		c.executed = whole
		c.issue(whole, 0)
		return 1, true
	}
	for c.executed < whole {
		c.executed++
		c.issue(c.executed, (c.predicted-float64(c.executed))/c.slips.speed)
	}
	return int(max(due, 0)), false
}

// issue notes that the command of a tick is made now. wait is how long the tick has been due.
func (c *Clock) issue(tick int64, wait float64) {
	c.issued[uint64(tick)%uint64(len(c.issued))] = issue{
		tick: tick, at: c.at, wait: wait, frame: c.frames.tardy(),
		lead: c.slips.timeOf(float64(tick)) - c.paced(c.at), speed: c.slips.speed, lost: c.slips.lost, valid: true,
	}
}

func (c *Clock) advanceShown(dt float64) {
	due := dt * c.slips.speed
	off := c.slips.tickAt(c.last-c.behind()) - (c.render + due)
	switch far := c.apart(); {
	case off > far:
		c.render += due + off
	default:
		shift := steer(off) * dt
		if math.Abs(shift) > math.Abs(off) {
			shift = off
		}
		shift = max(shift, -due)
		c.render += due + shift
		c.showScale = speed(due, shift)
	}
	c.render = min(c.render, float64(c.newest))
}

// Next returns about when, on the caller's clock, the next predicted tick is
// due. A loop without frames can sleep until then. It returns false before the
// clock has started.
func (c *Clock) Next() (time.Duration, bool) {
	if !c.started {
		return 0, false
	}
	wait := (float64(c.executed+1) - c.predicted) / c.slips.speed
	return c.origin + time.Duration((c.at+wait/(1-c.fast))/c.rate*float64(time.Second)) + time.Microsecond, true
}
