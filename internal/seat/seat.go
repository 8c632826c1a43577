// Package seat is what the two halves of a preview know of each other: the server in whose world it
// plays, and its one player. Package preview joins them.
package seat

import (
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// Player is the player of a preview, in the server's own process and in place of a
// connection. Nothing is sent to it.
type Player struct {
	Command []byte // Command is the next tick's, as in memory. nil means a zero one.
	// Claim is the moment that the frame showed in which the command was given.
	Claim lagcomp.Claim
	Gone  *transport.DisconnectError

	Inbox []Message // Inbox has the messages of the running tick.
	Bytes []byte    // Bytes has the data of Inbox.
}

// Message is a message to the player of a preview.
type Message struct {
	Channel, Kind uint8
	From, Upto    int // The data is the player's bytes from from up to upto.
}

// Tell queues a message for the end of the tick.
func (l *Player) Tell(channel, kind uint8, payload []byte) {
	from := len(l.Bytes)
	l.Bytes = append(l.Bytes, payload...)
	l.Inbox = append(l.Inbox, Message{channel, kind, from, len(l.Bytes)})
}

// Knows is Shown for this player, who knows everything.
func (*Player) Knows(net snapshot.NetID) (schema.WireID, foretick.Tick, bool) {
	return schema.WireID(net), 0, true
}

// Screen is the screen of a preview's player, which draws into the server's own world.
type Screen interface {
	// Undraw takes a rendered frame out of the world, for what is done between Steps.
	Undraw()
	// Shows reports whether the screen shows what an owner's entity raises.
	Shows(by ecs.Entity, owner foretick.PlayerID) bool
	// NoteSpawn tells of an entity that a shared system has spawned.
	NoteSpawn(e ecs.Entity, owner foretick.PlayerID, kind int)
	// NoteTeleport tells of an entity that may not be drawn between two places.
	NoteTeleport(e ecs.Entity)
}

// Level is the level that a preview's server plays.
type Level struct {
	Epoch uint8
	Named bool          // Named is true if the server named it.
	Tick  foretick.Tick // Tick is when it began.
	Data  []byte
}

// Match is what the player of a preview asks of its server, between Steps.
type Match interface {
	// Join gives the player its place, in the next tick.
	Join(owner foretick.PlayerID, at *Player)
	// Show has the server tell a screen of what happens.
	Show(s Screen)
	// Step runs the server up to a tick of a match that began at epoch.
	Step(epoch time.Time, t foretick.Tick)
	Due(t foretick.Tick) time.Duration // Due is the time of a tick.
	Interval() time.Duration           // Interval is the time between two.
	Close() error
	StateHash() uint64

	Tick() foretick.Tick
	Ended() bool  // Ended is true if no further tick runs.
	Closed() bool // Closed is true once the server is.
	Level() Level

	// Edit calls fn on the state of the newest tick, and rounds it as the tick does.
	Edit(fn func(f *foretick.Frame))
	// Sits reports whether the player has its place.
	Sits(owner foretick.PlayerID, at *Player) bool
	// Request queues a request of the player.
	Request(owner foretick.PlayerID, kind uint8, packed []byte)
	// Sight is what the player sees on a screen that shows a moment.
	Sight(owner foretick.PlayerID, shown foretick.Tick, fraction float32) game.Sight
	SharedRuns() bool // SharedRuns is true while a shared system runs.
	PrefabOf(e ecs.Entity) *ecs.Prefab
	Final() foretick.Tick

	// The world that is drawn into, and what belongs to it.
	World() *ecs.World
	Queues() []game.EventQueue[*foretick.Frame]
	Row() *game.SingletonRow
	Parents() *game.Hierarchy
	Refs() schema.Refs
}
