package foretick

import (
	"time"

	"github.com/foretick/foretick/ecs"
)

// Frame is what a system runs in: one tick of one world, or, for a render
// system, one picture. It is valid for the call alone.
type Frame struct {
	// Tick being computed; for a render system the newest predicted tick.
	Tick Tick
	// DT is the length of a tick in seconds; for a render system the time
	// since the last picture.
	DT float32
	// World that the systems run in.
	World *ecs.World
	// Replay is true while a client runs a tick again after a correction.
	// Sounds and other effects belong to the first run: raise an [Event], or
	// look here.
	Replay bool

	rate   int
	server *Server
	client *Client
	queues []eventQueue
	acting acting
}

// IsServer tells whether the frame is the server's.
func (f *Frame) IsServer() bool { return f.server != nil }

// Time is the simulated time at the end of this tick, from the server's start.
func (f *Frame) Time() time.Duration {
	return time.Duration(f.Tick) * time.Second / time.Duration(f.rate)
}

// Spawn creates an entity of a declared prefab, with the prefab's defaults, for an
// owner or for [ecs.Nobody]. While a system runs its components can be reached
// at once; queries see it from the next system on.
//
// It panics with [UsageError] for an owner that stands for a part of a client's
// world, [ecs.Common] or [ecs.ClientOnly]: what all push is nobody's.
//
// It is for what the server alone makes: on a client it returns [ecs.None], and
// the entity appears when a snapshot brings it. In a shared system, which has to
// say what spawns, it panics with [UsageError]: see [Frame.SpawnBy].
func (f *Frame) Spawn(k *ecs.Prefab, owner PlayerID) ecs.Entity {
	if f.server == nil {
		if f.client.stepping {
			f.client.refuseSpawn(k)
		}
		return ecs.None
	}
	if f.server.sharedRuns() {
		f.server.refuseSpawn(k)
	}
	return f.server.spawn(k, owner)
}

// Destroy removes an entity, after the running system; false when it is gone
// already.
//
// On a client a shared system removes what it predicts: the entity is gone from
// the world, and comes back under the same handle if the server's still lives
// when its word on this tick comes. Anything else, what is foreseen of others
// included, only the server's word removes, and Destroy returns false.
func (f *Frame) Destroy(e ecs.Entity) bool {
	if f.server == nil {
		return f.client.destroy(e)
	}
	return f.server.destroy(e)
}

// Rand is a random number for (tick, salt): the same on both ends and in every
// replay of the tick. Give each draw in a tick its own salt, for example the
// owner or a counter kept in a predicted component.
func (f *Frame) Rand(salt uint64) uint64 {
	x := uint64(f.Tick)<<32 ^ salt*0x9E3779B97F4A7C15
	x ^= x >> 30
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 27
	x *= 0x94D049BB133111EB
	return x ^ x>>31
}
