package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// jump restarts the prediction from the newest snapshot: at the start, and after a stall.
// No commands are made for the ticks between.
func (tl *timeline) jump(to Tick) {
	for _, q := range tl.frame.queues {
		q.cancel(&tl.frame)
	}
	newest, _ := tl.ghosts.receiver.Newest()
	tl.match()
	tl.spawning.waiting.Open(func(k Tick, s spawned) bool {
		if int32(k-newest) > 0 { // its tick runs again
			tl.world.Manager().Destroy(s.e)
		}
		return true
	})
	tl.stashLocals()
	tl.Adopt(newest)
	tl.predictor.Start(newest)
	tl.putLocals()
	tl.settle(newest)
	tl.tester.since = newest
	tl.agreed.clear()
	tl.agree(newest)
	tl.ghosts.othersNewest()
	for int32(to-tl.predictor.Tick()) > 0 {
		tl.predictor.Advance()
	}
}

// movedGhost is a ghost whose change of owner came with a snapshot older than the newest, to
// which no prediction is compared.
type movedGhost struct {
	wire     schema.WireID
	born     Tick
	switched bool
}

// noteMoved notes those of the snapshot just read.
func (tl *timeline) noteMoved() {
	for _, ch := range tl.ghosts.receiver.Changes() {
		if switched := tl.ghosts.switched(ch.Ghost); (switched || ch.Transferred) && !tl.movesLater(ch.Ghost) {
			tl.moved = append(tl.moved, movedGhost{ch.Ghost.Wire, ch.Ghost.Born, switched})
		}
	}
	if len(tl.moved) > 0 {
		tl.gather()
		tl.tester.since = tl.predictor.Tick() // earlier ticks ran with others
	}
}

// movesLater reports whether the next correction has to move the ghost's entity. Until then it
// stays where it is, and may live and die with those that are predicted here.
func (tl *timeline) movesLater(g *snapshot.Ghost) bool {
	return slices.ContainsFunc(tl.moved, func(m movedGhost) bool { return m.wire == g.Wire && m.born == g.Born })
}

// transferred moves entities with a new owner into that owner's rows, in the world as it
// was at t. It reports whether the prediction knew any of them.
func (tl *timeline) transferred(t Tick) bool {
	any := false
	move := func(g *snapshot.Ghost, switched bool) {
		if g.Data == 0 {
			return
		}
		if switched {
			tl.slides.begin(ecs.Entity(g.Data))
		}
		if slot, ok := tl.predictor.Slot(t); ok && !any && tl.restorable(t) {
			tl.Load(slot, t)
		}
		any = true
		// A stale handle is no fault here: the ghost is then born again.
		if tl.world.Transfer(ecs.Entity(g.Data), tl.ghosts.partOf(g)) != nil {
			tl.bury(ecs.Entity(g.Data))
			g.Data = 0
		}
	}
	for _, ch := range tl.ghosts.receiver.Changes() {
		if switched := tl.ghosts.switched(ch.Ghost); switched || ch.Transferred {
			move(ch.Ghost, switched)
		}
	}
	for _, m := range tl.moved {
		for _, g := range tl.ghosts.receiver.Ghosts() { // it may be gone since
			if g.Wire == m.wire && g.Born == m.born {
				move(g, m.switched)
			}
		}
	}
	if len(tl.moved) > 0 {
		tl.moved = tl.moved[:0]
		tl.gather()
	}
	return any
}

// restorable reports whether the save of a tick, if there is one, can be used. A change of
// an entity's owner voids all earlier saves.
func (tl *timeline) restorable(t Tick) bool {
	slot, ok := tl.predictor.Slot(t)
	if !ok || tl.cfg.NoPrediction {
		return true
	}
	for i := range tl.saves.remotes { // of one who is new here no save holds anything
		if o := &tl.saves.remotes[i]; o.voids(slot) {
			return false
		}
	}
	return tl.saves.own.Holds(slot) && (!tl.p.Common || tl.saves.common.Holds(slot))
}
