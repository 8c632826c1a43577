package client

import (
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
)

// spawnBy implements Frame.SpawnBy on a client.
func (sp *spawning) spawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity {
	if sp.running.Partial {
		return sp.spawnPartly(by, k)
	}
	if !sp.stepping {
		misuse.Panicf("foretick: prefab %q is spawned outside of a tick's systems: on a client only shared systems spawn", k.Name())
	}
	prefab, wire := sp.spawnPrefab(k)
	if !sp.world.Alive(by) {
		return ecs.None
	}
	owner, spawner := sp.world.Owner(by), sp.p.Identity.Find(sp.world, by)
	sp.running.CheckSpawn(by, owner, prefab, sp.ownPrefab(spawner))
	if sp.ghosts.anothers(by) {
		return sp.spawnPassing(prefab, owner)
	}
	if owner != sp.view.Player && owner != ecs.ClientOnly {
		misuse.Panicf("foretick: a shared system spawns prefab %q by %v, which is player %d's: name a spawner of the player whose rows the system was given", k.Name(), by, owner)
	}
	if prefab.ClientOnly() {
		return sp.spawnLocal(prefab)
	}
	key := prediction.SpawnKey{Owner: uint16(sp.view.Player), Tick: sp.frame.Tick, Ordinal: sp.ordinals.Next(by, prefab.Own), Prefab: wire}
	if spawner != nil {
		if key.By = spawner.Origin; key.By == 0 {
			key.By = spawner.Net
		}
	}
	e := sp.handleFor(key.ID(), prefab.Own)
	if ecs.Engine(sp.world).Manager().Place(e, k, sp.view.Player) != nil {
		return ecs.None // it cannot happen: a living entity was spawned in another tick
	}
	*sp.p.Identity.Get(sp.world, e) = game.NetworkID{Net: uint32(sp.wireOf(e)), Prefab: uint16(prefab.Own), Maker: uint16(sp.view.Player), Origin: key.ID()}
	return e
}

// handleFor returns the handle of a spawn: the one from the tick's earlier run, or a new one.
func (sp *spawning) handleFor(id uint32, kind int) ecs.Entity {
	s, ok := sp.waiting.Again(id)
	if ok {
		return s.e
	}
	s = spawned{ecs.Engine(sp.world).Reserve(ecs.RangePredicted, sp.view.Player), kind}
	if sp.practice {
		sp.practised = append(sp.practised, s.e)
		return s.e
	}
	sp.waiting.Add(id, s)
	sp.fresh = append(sp.fresh, s)
	return s.e
}

// spawnLocal makes an entity that no rollback changes. In a replay the entity exists only in the tick.
func (sp *spawning) spawnLocal(k *layout.Prefab) ecs.Entity {
	e := ecs.Engine(sp.world).Manager().SpawnIn(ecs.RangeLocal, k.ECS, ecs.ClientOnly)
	*sp.p.Identity.Get(sp.world, e) = game.NetworkID{Prefab: uint16(k.Own)}
	if sp.clientOnly.ranBefore(sp.frame.Tick) {
		sp.passing = append(sp.passing, e)
	}
	return e
}

// spawnPassing makes an entity that exists only in the tick, for a spawn of a remote player. The server
// sends the real one. The system that runs for the remote player here can still set this one's
// components.
func (sp *spawning) spawnPassing(k *layout.Prefab, owner foretick.PlayerID) ecs.Entity {
	e := ecs.Engine(sp.world).Manager().SpawnIn(ecs.RangeLocal, k.ECS, ecs.Engine(sp.world).Partition(owner))
	*sp.p.Identity.Get(sp.world, e) = game.NetworkID{Prefab: uint16(k.Own)}
	sp.passing = append(sp.passing, e)
	return e
}

// destroyPredicted implements Frame.Destroy on a client.
func (sp *spawning) destroyPredicted(e ecs.Entity) bool {
	if sp.running.Partial { // the whole tick will destroy it
		return sp.world.Alive(e) && (sp.removes(sp.world.Owner(e)) || sp.world.Owner(e) == ecs.ClientOnly)
	}
	if !sp.stepping || !sp.world.Alive(e) {
		return false
	}
	switch owner := sp.world.Owner(e); {
	case owner == ecs.ClientOnly:
		return sp.clientOnly.ranBefore(sp.frame.Tick) || ecs.Engine(sp.world).Manager().Destroy(e)
	case !sp.removes(owner):
		return false
	}
	sp.parents.ReleaseChildren(e, func(child ecs.Entity) bool { return !sp.removes(sp.world.Owner(child)) })
	return ecs.Engine(sp.world).Manager().Destroy(e)
}

// removes reports whether shared systems here may destroy the entities of an owner.
func (sp *spawning) removes(owner foretick.PlayerID) bool {
	return owner == sp.view.Player || owner == ecs.Common && sp.p.Common
}

// beginSpawns is called before the systems of a tick, and endSpawns after them.
func (sp *spawning) beginSpawns(t foretick.Tick) {
	sp.stepping = true
	if !sp.p.Spawning {
		return
	}
	sp.waiting.Begin(t)
	clear(sp.ordinals)
}

func (sp *spawning) endSpawns() {
	sp.stepping = false
	if !sp.p.Spawning {
		return
	}
	for _, e := range sp.passing {
		ecs.Engine(sp.world).Manager().Destroy(e)
	}
	sp.passing = sp.passing[:0]
	if sp.practice {
		return
	}
	sp.waiting.End(func(_ foretick.Tick, s spawned) { sp.cancelSpawn(s) })
	sp.stats.SpawnsPredicted += uint64(len(sp.fresh))
	for _, n := range sp.fresh {
		sp.tellSpawn(sp.spawnConfig(n.kind).OnPredicted, n.e)
	}
	sp.fresh = sp.fresh[:0]
}

// cancelSpawn undoes a spawn that the server, or a replay, did not make.
func (sp *spawning) cancelSpawn(s spawned) {
	sp.stats.SpawnsCancelled++
	sp.bodies.bury(s.e)
	sp.tellSpawn(sp.spawnConfig(s.kind).OnCancelled, s.e)
}

// matchSpawns replaces the predicted entities with the server's.
func (sp *spawning) matchSpawns() {
	if sp.p.Origins.Matched < 0 {
		return
	}
	for _, g := range sp.ghosts.ours {
		if g.Data != 0 {
			continue
		}
		id := sp.ghosts.originOf(g)
		if id == 0 {
			continue
		}
		s, ok := sp.waiting.Match(id)
		if !ok {
			continue
		}
		g.Data = uint64(s.e)
		sp.ghosts.noteBorn()
		sp.matched = append(sp.matched, s)
		sp.named = append(sp.named, naming{e: s.e, wire: g.Wire, until: sp.predictor.Tick() + foretick.Tick(sp.hooks.syncTest), key: id, next: sp.input.sent + 1})
		sp.renameSpawns()
	}
}

// wireOf returns the wire id of a predicted entity. It is 0 while the entity has none.
func (sp *spawning) wireOf(e ecs.Entity) schema.WireID {
	for _, n := range sp.named {
		if n.e == e {
			return n.wire
		}
	}
	return 0
}

// renameSpawns gives entities their wire ids in a world that was saved before they had them.
func (sp *spawning) renameSpawns() {
	for _, n := range sp.named {
		if id := sp.p.Identity.Find(sp.world, n.e); id != nil {
			id.Net = uint32(n.wire)
		}
	}
}

// noteGone remembers the entities that prediction has destroyed, before a correction that may bring
// them back: with the save that is loaded, with the server's state, or in a replay.
func (sp *spawning) noteGone(t foretick.Tick) {
	sp.gone = sp.gone[:0]
	for _, g := range sp.ghosts.ours {
		if e := ecs.Entity(g.Data); e != 0 && !sp.world.Alive(e) && (g.Gone == 0 || int32(g.Gone-t) > 0) {
			sp.gone = append(sp.gone, e)
		}
	}
	for n := range sp.waiting.All() { // the server does not have them yet
		if !sp.world.Alive(n.e) {
			sp.gone = append(sp.gone, n.e)
		}
	}
}

// noteBack notes which of them are alive again, so that their hooks are called.
func (sp *spawning) noteBack() {
	for _, e := range sp.gone {
		if sp.world.Alive(e) && !slices.Contains(sp.restored, e) {
			sp.restored = append(sp.restored, e)
		}
	}
}

// settleSpawns compares the spawns and destroys up to tick t with the server's state of t.
func (sp *spawning) settleSpawns(t foretick.Tick) {
	for _, n := range sp.matched {
		sp.stats.SpawnsMatched++
		sp.tellSpawn(sp.spawnConfig(n.kind).OnConfirmed, n.e)
	}
	sp.matched = sp.matched[:0]
	if sp.waiting.Len() == 0 {
	} else if _, _, own := sp.ghosts.receiver.Complete(t); own {
		sp.waiting.Settle(t, uint32(sp.hooks.syncTest), func(_ foretick.Tick, n spawned) { sp.settleMissing(t, n) })
	} else {
		sp.waiting.Forget(t, uint32(sp.hooks.syncTest))
	}
	for _, e := range sp.restored {
		if k := sp.ownPrefab(sp.p.Identity.Find(sp.world, e)); k != nil {
			sp.tellSpawn(sp.spawnConfig(k.Own).OnRestored, e)
		}
	}
	sp.restored = sp.restored[:0]
	for _, g := range sp.ghosts.ours {
		if g.Gone == 0 {
			continue
		}
		if int32(g.Gone-t) > 0 || g.Data != 0 && sp.world.Alive(ecs.Entity(g.Data)) {
			continue
		}
		if g.Data != 0 { // it was predicted to be gone, and is gone
			sp.bodies.bury(ecs.Entity(g.Data))
			g.Data = 0
		}
		sp.ghosts.released = append(sp.ghosts.released, g)
	}
}

// forgetNamed forgets the names that all predictions which are still to be compared have.
func (sp *spawning) forgetNamed(t foretick.Tick) {
	live := sp.named[:0]
	for i := range sp.named {
		n := &sp.named[i]
		if n.known = n.known || sp.scenes.comparedSince(n.next, n.until, t); int32(n.until-t) >= 0 || !n.known {
			live = append(live, *n)
		}
	}
	sp.named = live
}

// settleMissing handles a predicted spawn that the server does not have at t.
func (sp *spawning) settleMissing(t foretick.Tick, n spawned) {
	if r := sp.records.Find(t); r != nil && !r.hasEntity(n.e) { // prediction had destroyed it
		sp.bodies.bury(n.e)
		sp.tellSpawn(sp.spawnConfig(n.kind).OnConfirmed, n.e)
		return
	}
	sp.cancelSpawn(n)
}

// clearSpawns forgets all spawns of this client, when a level begins.
func (sp *spawning) clearSpawns() {
	sp.waiting.Clear(func(_ foretick.Tick, s spawned) { sp.cancelSpawn(s) })
	sp.fresh, sp.matched, sp.restored, sp.named = sp.fresh[:0], sp.matched[:0], sp.restored[:0], sp.named[:0]
	if sp.p.ClientOnly {
		ecs.Engine(sp.world).Manager().ReleaseOwner(ecs.ClientOnly)
	}
	sp.clientOnly.lived = 0
}

// spawning is the client's part of predicted spawns and despawns.
type spawning struct {
	*base
	input      *input
	ghosts     *ghosts
	scenes     *scenes
	bodies     *bodies
	clientOnly *localEntities
	records    *prediction.History[record]
	parents    *game.Hierarchy
	predictor  *prediction.Predictor

	stepping bool // a tick's systems run
	waiting  prediction.Spawns[spawned]
	ordinals game.Ordinals
	fresh    []spawned    // entities that the running tick spawned for the first time
	passing  []ecs.Entity // entities that exist only in this tick
	// matched has the matches since the last snapshot, whose hooks have to be called.
	matched   []spawned
	gone      []ecs.Entity // entities that prediction destroyed before a correction
	restored  []ecs.Entity
	named     []naming // entities that were matched not long ago
	practised []ecs.Entity
	next      int // spawnOf begins its search here
}

// spawned is a predicted entity that the server has not confirmed yet.
type spawned struct {
	e    ecs.Entity
	kind int
}

// naming is the wire id of an entity that was matched after some of its saves were made.
type naming struct {
	e     ecs.Entity
	wire  schema.WireID
	until foretick.Tick
	key   uint32      // the spawn key that the entity was predicted with
	next  netcode.Seq // the first packet sent after the match
	// known is true once ticks were compared for which the server sent references to the entity.
	known bool
}

// spawnOf returns the entity that was spawned here with a key. It is None if the client no longer has
// the key.
func (sp *spawning) spawnOf(key uint32) ecs.Entity {
	if s, _, ok := sp.waiting.Find(key); ok {
		return s.e
	}
	for i := range sp.ghosts.ours { // callers visit them in the same order in each frame
		k := (sp.next + i) % len(sp.ghosts.ours)
		if sp.ghosts.originOf(sp.ghosts.ours[k]) == key {
			sp.next = k
			return ecs.Entity(sp.ghosts.ours[k].Data)
		}
	}
	return ecs.None
}

// untoldSpawn reports whether the server may have had a reference in t to the entity spawned here with
// a key, without sending it.
func (sp *spawning) untoldSpawn(key uint32, t foretick.Tick) bool {
	if _, k, ok := sp.waiting.Find(key); ok && !sp.matchedBy(key) {
		_, _, own := sp.ghosts.receiver.Complete(t)
		return !own || int32(k-t) > 0
	}
	for i := range sp.named {
		if n := &sp.named[i]; n.key == key {
			return !sp.input.knownSince(n.next)
		}
	}
	return false
}

// matchedBy reports whether the server has confirmed the spawn with a key.
func (sp *spawning) matchedBy(key uint32) bool {
	for i := range sp.named {
		if sp.named[i].key == key {
			return true
		}
	}
	return false
}

// forgetPractised frees the handles of a tick that ran as a trial.
func (sp *spawning) forgetPractised() {
	for _, e := range sp.practised {
		ecs.Engine(sp.world).Unreserve(e)
	}
	sp.practised = sp.practised[:0]
}

// quietSpawns reports whether the newest ticks neither spawned nor destroyed anything.
func (sp *spawning) quietSpawns() bool {
	return sp.waiting.Len() == 0 && len(sp.named) == 0 && len(sp.bodies.retired) == 0 && len(sp.gone) == 0
}

// spawnPartly makes an entity that exists only while a partial tick runs.
func (sp *spawning) spawnPartly(by ecs.Entity, k *ecs.Prefab) ecs.Entity {
	prefab, _ := sp.spawnPrefab(k)
	if !sp.world.Alive(by) {
		return ecs.None
	}
	return sp.spawnPassing(prefab, sp.world.Owner(by))
}
