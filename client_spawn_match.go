package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
)

// match lets the server's entities replace the predicted ones.
func (tl *timeline) match() {
	if tl.p.Origins.Matched < 0 {
		return
	}
	for _, g := range tl.ghosts.ours {
		if g.Data != 0 {
			continue
		}
		id := tl.ghosts.originOf(g)
		if id == 0 {
			continue
		}
		s, ok := tl.spawning.waiting.Match(id)
		if !ok {
			continue
		}
		g.Data = uint64(s.e)
		tl.bornHere()
		tl.spawning.matched = append(tl.spawning.matched, s)
		tl.spawning.named = append(tl.spawning.named, naming{e: s.e, wire: g.Wire, until: tl.predictor.Tick() + Tick(tl.hooks.syncTest), key: id, next: tl.input.sent + 1})
		tl.rename()
	}
}

// nameOf returns the wire id of a predicted entity, 0 while it has none.
func (tl *timeline) nameOf(e ecs.Entity) schema.WireID {
	for _, n := range tl.spawning.named {
		if n.e == e {
			return n.wire
		}
	}
	return 0
}

// rename gives entities their wire ids in a world that was saved before they had
// them.
func (tl *timeline) rename() {
	for _, n := range tl.spawning.named {
		if id := tl.p.identity.Find(tl.world, n.e); id != nil {
			id.Net = uint32(n.wire)
		}
	}
}

// noteGone remembers the entities that prediction has destroyed, before a correction that
// may bring them back. They come back with the save that is loaded, with the server's
// state, or in a replay.
func (tl *timeline) noteGone(t Tick) {
	s := &tl.spawning
	s.gone = s.gone[:0]
	for _, g := range tl.ghosts.ours {
		if e := ecs.Entity(g.Data); e != 0 && !tl.world.Alive(e) && (g.Gone == 0 || int32(g.Gone-t) > 0) {
			s.gone = append(s.gone, e)
		}
	}
	for n := range tl.spawning.waiting.All() { // not the server's yet
		if !tl.world.Alive(n.e) {
			s.gone = append(s.gone, n.e)
		}
	}
}

// noteBack notes which of them live again, so that hooks are called.
func (tl *timeline) noteBack() {
	s := &tl.spawning
	for _, e := range s.gone {
		if tl.world.Alive(e) && !slices.Contains(s.restored, e) {
			s.restored = append(s.restored, e)
		}
	}
}

// settle compares the spawns and destroys up to tick t with the server's state of t.
func (tl *timeline) settle(t Tick) {
	s := &tl.spawning
	for _, n := range s.matched {
		tl.stats.SpawnsMatched++
		tl.tellSpawn(tl.spawnConfig(n.kind).OnConfirmed, n.e)
	}
	s.matched = s.matched[:0]
	if tl.spawning.waiting.Len() == 0 {
	} else if _, _, own := tl.ghosts.receiver.Complete(t); own {
		tl.spawning.waiting.Settle(t, uint32(tl.hooks.syncTest), func(_ Tick, n spawned) { tl.missing(t, n) })
	} else {
		tl.spawning.waiting.Forget(t, uint32(tl.hooks.syncTest))
	}
	for _, e := range s.restored {
		if k := tl.ownPrefab(tl.p.identity.Find(tl.world, e)); k != nil {
			tl.tellSpawn(tl.spawnConfig(k.Own).OnRestored, e)
		}
	}
	s.restored = s.restored[:0]
	for _, g := range tl.ghosts.ours {
		if g.Gone == 0 {
			continue
		}
		if int32(g.Gone-t) > 0 || g.Data != 0 && tl.world.Alive(ecs.Entity(g.Data)) {
			continue
		}
		if g.Data != 0 { // predicted to be gone, and so it is
			tl.bury(ecs.Entity(g.Data))
			g.Data = 0
		}
		tl.ghosts.released = append(tl.ghosts.released, g)
	}
	if len(tl.ghosts.released) > 0 {
		tl.release()
	}
	live := s.named[:0]
	for i := range s.named {
		n := &s.named[i]
		if n.known = n.known || tl.comparedSince(n.next, n.until, t); int32(n.until-t) >= 0 || !n.known {
			live = append(live, *n)
		}
	}
	s.named = live
	tl.forgetAppeared(t)
	if len(s.retired) > 0 {
		tl.exhume()
	}
}

// missing handles a predicted spawn that the server, at t, does not have.
func (tl *timeline) missing(t Tick, n spawned) {
	if r := tl.records.Find(t); r != nil && !r.has(n.e) { // prediction had ended it
		tl.bury(n.e)
		tl.tellSpawn(tl.spawnConfig(n.kind).OnConfirmed, n.e)
		return
	}
	tl.cancelled(n)
}

// clearSpawns forgets everything spawned here, at the begin of a level.
func (tl *timeline) clearSpawns() {
	tl.spawning.waiting.Clear(func(_ Tick, s spawned) { tl.cancelled(s) })
	s := &tl.spawning
	s.fresh, s.matched, s.restored, s.named = s.fresh[:0], s.matched[:0], s.restored[:0], s.named[:0]
	if tl.p.ClientOnly {
		tl.world.Manager().ReleaseOwner(ecs.ClientOnly)
	}
	tl.clientOnly.lived = 0
	tl.locals.clear()
}
