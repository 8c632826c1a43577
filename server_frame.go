package foretick

import (
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/transport"
)

// ServerFrame is the frame of code that only a server runs: server systems, hooks such as
// [Protocol.OnJoin], handlers of requests and of [Event.OnServer], and functions passed to
// server.Server.Do. It has the calls that change the match: its players, its entities, and what each player sees.
// Functions for both ends take a [Frame]: pass f.Frame. Both are valid only during the call.
type ServerFrame struct {
	*Frame
}

// Spawn creates an entity of a declared prefab, with the prefab's defaults, for an
// owner or for [ecs.Nobody]. While a system runs its components can be reached
// at once; queries see it from the next system on.
//
// It panics with [UsageError] for the owners [ecs.Common] and [ecs.ClientOnly],
// which are parts of a client's world. Spawn shared physics objects for [ecs.Nobody].
//
// On clients the entity appears when a snapshot brings it. One that is gone before the next
// snapshot is never sent: at 30 ticks and 15 snapshots a second, players miss every other
// entity that lives for one tick. Send a [Message] for what is that brief.
//
// Shared systems call [Frame.SpawnBy], which names the spawner: while one runs, Spawn panics
// with [UsageError].
func (f *ServerFrame) Spawn(k *ecs.Prefab, owner PlayerID) ecs.Entity {
	return f.in().Spawner.Spawn(k, owner)
}

// SetGroup sends the changes of an entity together with those of another one: a snapshot
// holds the changes of the whole group, or none of them. A rider and a horse in one group
// are never apart on a screen. with becomes the leader of the group and leaves any other
// group: name the same leader for all members. With [ecs.None] the entity leaves its group.
// A group that fits into no snapshot is sent in parts. The entities that a player predicts
// are always a group. SetGroup returns false for entities that do not exist.
func (f *ServerFrame) SetGroup(e, with ecs.Entity) bool {
	return f.in().Visibility.SetGroup(e, with)
}

// SetVisible hides an entity from a player, or shows it again, from the next snapshot on.
// A hidden entity is not sent to the player. The player's shots stop hitting it at once.
// When it is shown again, they hit it only from the snapshot that shows it. By default
// everything is visible. SetVisible returns false for a player or an entity that does
// not exist.
func (f *ServerFrame) SetVisible(player PlayerID, e ecs.Entity, visible bool) bool {
	return f.in().Visibility.SetVisible(player, e, visible)
}

// SetTeam sets the team of a player and of every entity that the player owns. Entities
// whose team [ServerFrame.SetEntityTeam] set keep that team. 0, the default, is no team: it has
// neither allies nor enemies. Audiences use teams to tell allies from enemies ([schema.ToAllies],
// [schema.ToEnemies]). The next snapshot shows the player what its new team may see. SetTeam
// returns false for a player that does not exist.
func (f *ServerFrame) SetTeam(player PlayerID, team uint8) bool {
	return f.in().Visibility.SetTeam(player, team)
}

// SetEntityTeam sets the team of one entity, in place of its owner's team. It returns
// false for an entity that does not exist.
func (f *ServerFrame) SetEntityTeam(e ecs.Entity, team uint8) bool {
	return f.in().Visibility.SetEntityTeam(e, team)
}

// SetAudience adds a player to one of the game's audiences, or removes it, as seen from
// one entity. With [ecs.None] it applies to all entities. With the player [ecs.Common] it
// applies to all players and observers, and to those that join later: so a game makes
// fields of an entity public. What it set for one player stays. It returns false for a
// player or an entity that does not exist.
func (f *ServerFrame) SetAudience(player PlayerID, e ecs.Entity, a schema.Audience, member bool) bool {
	return f.in().Visibility.SetAudience(player, e, a, member)
}

// SetEye makes [Interest] look from a position for a player, in place of the player's own
// entities: the one that a dead player watches, or a camera's. Its own entities are still
// sent. It lasts until the next SetEye or ClearEye, through lost connections and levels.
// SetEye returns false for a player that does not exist, and for a position that is not
// finite.
func (f *ServerFrame) SetEye(player PlayerID, x, y, z float32) bool {
	return f.in().Visibility.SetEye(player, x, y, z)
}

// ClearEye makes Interest look from a player's own entities again. It returns false for a
// player that does not exist.
func (f *ServerFrame) ClearEye(player PlayerID) bool {
	return f.in().Visibility.ClearEye(player)
}

// SetPredicted switches the prediction of an entity by its owner's client on or off. The
// entity's prefab must be declared with [Protocol.Interpolated]; its entities begin without
// prediction. The switch travels with the next snapshot. On the owner's screen the entity
// then slides between the past and the present, at most one and a half times as fast as it
// moves. SetPredicted returns false for an entity that does not exist. It
// panics with [UsageError] for one of another prefab.
func (f *ServerFrame) SetPredicted(e ecs.Entity, on bool) bool {
	return f.in().Visibility.SetPredicted(e, on)
}

// Ban kicks a player with [transport.Kicked] and keeps its identity out until a time, as
// server.Server.Ban does. The zero time means forever. It reports whether the player has an
// identity: one without is kicked, and may come back.
func (f *ServerFrame) Ban(player PlayerID, until time.Time, reason string) bool {
	return f.in().Members.BanPlayer(player, until, reason)
}

// Kick removes a player from the match. The player's client receives code and reason. code
// is [transport.Kicked] (0 means that) or one of the game's codes, from
// [transport.FirstUserCode] on. Any other code is logged as an error and replaced by
// transport.Kicked. reason is cut to 120 bytes at a rune. Kick reports whether
// there is such a player.
//
// It may be called anywhere in a tick, also in a handler that runs for the same player. The player
// leaves at the end of the tick, before a level that server.Server.NextLevel asked for. Until then it
// stays in the match. The server repeats the messages that it sent to the player until they arrive, for
// a second at most, and then sends code and reason. OnLeave hooks run in the next tick. If it is called
// several times for one player, the first call counts. No place is held for a kicked player. Between
// Steps call it on server.Server.Frame: it then takes effect at the end of the next tick.
func (f *ServerFrame) Kick(player PlayerID, code transport.Code, reason string) bool {
	return f.in().Members.KickPlayer(player, code, reason)
}
