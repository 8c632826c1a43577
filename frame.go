package foretick

import (
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/rewind"
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
	// Replay is true while a client runs a tick again after a correction. Sounds and other effects
	// belong to the first run: raise an [Event], or check Replay. It is also true while a part of a
	// tick is drawn: see client.Config.PartialTicks. On a server it is true while a tick runs again for
	// a late input: see server.Config.Late.
	Replay bool

	run    game.SystemRun
	state  *frameState  // use the method in, which is never nil
	server *ServerFrame // use the method forServer, which makes it
}

// bare is the state of a frame that belongs to no end, such as one that a game's test makes.
var bare = game.NewState[*Frame](nil, 1, nil)

// in returns the frame's state.
func (f *Frame) in() *frameState {
	if f.state == nil {
		return bare
	}
	return f.state
}

// forServer returns the frame for functions that only a server runs.
func (f *Frame) forServer() *ServerFrame {
	if f.server == nil {
		f.server = &ServerFrame{f}
	}
	return f.server
}

// IsServer reports whether the frame belongs to a server.
func (f *Frame) IsServer() bool { return f.in().End.IsServer() }

// Time returns the simulated time at the end of this tick, from the server's start.
func (f *Frame) Time() time.Duration {
	return time.Duration(f.Tick) * time.Second / time.Duration(f.in().Rate)
}

// Final returns the newest tick that nothing can change any more. It is for programs that keep ticks
// back until they are final, such as a recorder: [Event.OnFinal] is enough for single events. On a
// server it is the tick being computed, unless a player's command is missing that
// server.Config.Late still waits for: then it is the tick before that one. The effects of server
// systems and handlers are never undone, unless Late.World is set. On a client it is the newest tick
// whose inputs the server has answered.
func (f *Frame) Final() Tick { return f.in().End.Final() }

// Destroy removes an entity once the running system has ended. It returns false
// when the entity is gone already, or is to be removed by an earlier call: of two
// players who take one apple in a tick, one takes it.
//
// On a client a shared system can remove an entity that it predicts. The entity
// comes back under the same handle if the server's copy still lives when the
// server's state of this tick arrives. Other entities, remote players' included,
// are removed by the server alone: for them Destroy returns false on a client.
func (f *Frame) Destroy(e ecs.Entity) bool {
	return f.in().Spawner.Destroy(e)
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

// DrawnPart returns the part of this tick's movement that a player's screen already showed
// when the player gave the tick's command: 0 for the state before the tick, up to 1 for the
// state after it. Both ends return the same. To start a shot where the screen showed the
// muzzle, keep the position that the body had before it moved:
//
//	part := f.DrawnPart(rows.Owner())
//	eye := before.X + float32((after.X-before.X)*part)
//
// It is above 0 only for clients with client.Config.PartialTicks: without them no frame
// shows any of a tick whose command is still to come. It is 0 where the command is missing.
// The client reports it, so a cheater can choose any value: it gains at most the distance
// that its own body moves in one tick.
func (f *Frame) DrawnPart(player PlayerID) float32 {
	offset := f.in().End.ShownBefore(player)
	if offset == 0 {
		return 0
	}
	return max(0, 1-float32(offset)/rewind.OffsetSteps)
}

// RewindTo returns the world at a moment that the game names: the tick t and a fraction
// above 0 and below 1 of the way to the next. Use it for a trap
// that is judged by when it was triggered. [Frame.Rewind] is for shots. The moment
// is judged on the player's screen as in [Frame.RewindBehind], with the same bounds: the
// server's MaxRewind, the recorded ticks, and the newest complete tick. Used has the moment of
// the view. [HitView.Only] names the targets.
//
// With [ecs.Nobody] it returns the whole tick t as the server computed it, with the
// entities of all players. On a client it is the same as Rewind.
func (f *Frame) RewindTo(by PlayerID, t Tick, fraction float32) HitView {
	f.run.Shared.RefuseView()
	if by == ecs.Nobody {
		return showing(f.in().Viewer.Moment(t))
	}
	return showing(f.in().Viewer.RewindBehind(by, float32(int32(f.Tick-t))-fraction))
}

// Teleport marks an entity as teleported, or as respawned, in this tick. The mark travels
// with its snapshots. Clients do not interpolate between the old and the new place, and
// show corrections that it causes at once instead of fading them in. Shots are not rewound
// to before this tick, and the server does not interpolate across it when it judges them.
//
// A shared system that teleports a predicted entity calls it on both ends. On a client it
// affects only the drawing of this tick. It returns false for an entity that does not
// exist, and in a client's render systems. Use [LifeID] if a component of the game counts
// lives.
func (f *Frame) Teleport(e ecs.Entity) bool { return f.World.Alive(e) && f.in().Spawner.Teleport(e) }

// Simulates reports whether the shared systems of this tick compute an entity on this end:
// on a server any, on a client those that it predicts. A system that hands the world to a
// physics engine moves the bodies for which it is true, and gives the others to the engine as
// bodies that nothing moves. In a frame that is drawn it is of no use. It returns false for
// an entity that is gone.
func (f *Frame) Simulates(e ecs.Entity) bool { return f.in().End.Simulates(e) }

// PrefabOf returns the prefab that an entity was spawned from, as the game declared it. It
// returns nil for an entity that is gone, or was not spawned from a prefab of the protocol.
func (f *Frame) PrefabOf(e ecs.Entity) *ecs.Prefab { return f.in().End.PrefabOf(e) }

// runningAs wraps a shared system, so that frames know that it runs.
func runningAs(s *game.SharedSystem, run func(*Frame, ecs.Rows)) func(*Frame, ecs.Rows) {
	return func(f *Frame, rows ecs.Rows) {
		f.run.Shared = s
		run(f, rows)
		f.run.Shared = nil
	}
}

// findCompared marks the systems whose results both ends must agree on.
func (p *Protocol) findCompared() {
	at := map[string]*game.SharedSystem{}
	for _, s := range p.shared {
		at[s.Name] = s
	}
	for _, info := range p.compiled.Schedule.Systems() {
		if s := at[info.Name]; s != nil {
			s.Compared = layout.Shared(info) && !p.compiled.ForClientOnly(info)
		}
	}
}

// act wraps a shared system that may spawn, so that the frame knows for whose rows it runs.
func act(run func(*Frame, ecs.Rows)) func(*Frame, ecs.Rows) {
	return func(f *Frame, rows ecs.Rows) {
		f.run.Spawner = game.SpawnContext{On: true, Once: rows.Len() == 0}
		if !f.run.Spawner.Once {
			f.run.Spawner.Owner = rows.Owner()
		}
		if around := f.in().Writes; around == nil {
			run(f, rows)
		} else {
			first := ecs.Engine(f.World).Deferred()
			run(f, rows)
			around.AfterChanges(first, rows)
		}
		f.run.Spawner = game.SpawnContext{}
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
// shared systems, on the server, it does the same as [ServerFrame.Spawn].
//
// On a client that predicts other players (see [PredictRemote]), an entity spawned by a
// remote player's avatar lasts for that tick only. The server's entity follows.
//
// In a replay, an entity with [SpawnConfig].ClientOnly lasts for that tick only. The one
// from the first run stays unchanged.
func (f *Frame) SpawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity {
	return f.in().Spawner.SpawnBy(by, k)
}

// pushing wraps a shared system that may write rows of other owners. Each such write is then attributed
// to the player for whose rows the system ran.
func pushing(run func(*Frame, ecs.Rows)) func(*Frame, ecs.Rows) {
	return func(f *Frame, rows ecs.Rows) {
		around := f.in().Writes
		if around == nil || rows.Len() == 0 {
			run(f, rows)
			return
		}
		around.BeforeRows(rows)
		run(f, rows)
		around.AfterRows(rows)
	}
}

// frameHook passes the start and end of each system to the hooks of the frame that it runs in,
// since all worlds of a protocol share one schedule.
type frameHook struct{}

// Before is called before each system.
func (frameHook) Before(f *Frame, system int) {
	for _, h := range f.in().Around {
		h.BeforeSystem(&f.run, system)
	}
}

// After is called after each system. It calls the hooks in the opposite order of Before.
func (frameHook) After(f *Frame, system int) {
	around := f.in().Around
	for i := len(around) - 1; i >= 0; i-- {
		around[i].AfterSystem(&f.run, system)
	}
}
