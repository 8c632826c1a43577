package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/prediction"
)

// spawnBy is Frame.SpawnBy on a client.
func (tl *timeline) spawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity {
	if tl.frame.partial {
		return tl.spawnPartly(by, k)
	}
	if !tl.spawning.stepping {
		misuse("prefab %q is spawned outside of a tick's systems: on a client only shared systems spawn", k.Name())
	}
	prefab, wire := tl.spawnPrefab(k)
	if !tl.world.Alive(by) {
		return ecs.None
	}
	owner, spawner := tl.world.Owner(by), tl.p.identity.Find(tl.world, by)
	tl.frame.checkSpawn(by, owner, prefab, tl.ownPrefab(spawner))
	if tl.ghosts.anothers(by) {
		return tl.spawnPassing(prefab, owner)
	}
	if owner != tl.view.Player && owner != ecs.ClientOnly {
		misuse("a shared system spawns prefab %q by %v, which is player %d's: name a spawner of the player whose rows the system was given", k.Name(), by, owner)
	}
	if prefab.ClientOnly() {
		return tl.spawnLocal(prefab)
	}
	key := prediction.SpawnKey{Owner: uint16(tl.view.Player), Tick: tl.frame.Tick, Ordinal: tl.spawning.ordinals.next(by, prefab.Own), Prefab: wire}
	if spawner != nil {
		if key.By = spawner.origin; key.By == 0 {
			key.By = spawner.Net
		}
	}
	e := tl.handleFor(key.ID(), prefab.Own)
	if tl.world.Manager().Place(e, k, tl.view.Player) != nil {
		return ecs.None // cannot be: what is alive was spawned in another tick
	}
	*tl.p.identity.Get(tl.world, e) = networkID{Net: uint32(tl.nameOf(e)), Prefab: uint16(prefab.Own), maker: uint16(tl.view.Player), origin: key.ID()}
	return e
}

// handleFor returns the handle of a spawn: that of the tick's earlier run, or a new one.
func (tl *timeline) handleFor(id uint32, kind int) ecs.Entity {
	s, ok := tl.spawning.waiting.Again(id)
	if ok {
		return s.e
	}
	s = spawned{tl.world.Reserve(ecs.RangePredicted, tl.view.Player), kind}
	if tl.tester.replay {
		tl.spawning.practised = append(tl.spawning.practised, s.e)
		return s.e
	}
	tl.spawning.waiting.Add(id, s)
	tl.spawning.fresh = append(tl.spawning.fresh, s)
	return s.e
}

// spawnLocal makes an entity that no rollback touches. In a replay the entity lasts for the
// tick only.
func (tl *timeline) spawnLocal(k *layout.Prefab) ecs.Entity {
	e := tl.world.Manager().SpawnIn(ecs.RangeLocal, k.ECS, ecs.ClientOnly)
	*tl.p.identity.Get(tl.world, e) = networkID{Prefab: uint16(k.Own)}
	if tl.again(tl.frame.Tick) {
		tl.spawning.passing = append(tl.spawning.passing, e)
	}
	return e
}

// spawnPassing makes an entity that lasts for the tick only, for a spawn of a remote
// player. The server sends the real one. The system that runs for the remote player here
// can still fill this one.
func (tl *timeline) spawnPassing(k *layout.Prefab, owner PlayerID) ecs.Entity {
	e := tl.world.Manager().SpawnIn(ecs.RangeLocal, k.ECS, tl.world.Partition(owner))
	*tl.p.identity.Get(tl.world, e) = networkID{Prefab: uint16(k.Own)}
	tl.spawning.passing = append(tl.spawning.passing, e)
	return e
}

// destroy is Frame.Destroy on a client.
func (tl *timeline) destroy(e ecs.Entity) bool {
	if tl.frame.partial { // the whole tick destroys it
		return tl.world.Alive(e) && (tl.removes(tl.world.Owner(e)) || tl.world.Owner(e) == ecs.ClientOnly)
	}
	if !tl.spawning.stepping || !tl.world.Alive(e) {
		return false
	}
	switch owner := tl.world.Owner(e); {
	case owner == ecs.ClientOnly:
		return tl.again(tl.frame.Tick) || tl.world.Manager().Destroy(e)
	case !tl.removes(owner):
		return false
	}
	tl.parents.release(e, func(child ecs.Entity) bool { return !tl.removes(tl.world.Owner(child)) })
	return tl.world.Manager().Destroy(e)
}

// removes reports whether shared systems here may destroy the entities of an owner.
func (tl *timeline) removes(owner PlayerID) bool {
	return owner == tl.view.Player || owner == ecs.Common && tl.p.Common
}

// beginSpawns and endSpawns are around the systems of a tick.
func (tl *timeline) beginSpawns(t Tick) {
	tl.spawning.stepping = true
	if !tl.p.Spawning {
		return
	}
	tl.spawning.waiting.Begin(t)
	clear(tl.spawning.ordinals)
}

func (tl *timeline) endSpawns() {
	tl.spawning.stepping = false
	if !tl.p.Spawning {
		return
	}
	s := &tl.spawning
	for _, e := range s.passing {
		tl.world.Manager().Destroy(e)
	}
	s.passing = s.passing[:0]
	if tl.tester.replay {
		return
	}
	tl.spawning.waiting.End(func(_ Tick, s spawned) { tl.cancelled(s) })
	tl.stats.SpawnsPredicted += uint64(len(s.fresh))
	for _, n := range s.fresh {
		tl.tellSpawn(tl.spawnConfig(n.kind).OnPredicted, n.e)
	}
	s.fresh = s.fresh[:0]
}

// cancelled undoes a spawn that the server, or a replay, did not make.
func (tl *timeline) cancelled(s spawned) {
	tl.stats.SpawnsCancelled++
	tl.bury(s.e)
	tl.tellSpawn(tl.spawnConfig(s.kind).OnCancelled, s.e)
}
