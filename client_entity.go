package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// gather lists the ghosts that are predicted here, in the receiver's order, so that
// predicting does not visit all others.
func (tl *timeline) gather() {
	tl.ghosts.ours = tl.ghosts.ours[:0]
	for _, g := range tl.ghosts.receiver.Ghosts() {
		if tl.ghosts.ahead(g) && (g.Data == 0 || !tl.movesLater(g)) {
			tl.ghosts.ours = append(tl.ghosts.ours, g)
		}
	}
	tl.gatherOthers()
}

// predictedHere lists the entities that are predicted here: first those that the server
// has, then those that it has not confirmed yet. Some may not exist in the current tick.
// The list is valid until the next call.
func (tl *timeline) predictedHere() []ecs.Entity {
	tl.scratch.entities = tl.scratch.entities[:0]
	for _, g := range tl.ghosts.ours {
		if g.Data != 0 {
			tl.scratch.entities = append(tl.scratch.entities, ecs.Entity(g.Data))
		}
	}
	if tl.hooks.syncTest > 0 { // what has died is there again when its ticks are
		for _, r := range tl.spawning.retired {
			tl.scratch.entities = append(tl.scratch.entities, r.e)
		}
	}
	if tl.spawning.waiting.Len() == 0 {
		return tl.scratch.entities
	}
	tl.spawning.waiting.Open(func(_ Tick, s spawned) bool {
		tl.scratch.entities = append(tl.scratch.entities, s.e)
		return true
	})
	return tl.scratch.entities
}

// birth makes the local entity of a ghost.
func (tl *timeline) birth(g *snapshot.Ghost) {
	k := &tl.p.Prefabs[g.Prefab]
	e := tl.world.Manager().Spawn(k.ECS, tl.ghosts.partOf(g))
	*tl.p.identity.Get(tl.world, e) = networkID{Net: uint32(g.Wire), Prefab: uint16(k.Own)}
	g.Data = uint64(e)
	tl.noteAppeared(g)
	tl.bornHere()
}

// noteAppeared remembers for a while that a ghost has an entity only since now, where
// references or systems may concern it.
func (tl *timeline) noteAppeared(g *snapshot.Ghost) {
	if tl.p.PredictedRefs || tl.p.Unpredicted.Refs || len(tl.ghosts.others) > 0 {
		tl.scenes++
		tl.appeared = append(tl.appeared, appeared{wire: g.Wire, tick: tl.input.sampled, next: tl.input.sent + 1, scene: tl.scenes})
	}
}

// noteUndrawn remembers for a while that a ghost was drawn longer than the server had it,
// for ticks whose systems read it here.
func (tl *timeline) noteUndrawn(g *snapshot.Ghost) {
	if len(tl.ghosts.others) > 0 {
		tl.scenes++
		d := undrawn{owner: g.Owner, gone: g.Gone, until: tl.predictor.Tick(), scene: tl.scenes}
		for k, i := range tl.ghosts.others {
			if tl.ghosts.has(g, g.Gone, tl.ghosts.others[k:k+1]) {
				d.had[i/64] |= 1 << (i % 64)
			}
		}
		tl.undrawn = append(tl.undrawn, d)
	}
}

// drawnOtherwise finds a ghost with one of some components that was drawn while tick t was
// predicted, as r, and that the server no longer had in it, or that was not drawn yet.
func (tl *timeline) drawnOtherwise(t Tick, r *record, components []int) (owner uint16, ok bool) {
	for _, d := range tl.undrawn {
		if int32(d.gone-t) <= 0 && d.scene > r.scene && slices.ContainsFunc(components, func(i int) bool { return d.had[i/64]>>(i%64)&1 != 0 }) {
			return d.owner, true
		}
	}
	for _, a := range tl.appeared {
		if g := tl.ghosts.receiver.Find(a.wire); g != nil && a.scene > r.scene && int32(g.Born-t) <= 0 && !tl.ghosts.ahead(g) && tl.ghosts.has(g, t, components) {
			return g.Owner, true
		}
	}
	return 0, false
}

// missed lets the next frame make those entities of remote players again that the game
// destroyed between two frames, for example with a parent of its own. Entities that are
// predicted here come back with the save that ends a frame's drawing.
func (tl *timeline) missed() {
	if tl.ghosts.receiver == nil {
		return
	}
	for _, g := range tl.ghosts.receiver.Ghosts() {
		if e := ecs.Entity(g.Data); e != 0 && !tl.world.Alive(e) && !tl.ghosts.ahead(g) && !tl.movesLater(g) {
			tl.bury(e)
			g.Data = 0
			tl.othersCame()
		}
	}
}

// release returns ghosts that are no longer drawn.
func (tl *timeline) release() {
	for _, g := range tl.ghosts.released {
		tl.ghosts.receiver.Release(g)
	}
	if len(tl.ghosts.released) > 0 {
		tl.gather()
	}
	tl.ghosts.released = tl.ghosts.released[:0]
}

// embody gives one of our ghosts an entity: a new one, or the one that prediction had
// destroyed, under its old handle.
func (tl *timeline) embody(g *snapshot.Ghost) {
	e, owner := ecs.Entity(g.Data), tl.ghosts.partOf(g)
	if e != 0 && tl.world.Alive(e) {
		return
	}
	k := tl.p.Prefabs[g.Prefab].ECS // not nil: what is alien is not ours
	if e != 0 && tl.world.Manager().Place(e, k, owner) == nil {
		tl.spawning.restored = append(tl.spawning.restored, e)
	} else {
		e = tl.world.Reserve(ecs.RangeServer, owner)
		if tl.world.Manager().Place(e, k, owner) != nil {
			e = tl.world.Manager().Spawn(k, owner)
		}
		g.Data = uint64(e)
		tl.noteAppeared(g)
	}
	id := networkID{Net: uint32(g.Wire), Prefab: uint16(tl.p.Prefabs[g.Prefab].Own), origin: tl.ghosts.originOf(g)}
	if id.origin != 0 {
		id.maker = uint16(tl.view.Player)
	}
	*tl.p.identity.Get(tl.world, e) = id
	tl.bornHere()
}

// bury destroys an entity that no correction can bring back. Its handle is used again once
// no save has it.
func (tl *timeline) bury(e ecs.Entity) {
	tl.parents.release(e, func(ecs.Entity) bool { return true })
	tl.world.Manager().Destroy(e)
	tl.spawning.retired = append(tl.spawning.retired, retired{e, tl.predictor.Tick()})
}

// exhume frees handles that no save has any longer.
func (tl *timeline) exhume() {
	s := &tl.spawning
	n := 0
	for n < len(s.retired) && int32(tl.predictor.Tick()-s.retired[n].tick) > int32(tl.cfg.History) {
		tl.world.Unreserve(s.retired[n].e)
		tl.locals.forget(s.retired[n].e)
		n++
	}
	s.retired = s.retired[:copy(s.retired, s.retired[n:])]
}

// stashLocals saves the local components before the first save is loaded.
func (tl *timeline) stashLocals() {
	if tl.locals.due() {
		tl.locals.stash(tl.predictedHere())
	}
}

// putLocals restores them. It reports whether components came or went.
func (tl *timeline) putLocals() (moved bool) {
	return tl.locals.stashed && tl.locals.put(tl.predictedHere())
}

// undrawClientOnly replaces the drawn values with the simulated ones.
func (tl *timeline) undrawClientOnly() {
	if tl.p.ClientOnly && tl.clientOnly.kept.Holds(0) {
		tl.clientOnly.kept.Restore(0)
	}
}

func (tl *timeline) clientOnlyCount() int {
	n := 0
	if tl.p.ClientOnly {
		for _, rows := range tl.clientOnly.query.Owned(tl.world, ecs.ClientOnly) {
			n += rows.Len()
		}
	}
	return n
}
