package foretick

import (
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/transport"
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
	// a late input: see server.Config.LateInputs and LateWorld.
	Replay bool

	run   game.SystemRun
	state *frameState // use the method in, which is never nil
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

// IsServer reports whether the frame belongs to a server.
func (f *Frame) IsServer() bool { return f.in().End.IsServer() }

// Time returns the simulated time at the end of this tick, from the server's start.
func (f *Frame) Time() time.Duration {
	return time.Duration(f.Tick) * time.Second / time.Duration(f.in().Rate)
}

// Final returns the newest tick that nothing can change any more. It is for programs that keep ticks
// back until they are final, such as a recorder: [Event.OnFinal] is enough for single events. On a
// server it is the tick being computed, unless a player's command is missing that
// server.Config.LateInputs still waits for: then it is the tick before that one. The effects of server
// systems and handlers are never undone, unless LateWorld is set. On a client it is the newest tick
// whose inputs the server has answered.
func (f *Frame) Final() Tick { return f.in().End.Final() }

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
	return f.in().Spawner.Spawn(k, owner)
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

// SetGroup sends the changes of an entity together with those of another one: a snapshot
// holds the changes of the whole group, or none of them. A rider and a horse in one group
// are never apart on a screen. with becomes the leader of the group and leaves any other
// group: name the same leader for all members. With [ecs.None] the entity leaves its group.
// A group that fits into no snapshot is sent in parts. The entities that a player predicts
// are always a group. SetGroup returns false on a client, and for entities that do not
// exist.
func (f *Frame) SetGroup(e, with ecs.Entity) bool {
	return f.in().Visibility.SetGroup(e, with)
}

// SetVisible hides an entity from a player, or shows it again, from the next snapshot on.
// A hidden entity is not sent to the player. The player's shots stop hitting it at once.
// When it is shown again, they hit it only from the snapshot that shows it. By default
// everything is visible. SetVisible returns false on a client, and for a player or an
// entity that does not exist.
func (f *Frame) SetVisible(player PlayerID, e ecs.Entity, visible bool) bool {
	return f.in().Visibility.SetVisible(player, e, visible)
}

// SetTeam sets the team of a player and of every entity that the player owns. Entities
// whose team [Frame.SetEntityTeam] set keep that team. 0, the default, is no team: it has
// neither allies nor enemies. Audiences use teams to tell allies from enemies ([schema.ToAllies],
// [schema.ToEnemies]). The next snapshot shows the player what its new team may see. SetTeam
// returns false on a client and for a player that does not exist.
func (f *Frame) SetTeam(player PlayerID, team uint8) bool {
	return f.in().Visibility.SetTeam(player, team)
}

// SetEntityTeam sets the team of one entity, in place of its owner's team. It returns
// false on a client and for an entity that does not exist.
func (f *Frame) SetEntityTeam(e ecs.Entity, team uint8) bool {
	return f.in().Visibility.SetEntityTeam(e, team)
}

// SetAudience adds a player to one of the game's audiences, or removes it, as seen from
// one entity. With [ecs.None] it applies to all entities. It returns false on a client,
// and for a player or an entity that does not exist.
func (f *Frame) SetAudience(player PlayerID, e ecs.Entity, a schema.Audience, member bool) bool {
	return f.in().Visibility.SetAudience(player, e, a, member)
}

// SetEye makes [Interest] look from a position for a player, in place of the player's own
// entities: the one that a dead player watches, or a camera's. Its own entities are still
// sent. It lasts until the next SetEye or ClearEye, through lost connections and levels.
// SetEye returns false on a client, for a player that does not exist, and for a position
// that is not finite.
func (f *Frame) SetEye(player PlayerID, x, y, z float32) bool {
	return f.in().Visibility.SetEye(player, x, y, z)
}

// ClearEye makes Interest look from a player's own entities again. It returns false on a
// client and for a player that does not exist.
func (f *Frame) ClearEye(player PlayerID) bool {
	return f.in().Visibility.ClearEye(player)
}

// SetPredicted switches the prediction of an entity by its owner's client on or off. The
// entity's prefab must be declared with [Protocol.Interpolated]; its entities begin without
// prediction. The switch travels with the next snapshot. On the owner's screen the entity
// then slides between the past and the present, at most one and a half times as fast as it
// moves. SetPredicted returns false on a client, and for an entity that does not exist. It
// panics with [UsageError] for one of another prefab.
func (f *Frame) SetPredicted(e ecs.Entity, on bool) bool {
	return f.in().Visibility.SetPredicted(e, on)
}

// Ban kicks a player with [transport.Kicked] and keeps its identity out until a time, as
// server.Server.Ban does. The zero time means forever. It reports whether the player has an
// identity: one without is kicked, and may come back.
func (f *Frame) Ban(player PlayerID, until time.Time, reason string) bool {
	return f.in().Members.BanPlayer(player, until, reason)
}

// Kick removes a player from the match. The player's client receives code and reason. code
// is [transport.Kicked] (0 means that) or one of the game's codes, from
// [transport.FirstUserCode] on. Any other code is logged as an error and replaced by
// transport.Kicked. reason is cut to 120 bytes at a rune. Kick reports whether
// there is such a player. On a client it does nothing and returns false.
//
// It may be called anywhere in a tick, also in a handler that runs for the same player. The player
// leaves at the end of the tick, before a level that server.Server.NextLevel asked for. Until then it
// stays in the match. The server repeats the messages that it sent to the player until they arrive, for
// a second at most, and then sends code and reason. OnLeave hooks run in the next tick. If it is called
// several times for one player, the first call counts. No place is held for a kicked player. Between
// Steps call it on server.Server.Frame: it then takes effect at the end of the next tick.
func (f *Frame) Kick(player PlayerID, code transport.Code, reason string) bool {
	return f.in().Members.KickPlayer(player, code, reason)
}

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
// shared systems, on the server, it does the same as [Frame.Spawn].
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
