package foretick

import (
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/transport"
)

// Teleport marks an entity as teleported, or as respawned, in this tick. The mark travels
// with its snapshots. Clients do not interpolate between the old and the new place, and
// show corrections that it causes at once instead of fading them in. Shots are not rewound
// to before this tick, and the server does not interpolate across it when it judges them.
//
// A shared system that teleports a predicted entity calls it on both ends. On a client it
// affects only the drawing of this tick. It returns false for an entity that does not
// exist, and in a client's render systems. Use [LifeID] if a component of the game counts
// lives.
func (f *Frame) Teleport(e ecs.Entity) bool { return f.World.Alive(e) && f.end().teleport(e) }

// SetGroup sends the changes of an entity together with those of another one: a snapshot
// holds the changes of the whole group, or none of them. A rider and a horse in one group
// are never apart on a screen. with becomes the leader of the group and leaves any other
// group: name the same leader for all members. With [ecs.None] the entity leaves its group.
// A group that fits into no snapshot is sent in parts. The entities that a player predicts
// are always a group. SetGroup returns false on a client, and for entities that do not
// exist.
func (f *Frame) SetGroup(e, with ecs.Entity) bool {
	return f.server != nil && f.server.setGroup(e, with)
}

// SetVisible hides an entity from a player, or shows it again, from the next snapshot on.
// A hidden entity is not sent to the player. The player's shots stop hitting it at once.
// When it is shown again, they hit it only from the snapshot that shows it. By default
// everything is visible. SetVisible returns false on a client, and for a player or an
// entity that does not exist.
func (f *Frame) SetVisible(player PlayerID, e ecs.Entity, visible bool) bool {
	return f.server != nil && f.server.setVisible(player, e, visible)
}

// SetTeam sets the team of a player and of every entity that the player owns. Entities
// whose team [Frame.SetEntityTeam] set keep that team. 0, the default, is no team: it has
// neither allies nor enemies. Audiences use teams to tell allies from enemies ([schema.ToAllies],
// [schema.ToEnemies]). The next snapshot shows the player what its new team may see. SetTeam
// returns false on a client and for a player that does not exist.
func (f *Frame) SetTeam(player PlayerID, team uint8) bool {
	return f.server != nil && f.server.setTeam(player, team)
}

// SetEntityTeam sets the team of one entity, in place of its owner's team. It returns
// false on a client and for an entity that does not exist.
func (f *Frame) SetEntityTeam(e ecs.Entity, team uint8) bool {
	return f.server != nil && f.server.setEntityTeam(e, team)
}

// SetAudience adds a player to one of the game's audiences, or removes it, as seen from
// one entity. With [ecs.None] it applies to all entities. It returns false on a client,
// and for a player or an entity that does not exist.
func (f *Frame) SetAudience(player PlayerID, e ecs.Entity, a schema.Audience, member bool) bool {
	return f.server != nil && f.server.setAudience(player, e, a, member)
}

// SetEye makes [Interest] look from a position for a player, in place of the player's own
// entities: the one that a dead player watches, or a camera's. Its own entities are still
// sent. It lasts until the next SetEye or ClearEye, through lost connections and levels.
// SetEye returns false on a client, for a player that does not exist, and for a position
// that is not finite.
func (f *Frame) SetEye(player PlayerID, x, y, z float32) bool {
	return f.server != nil && f.server.setEye(player, x, y, z)
}

// ClearEye makes Interest look from a player's own entities again. It returns false on a
// client and for a player that does not exist.
func (f *Frame) ClearEye(player PlayerID) bool {
	return f.server != nil && f.server.clearEye(player)
}

// SetPredicted switches the prediction of an entity by its owner's client on or off. The
// entity's prefab must be declared with [Protocol.Interpolated]; its entities begin without
// prediction. The switch travels with the next snapshot. On the owner's screen the entity
// then slides between the past and the present, at most one and a half times as fast as it
// moves. SetPredicted returns false on a client, and for an entity that does not exist. It
// panics with [UsageError] for one of another prefab.
func (f *Frame) SetPredicted(e ecs.Entity, on bool) bool {
	return f.server != nil && f.server.setPredicted(e, on)
}

// Ban kicks a player with [transport.Kicked] and keeps its identity out until a time, as
// [Server.Ban] does. The zero time means forever. It reports whether the player has an
// identity: one without is kicked, and may come back.
func (f *Frame) Ban(player PlayerID, until time.Time, text string) bool {
	return f.server != nil && f.server.banPlayer(player, until, text)
}

// Kick removes a player from the match. The player's client receives code and text. code
// is [transport.Kicked] (0 means that) or one of the game's codes, from
// [transport.FirstUserCode] on. Any other code is logged as an error and replaced by
// transport.Kicked. text is cut to 120 bytes at a rune. Kick reports whether
// there is such a player. On a client it does nothing and returns false.
//
// It may be called anywhere in a tick, also in a handler that runs for the same player.
// The player leaves at the end of the tick, before a level that [Server.NextLevel] asked
// for. Until then it stays in the match. The server repeats the messages that it sent to the
// player until they arrive, for a second at most, and then sends code and text. OnLeave
// hooks run in the next tick. Of several calls for one player the first counts. No place
// is held for a kicked player. Between Steps call it on [Server.Frame]: it then takes effect
// at the end of the next tick.
func (f *Frame) Kick(player PlayerID, code transport.Code, text string) bool {
	return f.server != nil && f.server.kickPlayer(player, code, text)
}
