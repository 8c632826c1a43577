// Package seat has the types that the two halves of a preview share: the server in whose world it plays,
// and its one player. Package preview joins them.
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

// Player is the player of a preview. It is in the server's own process and replaces a connection.
// Nothing is sent to it over a network.
type Player struct {
	// Command is the next tick's command, as in memory. nil means a zero command.
	Command []byte
	// Claim is the moment that the screen showed when the command was given.
	Claim lagcomp.Claim
	Gone  *transport.DisconnectError

	Inbox []Message // Inbox has the messages of the running tick.
	Bytes []byte    // Bytes has the data of Inbox.
}

// Message is a message to the player of a preview.
type Message struct {
	Channel, Kind uint8
	From, Upto    int // The data is Player.Bytes[From:Upto].
}

// Tell queues a message for the end of the tick.
func (l *Player) Tell(channel, kind uint8, payload []byte) {
	from := len(l.Bytes)
	l.Bytes = append(l.Bytes, payload...)
	l.Inbox = append(l.Inbox, Message{channel, kind, from, len(l.Bytes)})
}

// Knows reports that this player knows every entity, under its network id.
func (*Player) Knows(net snapshot.NetID) (schema.WireID, foretick.Tick, bool) {
	return schema.WireID(net), 0, true
}

// Screen is the screen of a preview's player, which draws into the server's own world.
type Screen interface {
	// Undraw restores the tick's values that drawing a frame replaced in the world. Call it before work
	// between Steps.
	Undraw()
	// Shows reports whether the screen shows events that an entity of an owner raises.
	Shows(by ecs.Entity, owner foretick.PlayerID) bool
	// NoteSpawn tells the screen that a shared system has spawned an entity.
	NoteSpawn(e ecs.Entity, owner foretick.PlayerID, kind int)
	// NoteTeleport tells the screen that an entity must not be drawn between its last two places.
	NoteTeleport(e ecs.Entity)
}

// Level is the level that a preview's server plays.
type Level struct {
	Epoch uint8
	Named bool          // Named is true if the server named the level.
	Tick  foretick.Tick // Tick is when the level began.
	Data  []byte
}

// Match is what the player of a preview calls on its server, between Steps.
type Match interface {
	// Join gives the player its place, in the next tick.
	Join(owner foretick.PlayerID, at *Player)
	// Show makes the server report to a screen what happens.
	Show(s Screen)
	// Step runs the server up to a tick of a match that began at epoch.
	Step(epoch time.Time, t foretick.Tick)
	Due(t foretick.Tick) time.Duration // Due returns the time of a tick.
	Interval() time.Duration           // Interval returns the time between two ticks.
	Close() error

	Tick() foretick.Tick
	Ended() bool  // Ended reports whether no further tick runs.
	Closed() bool // Closed reports whether the server is closed.
	Level() Level

	// Edit calls fn on the state of the newest tick, and rounds that state as the tick does.
	Edit(fn func(f *foretick.ServerFrame))
	// Leave calls the handlers for players that left in the newest tick, if no further tick runs.
	Leave()
	// Sits reports whether the player has its place.
	Sits(owner foretick.PlayerID, at *Player) bool
	// Request queues a request of the player.
	Request(owner foretick.PlayerID, kind uint8, packed []byte)
	// Sight returns what the player sees while its screen shows a moment.
	Sight(owner foretick.PlayerID, shown foretick.Tick, fraction float32) game.Sight
	SharedRuns() bool // SharedRuns reports whether a shared system runs.
	PrefabOf(e ecs.Entity) *ecs.Prefab
	Final() foretick.Tick

	// The methods below return the world that the screen draws into, and what belongs to it.
	World() *ecs.World
	Queues() []game.EventQueue[*foretick.Frame]
	Row() *game.SingletonRow
	Parents() *game.Hierarchy
	Refs() schema.Refs
}
