package netcode

import (
	"math"
	"time"
)

// Time is what a client's systems run on, at one Advance.
type Time struct {
	Started bool // false: not enough snapshots yet, nothing else is set
	// Ticks is how many predicted ticks to simulate now; the last of them is
	// Predicted. After a Reset it is 1, whatever was skipped.
	Ticks int
	// Reset: Predicted jumped, forward or back, and the ticks between have no
	// input. The first start is no reset.
	Reset     bool
	Predicted Tick
	// Commands is how many commands to make now, the last of them for tick
	// Command. They are Ticks and Predicted, unless prediction cannot reach as
	// far ahead as inputs must (see ClockConfig.History): then Command lies
	// ahead of Predicted, which is input delay, and the caller keeps commands
	// until their tick is predicted. Commands for the ticks between, after a
	// Reset, are nobody's.
	Commands       int
	Command        Tick
	Fraction       float32 // of the tick after Predicted, 0 to 1
	Render         Tick    // remote entities are shown between this tick …
	RenderFraction float32 // … and the next
	// Interpolation is how far render time lies behind the server's tick as the
	// mean snapshot brings it.
	Interpolation time.Duration
}

// Clock keeps a client's two times, from what snapshots tell and when they come.
//
// Predicted time runs ahead of the server so that inputs arrive just in time.
// Every report of earliness is turned into the lateness of the path (how far
// predicted time was ahead of the local clock when the command was made, minus
// how early the command came), which does not depend on how the clock was
// steered meanwhile: so steering cannot chase its own delayed echo. The target
// is the worst lateness within the window, and a margin.
//
// The server's clock and the local one may run at different speeds. All times
// inside are of a clock that runs as the server's does, as far as that is learned:
// see drift. What was measured before something was learned is turned with it.
//
// Render time runs behind so that the next snapshot is there when it is needed;
// its delay follows how late snapshots came after the one before them, jitter
// and loss included. It never passes the newest snapshot, and never runs
// backwards but in a reset.
//
// A Clock is not safe for concurrent use, and allocates nothing after NewClock.
type Clock struct {
	cfg    ClockConfig
	rate   float64
	origin time.Duration
	base   Tick // ticks inside are distances from it
	any    bool
	at     float64 // local time of the last Advance, in ticks since origin
	last   float64 // paced time then
	rtt    float64

	drift  drift
	fast   float64 // what is learned: the local clock is fast by this share
	turned float64 // local time when it was learned …
	ahead  float64 // … and how far paced time then was behind it

	newest   int64 // newest snapshot
	received int

	arrival sampleWindow // paced time − snapshot's tick, at its arrival
	need    sampleWindow // paced time − previous newest tick, at an arrival
	late    sampleWindow // lateness of the path of commands
	issued  [1024]issue  // 8 s at 128 Hz: a command is told of a round trip later
	frames  frameTime

	started   bool
	predicted float64
	executed  int64   // floor of predicted: the tick of the last command
	delay     int64   // of input: how far prediction is held behind it
	relaxed   float64 // paced time since when the delay could be smaller
	render    float64
}

// saturated is the earliness, in ticks, at the end of what a report can say.
const saturated = 127

// issue remembers how a tick was handed out: at what local time, how long it had been
// due, and what the caller's frames then took where they were slow.
type issue struct {
	tick            int64
	at, wait, frame float64
	valid           bool
}

// NewClock makes a clock that starts when StartBuffer snapshots have come. It panics
// with a *ConfigError when the config is not valid.
func NewClock(cfg ClockConfig) *Clock {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	cfg = cfg.defaults()
	perSecond := max(1, cfg.TickRate/cfg.SnapshotInterval)
	return &Clock{
		cfg: cfg, rate: float64(cfg.TickRate), frames: newFrameTime(float64(cfg.TickRate)),
		arrival: newSampleWindow(max(16, 2*perSecond)),
		need:    newSampleWindow(max(16, 4*perSecond)),
		late:    newSampleWindow(max(32, cfg.Window*perSecond)),
	}
}

func (c *Clock) local(now time.Duration) float64 { return (now - c.origin).Seconds() * c.rate }

// paced is a local time as the server's clock would count it, by what is known now.
func (c *Clock) paced(local float64) float64 {
	return local - c.ahead - (local-c.turned)*c.fast
}

// Snapshot tells of each snapshot received, once: when it came, the server's
// tick that it shows, its report of how early the client's commands came (see
// SnapshotHeader), and the connection's round-trip time. Call it before Advance.
func (c *Clock) Snapshot(now time.Duration, tick Tick, early int16, hasEarly bool, rtt time.Duration) {
	if !c.any {
		c.any, c.origin, c.base = true, now, tick
		c.newest = -1
	}
	t, local := int64(Distance(tick, c.base)), c.local(now)
	c.rtt = rtt.Seconds() * c.rate
	far := c.apart()
	late, reported := 0.0, false
	if hasEarly && c.started {
		late, reported = c.report(t, float64(early)/256, far)
	}
	if c.received > 0 && t <= c.newest {
		return
	}
	paced := c.paced(local)
	lag := paced - float64(t)
	// What comes in after the caller itself was away says nothing of the path.
	// One tick far in the future is not believed; three in a row are.
	if future := c.received > 0 && lag < c.arrival.mean()-far; future || !c.started || paced-c.last <= max(c.rate/10, 3*c.frames.usual) {
		taken, emptied := c.arrival.add(local, lag, far)
		if future && !taken {
			return
		}
		if emptied {
			c.need.clear()
			c.drift.clear()
		} else if c.received > 0 {
			c.need.add(local, paced-float64(c.newest), far)
		}
		if reported && taken && c.drift.add(local, local-float64(t), late, c.rate) {
			c.turn(local, c.drift.estimate())
		}
	}
	c.newest = t
	c.received++
}

// far is by how many ticks a time may be off and still be steered: three frames at
// least, else a caller that draws few could never be in step.
func (c *Clock) far() float64 { return max(c.cfg.HardReset.Seconds()*c.rate, 3*c.frames.usual) }

// apart is by how many ticks samples may differ and still be of one path.
func (c *Clock) apart() float64 { return max(samplesApart, 3*c.frames.usual) }

const samplesApart = 10

// turn takes a new estimate of the drift. What was measured stays as it was now,
// and changes the more the older it is.
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

// report takes an earliness: the tick of the command it speaks of follows from
// it, as the server measured it just before it wrote tick t. It returns how late
// the command came, against the local clock.
func (c *Clock) report(t int64, early, far float64) (late float64, ok bool) {
	if early <= -saturated || early >= saturated {
		// Farther off than a report can say: what is known of the way up is void.
		c.late.clear()
		return 0, false
	}
	tick := t + int64(math.Floor(early))
	i := c.issued[uint64(tick)%uint64(len(c.issued))]
	if !i.valid || i.tick != tick {
		// Rounding to 1/256 may have pushed it over a tick's edge.
		tick--
		if i = c.issued[uint64(tick)%uint64(len(c.issued))]; !i.valid || i.tick != tick {
			return 0, false
		}
	}
	// A tick waits for the caller's next Advance. The wait of one ordinary
	// interval is in the target for good, since the phase may drift through it;
	// only what a slow frame adds belongs to the sample.
	slow := max(0, i.wait-max(c.frames.mean, c.frames.tardy(), i.frame))
	c.late.addLate(i.at, float64(tick)-c.paced(i.at)+slow-early, slow, far)
	return float64(tick) - i.at + slow - early, true
}

// Advance moves both times to now. A now before the last one counts as it.
func (c *Clock) Advance(now time.Duration) Time {
	local := c.local(now)
	if slow := c.frames.slow(); c.frames.note(now, c.rate) && c.frames.slow() != slow {
		c.changed(slow)
	}
	if !c.started && !c.ready(local) {
		return Time{}
	}
	var out Time
	c.at = max(c.at, local)
	if !c.started {
		c.begin(local)
		out.Ticks, out.Commands = 1, 1
	} else {
		dt := max(0, c.paced(local)-c.last)
		c.last += dt
		out.Commands, out.Reset = c.predict(dt)
		out.Ticks = c.hold(out.Commands, out.Reset)
		c.show(dt)
	}
	c.describe(&out)
	return out
}

// changed: frames became slow, or fast again. What the caller made of samples before
// says nothing of now.
func (c *Clock) changed(wereSlow bool) {
	c.late.forgive()
	if wereSlow {
		from := c.local(c.frames.lagged)
		c.arrival.keepAfter(from)
		c.need.keepAfter(from)
	}
}

// ready: enough snapshots, and a round trip known, for which it waits a quarter
// of a second at most: it may honestly be 0.
func (c *Clock) ready(local float64) bool {
	return c.received >= c.cfg.StartBuffer && (c.rtt > 0 || local > c.rate/4)
}

func (c *Clock) begin(local float64) {
	c.started, c.last = true, local
	c.frames.start()
	c.predicted = local + c.target()
	c.executed = int64(math.Floor(c.predicted))
	c.issue(c.executed)
	c.delay, c.relaxed = max(0, c.executed-c.newest-int64(c.cfg.History)), local
	c.render = min(local-c.behind(), float64(c.newest))
}

// target is the offset of predicted time from local time to steer for.
func (c *Clock) target() float64 {
	n := c.late.len()
	if n < 4 {
		return c.guess()
	}
	few := float64(c.cfg.StartBuffer) * math.Exp(-float64(n)/60)
	// Of 300 samples the worst one may be missed; of more, a larger share, since
	// steering up is quicker than down and errs on the safe side anyway.
	spare := 0.0035 + 0.002*max(0, 1-300/float64(n))
	return c.late.quantile(1-spare) + c.frames.mean + 0.1 + few
}

// guess is the target before anything is known of the way up.
func (c *Clock) guess() float64 {
	return c.rtt - c.arrival.mean() + float64(c.cfg.StartBuffer) + max(0, c.frames.mean-c.frames.fast)
}

func (c *Clock) predict(dt float64) (ticks int, reset bool) {
	off := c.target() - (c.predicted - (c.last - dt))
	if math.Abs(off) > c.far() {
		c.predicted, reset = c.last+c.target(), true
	} else {
		shift := steer(off) * dt
		if h := hurry(off/c.rate) * dt; math.Abs(h) > math.Abs(shift) {
			shift = h
		}
		if math.Abs(shift) > math.Abs(off) {
			shift = off
		}
		c.predicted += dt + shift
	}
	whole := int64(math.Floor(c.predicted))
	ticks = int(whole - c.executed)
	if reset || float64(ticks) > min(c.far(), maxCommands) {
		// Those ahead are made again, if at all: what is told of them as they were
		// made, whenever they came, says nothing of the path.
		for i := range c.issued {
			c.issued[i].valid = c.issued[i].valid && c.issued[i].tick <= whole
		}
		c.executed = whole
		c.issue(whole)
		return 1, true
	}
	for c.executed < whole {
		c.executed++
		c.issue(c.executed)
	}
	return max(ticks, 0), false
}

// hold keeps the prediction within the history, by input delay: more as soon as
// it must, less, a tick at a time, once it could have been less for half a second.
func (c *Clock) hold(commands int, reset bool) (ticks int) {
	before := c.delay
	need := max(0, c.executed-c.newest-int64(c.cfg.History))
	switch {
	case reset:
		c.delay, c.relaxed = need, c.last
		return 1
	case need >= c.delay:
		c.relaxed = c.last
		c.delay = min(need, before+int64(commands)) // never back
	case c.last-c.relaxed > c.rate/2:
		c.delay--
	}
	return commands + int(before-c.delay)
}

func (c *Clock) issue(tick int64) {
	c.issued[uint64(tick)%uint64(len(c.issued))] = issue{tick, c.at, c.predicted - float64(tick), c.frames.tardy(), true}
}

// steer is the change of time's speed for being off by so many ticks: up to 1 %
// near, up to 10 % far. Catching up is quicker than falling back: being late
// costs inputs, being early only latency.
func steer(off float64) float64 {
	switch {
	case off > 0:
		return min(0.1, 0.06*off)
	case off > -1:
		return max(-0.01, 0.04*off)
	}
	return max(-0.1, -0.01+0.03*(off+1))
}

// hurry is the change of predicted time's speed for being off by so many seconds, where
// that is much. Commands that come late are all missed for as long as it takes, and no
// jump would be over sooner; what is too early is only delay.
func hurry(off float64) float64 {
	if off > 0 {
		return max(0, min(8*(off-0.05), 2))
	}
	return min(0, max(4*(off+0.05), -0.3))
}

// behind is how far render time shall lie behind local time: for what was needed at
// worst of late, but no more than a jump further back than now. A queue that was
// long when the client joined, and has drained, would else delay what it sees for as
// long as the window remembers.
func (c *Clock) behind() float64 {
	if c.need.len() < 4 {
		return c.arrival.mean() + float64(c.cfg.SnapshotInterval*c.cfg.StartBuffer) - 1
	}
	return min(c.need.quantile(0.97), c.need.recent()+c.apart())
}

func (c *Clock) show(dt float64) {
	off := c.last - c.behind() - (c.render + dt)
	switch far := c.apart(); {
	case off > far:
		c.render += dt + off
	default:
		shift := steer(off) * dt
		if math.Abs(shift) > math.Abs(off) {
			shift = off
		}
		c.render += dt + shift
	}
	c.render = min(c.render, float64(c.newest))
}

// Next is about when, on the caller's clock, the next predicted tick is due: a
// loop without frames of its own sleeps until then. false before the start.
func (c *Clock) Next() (time.Duration, bool) {
	if !c.started {
		return 0, false
	}
	wait := float64(c.executed+1) - c.predicted
	return c.origin + time.Duration((c.at+wait/(1-c.fast))/c.rate*float64(time.Second)) + time.Microsecond, true
}

func (c *Clock) describe(out *Time) {
	out.Started = true
	out.Command = c.base + Tick(c.executed)
	out.Predicted = out.Command - Tick(c.delay)
	out.Fraction = float32(min(max(c.predicted-float64(c.executed), 0), 1))
	whole := math.Floor(c.render)
	out.Render = c.base + Tick(int64(whole))
	out.RenderFraction = float32(c.render - whole)
	behind := (c.last - c.arrival.mean() - c.render) / c.rate
	out.Interpolation = time.Duration(max(0, behind) * float64(time.Second))
}
