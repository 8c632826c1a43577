package foretick

import (
	"time"

	"github.com/foretick/foretick/ecs"
)

// Frame is one tick of one world, or one rendered frame for a render system.
// Systems receive it. It is valid only during the call.
type Frame struct {
	// Tick is the tick being computed. A render system sees the newest predicted tick.
	Tick Tick
	// DT is the length of a tick in seconds. For a render system it is the time
	// since the last rendered frame.
	DT float32
	// World that the systems run in.
	World *ecs.World
	// Replay is true while a client runs a tick again after a correction.
	// Sounds and other effects belong to the first run: raise an [Event], or
	// look here. It is also true while a part of a tick is drawn: see
	// [ClientConfig].PartialTicks. On a server it is true where a tick runs again for a late
	// input: see [ServerConfig].LateInputs and LateWorld.
	Replay bool

	rate    int
	partial bool      // only a part of a tick is run, for the screen
	blind   bool      // a tick is run to see what it looks at
	server  serverEnd // nil on a client
	client  clientEnd // nil on a server
	queues  []eventQueue
	spawner spawnContext
	shared  *sharedSystem // that runs; nil outside of them
}

// IsServer reports whether the frame belongs to a server.
func (f *Frame) IsServer() bool { return f.server != nil }

// Time returns the simulated time at the end of this tick, from the server's start.
func (f *Frame) Time() time.Duration {
	return time.Duration(f.Tick) * time.Second / time.Duration(f.rate)
}

// Final returns the newest tick that nothing can change any more. It is for programs that
// keep ticks back until they are final, such as a recorder: [Event.OnFinal] is enough for
// single events. On a server it is the tick being computed, unless a player's command is
// missing that [ServerConfig].LateInputs still waits for: then it is the tick before that
// one. What server systems and handlers do is never undone, unless LateWorld is set. On a client it is the newest tick
// whose inputs the server has answered.
func (f *Frame) Final() Tick { return f.end().final() }

// Spawn creates an entity of a declared prefab, with the prefab's defaults, for an
// owner or for [ecs.Nobody]. While a system runs its components can be reached
// at once; queries see it from the next system on.
//
// It panics with [UsageError] for the owners [ecs.Common] and [ecs.ClientOnly],
// which are parts of a client's world. Spawn shared physics objects for [ecs.Nobody].
//
// Only the server spawns with it. On a client it returns [ecs.None], and the entity
// appears when a snapshot brings it. In a shared system it panics with [UsageError]:
// call [Frame.SpawnBy], which names the spawner.
func (f *Frame) Spawn(k *ecs.Prefab, owner PlayerID) ecs.Entity {
	if f.server == nil {
		f.client.refuseSpawn(k)
		return ecs.None
	}
	return f.server.spawn(k, owner)
}

// Destroy removes an entity once the running system has ended. It returns false
// when the entity is gone already, or is to be removed by an earlier call: of two
// players who take one apple in a tick, one takes it.
//
// On a client a shared system can remove an entity that it predicts. The entity
// comes back under the same handle if the server's copy still lives when the
// server's state of this tick arrives. Other entities, remote players' included,
// are removed by the server alone: for them Destroy returns false on a client.
func (f *Frame) Destroy(e ecs.Entity) bool {
	if f.server == nil {
		return f.client.destroy(e)
	}
	return f.server.destroy(e)
}

// Rand returns a random number for (tick, salt): the same on both ends and in every
// replay of the tick. Give each draw in a tick its own salt, for example the
// owner or a counter kept in a predicted component. A client can compute it in advance: draw
// what players must not know, such as where one respawns, in a server system from a source
// of your own.
func (f *Frame) Rand(salt uint64) uint64 {
	x := uint64(f.Tick)<<32 ^ salt*0x9E3779B97F4A7C15
	x ^= x >> 30
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 27
	x *= 0x94D049BB133111EB
	return x ^ x>>31
}

// spawnContext is the shared system that runs, as far as spawning is concerned.
type spawnContext struct {
	on    bool // a shared system runs that declared to spawn
	owner PlayerID
	once  bool // it has no rows
}

// eventQueue holds what was raised in a world and not yet handled.
type eventQueue interface {
	drain(f *Frame)
	finish(f *Frame, handler int)
	findFinal()
	waitingEvents() int
	clear()
	pending() bool
	release(owner PlayerID, t Tick)
	drop(owner PlayerID, t Tick)
	dropFinal(owner PlayerID, t Tick)
	save(slot int)
	restore(slot int)
	differs(slot int) bool
	begin(t Tick)
	end(f *Frame)
	confirm(f *Frame, t Tick)
	refuse(f *Frame, t Tick, executed func(Tick) int)
	cancel(f *Frame)
	wait(waits bool)
	show(f *Frame, t Tick)
}
