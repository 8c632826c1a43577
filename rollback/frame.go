package rollback

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/schema"
)

// frameEnd implements what the frames of a peer need. Systems, handlers and hooks reach the peer only through it.
type frameEnd struct {
	p       *compiled
	world   *ecs.World
	running *game.SystemRun
	frames  *frameState
	sim     *simulation // sim says which tick is settled.
}

// A frame looks for these optional interfaces of its end, which the compiler would not check.
var _ interface {
	game.Spawner
	game.ScreenEnd
	game.Finals
} = (*frameEnd)(nil)

// IsServer returns false, because no peer decides for others.
func (e *frameEnd) IsServer() bool { return false }

// Simulates returns true for all that exists.
func (e *frameEnd) Simulates(of ecs.Entity) bool { return e.world.Alive(of) }

func (e *frameEnd) PrefabOf(of ecs.Entity) *ecs.Prefab {
	if k := e.p.PrefabNamed(e.p.Identity.Find(e.world, of)); k != nil {
		return k.ECS
	}
	return nil
}

// ShownBefore returns 0, because all that a player sees is of one tick.
func (e *frameEnd) ShownBefore(foretick.PlayerID) uint8 { return 0 }

// Final returns the newest settled tick.
func (e *frameEnd) Final() foretick.Tick { return e.sim.settled }

// FinalFor returns the newest settled tick.
func (e *frameEnd) FinalFor(foretick.PlayerID) foretick.Tick { return e.sim.settled }

// Raised returns what happens to an event. One that a handler raises which runs once is dropped, because a run
// again of the tick would not raise it.
func (e *frameEnd) Raised(ecs.Entity, foretick.PlayerID, int) game.Fate {
	switch {
	case e.frames.Telling:
		return 0
	case e.sim.shows:
		return game.EventHappens | game.EventPredicted
	case e.sim.apart:
		return game.EventHappens
	case e.sim.quiet:
		return game.EventHappens | game.EventLasts
	}
	return game.EventHappens | game.EventPredicted | game.EventLasts
}

func (e *frameEnd) Spawn(k *ecs.Prefab, owner foretick.PlayerID) ecs.Entity {
	i := e.p.PrefabOf(k)
	switch {
	case i < 0:
		misuse.Panicf("foretick: Spawn of prefab %q, which is not declared with Protocol.Prefab", k.Name())
	case owner == ecs.Common || owner == ecs.ClientOnly:
		misuse.Panicf("foretick: Spawn of prefab %q for a part of clients' worlds: spawn it for ecs.Nobody", k.Name())
	case e.frames.Telling:
		misuse.Panicf("foretick: Spawn of prefab %q in a handler that runs once, and not when its tick runs again: spawn it in the system that raises the event, or in the event's OnServer handler", k.Name())
	case e.running.Shared != nil && !e.running.Spawner.On:
		misuse.Panicf("foretick: %s spawns prefab %q without saying so: declare it on the system with ecs.Create", e.running.Shared, k.Name())
	}
	of := ecs.Engine(e.world).Manager().Spawn(k, owner)
	*e.p.Identity.Get(e.world, of) = game.NetworkID{Prefab: uint16(i)}
	return of
}

func (e *frameEnd) SpawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity {
	if !e.world.Alive(by) {
		return ecs.None
	}
	return e.Spawn(k, e.world.Owner(by))
}

func (e *frameEnd) Destroy(of ecs.Entity) bool {
	if e.frames.Telling {
		misuse.Panicf("foretick: Destroy in a handler that runs once, and not when its tick runs again: destroy in the system that raises the event, or in the event's OnServer handler")
	}
	return e.world.Alive(of) && ecs.Engine(e.world).Manager().Destroy(of)
}

// Teleport does nothing, because nothing is interpolated or rewound here.
func (e *frameEnd) Teleport(ecs.Entity) bool { return true }

// DrawsPartly does nothing, because no parts of ticks are drawn.
func (e *frameEnd) DrawsPartly(ecs.Rows, *schema.MaskBuilder) {}

// Decoded does nothing, because no messages of the game are received.
func (e *frameEnd) Decoded() {}

// PredictedSum returns a digest of the world, for debug builds.
func (e *frameEnd) PredictedSum() uint32 { return uint32(e.world.Hash(nil)) }
