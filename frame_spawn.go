package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
)

// ordinals counts how many entities of a prefab an entity spawned within a tick.
type ordinals map[ordinalKey]uint16

type ordinalKey struct {
	by   ecs.Entity
	kind uint16
}

func (o ordinals) next(by ecs.Entity, kind int) uint16 {
	k := ordinalKey{by, uint16(kind)}
	n := o[k]
	o[k] = n + 1
	return n
}

// act wraps a shared system that may spawn, so that it is known on whose behalf.
func act(run func(*Frame, ecs.Rows)) func(*Frame, ecs.Rows) {
	return func(f *Frame, rows ecs.Rows) {
		f.spawner = spawnContext{on: true, once: rows.Len() == 0}
		if !f.spawner.once {
			f.spawner.owner = rows.Owner()
		}
		if f.server == nil {
			run(f, rows)
		} else {
			first := f.server.deferred()
			run(f, rows)
			f.server.afterChanges(first, rows)
		}
		f.spawner = spawnContext{}
	}
}

// SpawnBy creates an entity of a declared prefab, with the prefab's defaults. by is the
// entity that spawns it, and its owner owns the new entity: a player's body spawns a
// rocket, and a rocket spawns ten fragments. It returns None when by is gone. The
// components can be accessed at once. Queries find the entity from the next system on.
//
// In a shared system the owner's client spawns the entity as well, ahead of the server. It
// is matched with the server's entity by the tick, the spawner, and its number among those
// of the prefab that the spawner spawned in the tick. Declare the prefab with
// [Protocol.Spawns] and the system with [ecs.Create]. by must be an entity of the player
// whose rows the system was given. Otherwise SpawnBy panics with [UsageError]. Outside of
// shared systems, on the server, it does the same as [Frame.Spawn].
//
// On a client that predicts other players (see [PredictRemote]), an entity spawned by a
// remote player's avatar lasts for that tick only. The server's entity follows.
//
// In a replay, an entity with [SpawnConfig].ClientOnly lasts for that tick only. The one
// from the first run stays unchanged.
func (f *Frame) SpawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity {
	if f.server == nil {
		return f.client.spawnBy(by, k)
	}
	return f.server.spawnBy(by, k)
}

// checkSpawn refuses what cannot be predicted, alike on both ends.
func (f *Frame) checkSpawn(by ecs.Entity, owner PlayerID, prefab *layout.Prefab, spawner *layout.Prefab) {
	name := prefab.ECS.Name()
	switch {
	case prefab.Spawn == layout.NotSpawned:
		misuse("%s spawns prefab %q: declare it with Protocol.Spawns, or let a Server system spawn it", f.shared, name)
	case !f.spawner.on:
		misuse("%s spawns prefab %q without saying so: declare it on the system with ecs.Create", f.shared, name)
	case owner == ecs.Nobody || owner == ecs.Common:
		misuse("%s spawns prefab %q by %v, which nobody owns: only what a player owns can spawn ahead of the server; let a Server system do it", f.shared, name, by)
	case !f.spawner.once && owner != f.spawner.owner:
		misuse("%s was given rows of player %d and spawns prefab %q by %v, which is player %d's: name a spawner among the system's own rows", f.shared, f.spawner.owner, name, by, owner)
	case prefab.Matched() && spawner != nil && spawner.ClientOnly():
		misuse("a ClientOnly entity of prefab %q spawns prefab %q, which is not: the server's has no counterpart on the client; make both ClientOnly", spawner.ECS.Name(), name)
	}
}

const fixSpawn = "use SpawnBy with the entity that spawns it, which both ends know, or let a Server system do it"

// pushing wraps a shared system that may write others' rows, so that each write is
// attributed to the player it ran for.
func pushing(run func(*Frame, ecs.Rows)) func(*Frame, ecs.Rows) {
	return func(f *Frame, rows ecs.Rows) {
		if f.server == nil || rows.Len() == 0 {
			run(f, rows)
			return
		}
		f.server.beforeRows(rows)
		run(f, rows)
		f.server.afterRows(rows)
	}
}
