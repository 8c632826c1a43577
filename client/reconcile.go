package client

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/prediction"
)

// reconcile takes the server's state of tick t into the prediction, in four steps. ARCHITECTURE.md
// has their picture, and says why they have this order.
func (c *Client) reconcile(t foretick.Tick) {
	if !c.timeline.predictor.Started() {
		return
	}
	defer c.timeline.row.Give()
	found := c.compareSnapshot(t)
	do := c.decide(found)
	c.correctPrediction(t, do)
	c.settleTick(t, do)
}

// snapshotFinding is what a snapshot says of the prediction for its tick.
type snapshotFinding struct {
	moved   bool               // an entity has another owner, or no save of the tick can be restored
	untold  bool               // it tells nothing of the player's own entities
	ahead   bool               // its tick is not predicted yet
	verdict prediction.Verdict // Same for a tick that was not compared
}

// compareSnapshot brings the prediction and the snapshot of t together, and compares them where
// they can be compared.
func (c *Client) compareSnapshot(t foretick.Tick) (f snapshotFinding) {
	tl := &c.timeline
	if c.cfg.NoPrediction {
		f.moved = tl.transferred(t)
		return f
	}
	c.catchUp(t)
	tl.spawning.matchSpawns()
	tl.spawning.noteGone(t)
	f.moved = tl.transferred(t) || !tl.saves.restorable(t)
	f.untold = !c.tellsOwn(t)
	f.ahead = int32(t-tl.predictor.Tick()) > 0
	tl.comparison.own, tl.comparison.verdict = prediction.Same, prediction.Same
	if _, saved := tl.predictor.Slot(t); saved && !f.moved && !f.untold && !f.ahead && !c.techniques.NoReconciliation {
		tl.comparison.compareTick(t)
		c.stats.Compared++
	}
	f.verdict = tl.comparison.verdict
	return f
}

// course is what is done about a snapshot.
type course uint8

const (
	// toInterpolate raises the events of the ticks up to the snapshot: nothing is predicted.
	toInterpolate course = iota
	// toRestart replaces the prediction by the server's state and runs all ticks since again: the
	// saves from before have an entity in another owner's rows, and cannot be restored.
	toRestart
	// toIgnore leaves the prediction as it is, although nobody compared it.
	toIgnore
	// toWait leaves it as it is too: there is nothing to compare with, and nothing to start from.
	toWait
	// toStand leaves it as it is: both ends agree, or the tick is too old to be compared.
	toStand
	// toJump takes the server's state as the newest tick: the prediction is not that far.
	toJump
	// toAmend adds small differences to every tick since.
	toAmend
	// toReplay goes back to the tick, adopts the server's state, and runs the ticks since again.
	toReplay
)

// decide returns what to do about a snapshot. All special cases are here, the strongest first.
func (c *Client) decide(f snapshotFinding) course {
	switch {
	case c.cfg.NoPrediction:
		return toInterpolate
	case f.moved:
		return toRestart
	case c.techniques.NoReconciliation:
		return toIgnore
	case f.untold:
		return toWait
	case f.ahead:
		return toJump
	case f.verdict == prediction.Different:
		return toReplay
	case f.verdict == prediction.Near:
		return toAmend
	}
	return toStand
}

// correctPrediction does it. At its end the world holds the newest tick again.
func (c *Client) correctPrediction(t foretick.Tick, do course) {
	tl := &c.timeline
	switch do {
	case toInterpolate:
		tl.actUpTo(t)
		return
	case toIgnore, toWait:
		tl.takeUnpredicted()
		return
	case toRestart:
		tl.restartFrom(t)
		c.screen.own.fades.clearFades()
		return
	case toJump, toAmend, toReplay:
		tl.predictor.Reconcile(t, tl)
	}
	if tl.saves.putLocals() {
		tl.predictor.Rewrite()
	}
	tl.spawning.noteBack()
	tl.comparison.countShown(t)
	switch do {
	case toReplay:
		tl.tester.since = t
		tl.corrected(t)
		c.screen.own.correct()
		return // the server's state had its unpredicted components
	case toAmend:
		tl.tester.since = tl.predictor.Tick()
		c.stats.SoftCorrections++
		c.screen.own.correct()
	}
	tl.takeUnpredicted()
}

// settleTick tells the game what is certain now of events and spawns, and notes on what the ends
// agree.
func (c *Client) settleTick(t foretick.Tick, do course) {
	tl := &c.timeline
	tl.agreed.settleEvents(t, do == toReplay || do == toRestart)
	tl.settleSpawns(t)
	if do != toIgnore { // then nobody knows
		tl.agreed.agreeOn(t)
	}
}
