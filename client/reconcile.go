package client

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/prediction"
)

// reconcile applies the server's state of tick t to the prediction, in four steps. ARCHITECTURE.md has
// a diagram of them, and the reason for their order.
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

// snapshotFinding describes a snapshot in comparison with the prediction for its tick.
type snapshotFinding struct {
	moved   bool               // an entity has another owner, or no save of the tick can be restored
	untold  bool               // it has nothing of the player's own entities
	ahead   bool               // its tick is not predicted yet
	verdict prediction.Verdict // Same if the tick was not compared
}

// compareSnapshot lets the prediction catch up with the snapshot of t, and compares both if they can be
// compared.
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

// course is how the client reacts to a snapshot.
type course uint8

const (
	// toInterpolate raises the events of the ticks up to the snapshot, because nothing is predicted.
	toInterpolate course = iota
	// toRestart replaces the prediction with the server's state and runs all later ticks again. The
	// earlier saves have an entity in another owner's rows, so they cannot be restored.
	toRestart
	// toIgnore leaves the prediction as it is, without a comparison.
	toIgnore
	// toWait leaves it as it is, because the snapshot has nothing to compare with or to start from.
	toWait
	// toStand leaves it as it is, because both ends agree, or the tick is too old to be compared.
	toStand
	// toJump makes the server's state the newest tick, because the prediction has not reached its tick.
	toJump
	// toAmend adds small differences to all ticks from the snapshot's on.
	toAmend
	// toReplay returns to the tick, adopts the server's state, and runs the later ticks again.
	toReplay
)

// decide returns how to react to a snapshot. All special cases are here, in the order of their
// precedence.
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

// correctPrediction carries the decision out. At its end the world has the newest tick again.
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
		c.screen.own.correct()
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
		return // the server's state included its unpredicted components
	case toAmend:
		tl.tester.since = tl.predictor.Tick()
		c.stats.SoftCorrections++
		c.screen.own.correct()
	}
	tl.takeUnpredicted()
}

// settleTick tells the game which events and spawns are now certain, and notes that the ends agree.
func (c *Client) settleTick(t foretick.Tick, do course) {
	tl := &c.timeline
	tl.agreed.settleEvents(t, do == toReplay || do == toRestart)
	tl.settleSpawns(t)
	if do != toIgnore { // without a comparison it is not known
		tl.agreed.agreeOn(t)
	}
}
