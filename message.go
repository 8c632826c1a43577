package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/schema"
)

// Message is a message from the server to a player: a kill, a score, a line of chat. It
// arrives exactly once and in order, with the tick of its sending. The net tags of
// its fields set how they travel, as in a component. It cannot hold entity handles.
//
// For the other direction use the command (see [Protocol.Command]) or a [Request]. The zero value
// is ready for [Message.OnClient], which registers it.
type Message[T any] struct {
	// Channel names a channel of the game ([Protocol.Channel]) for the message to travel by.
	// Empty means the reliable one that every protocol has. Set it before OnClient. The order
	// holds within one channel only. On an unreliable channel a message arrives at most once,
	// in any order.
	Channel string

	id      int // 1 and up
	channel int
	schema  *schema.Schema
}

// undeclared refuses a message that no client could read, rather than drop it each time.
func (m *Message[T]) undeclared() {
	if m.id == 0 {
		misuse("message %s is sent and not declared: call its OnClient in Protocol, on both ends", typeNameOf[T]())
	}
}

// Send queues the message for one player. It fails when the player is gone. While a
// player's connection is lost and its place is held (see [ServerConfig.ReconnectWindow]),
// messages on reliable channels wait. They arrive after the reconnect, in order with those
// that the lost connection had not delivered.
//
// A player with more than 256 KiB of waiting reliable messages is disconnected with
// [transport.Overflow], and its place is given up. A full unreliable channel drops its
// oldest message instead. On a client Send does nothing. It panics with [UsageError] for a
// message that is not declared with [Message.OnClient].
func (m *Message[T]) Send(f *Frame, to PlayerID, v T) error {
	m.undeclared()
	if f.server == nil {
		return nil
	}
	return f.server.sendMessage(to, uint8(m.channel), uint8(m.id-1), m.pack(f, v))
}

// Broadcast queues the message for every player, like Send.
func (m *Message[T]) Broadcast(f *Frame, v T) error {
	m.undeclared()
	if f.server == nil {
		return nil
	}
	return f.server.broadcast(uint8(m.channel), uint8(m.id-1), m.pack(f, v))
}

func (m *Message[T]) pack(f *Frame, v T) []byte {
	return f.server.pack(m.id-1, m.schema, unsafe.Pointer(&v))
}
