package foretick

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
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

// ErrMessageOverflow is returned by [Message.Send] when more messages wait for a player than the server
// keeps. The player is disconnected with [transport.Overflow] at the end of the tick, so nothing is left to
// do. If players meet it, send fewer messages, or those that may be lost on an unreliable channel.
var ErrMessageOverflow = errors.New("foretick: the player does not take its messages and is disconnected")

// undeclared panics for a message that was not declared, because no client could read it.
func (m *Message[T]) undeclared() {
	if m.id == 0 {
		misuse.Panicf("foretick: message %s is sent and not declared: call its OnClient in Protocol, on both ends", game.TypeNameOf[T]())
	}
}

// Send queues the message for one player. It fails when the player is gone. While a
// player's connection is lost and its place is held (see server.Config.ReconnectWindow),
// messages on reliable channels wait. They arrive after the reconnect, in order with those
// that the lost connection had not delivered.
//
// A player with more than 256 KiB of waiting reliable messages is disconnected with
// [transport.Overflow], and its place is given up. A full unreliable channel drops its
// oldest message instead. Send panics with [UsageError] for a message that is
// not declared with [Message.OnClient].
func (m *Message[T]) Send(f *ServerFrame, to PlayerID, v T) error {
	m.undeclared()
	s := f.in()
	if s.Packer == nil {
		return nil
	}
	return s.Messenger.SendMessage(to, uint8(m.channel), uint8(m.id-1), s.Packer.Pack(m.id-1, m.schema, unsafe.Pointer(&v)))
}

// Broadcast queues the message for every player, like Send. A player that does not take its messages is
// disconnected, and the others get the message.
func (m *Message[T]) Broadcast(f *ServerFrame, v T) {
	m.undeclared()
	s := f.in()
	if s.Packer == nil {
		return
	}
	s.Messenger.Broadcast(uint8(m.channel), uint8(m.id-1), s.Packer.Pack(m.id-1, m.schema, unsafe.Pointer(&v)))
}

// OnClient declares a message and its handler. Both ends call it as part of the protocol.
// fn runs on clients only: within Step, outside of any tick. tick is the server's tick when
// it sent the message. A program that is only a server may pass a nil fn. client.New returns
// an error for a nil fn.
//
// fn runs in the Step that received the message. Others are drawn in the past, so the screen
// does not show that tick yet, and what the message is about may not be drawn. To show both
// together, keep the message until client.View.RenderTick has reached tick.
func (m *Message[T]) OnClient(p *Protocol, fn func(f *Frame, tick Tick, v T)) {
	if m == nil {
		p.faultf("OnClient is called on a nil Message of %s: use a field of the game, as in g.Kill.OnClient", game.TypeNameOf[T]())
		return
	}
	if p.late("OnClient of message " + game.TypeNameOf[T]()) {
		return
	}
	if m.id != 0 {
		p.faultf("message %s is declared twice, or with another Protocol before: declare it once, and build a new game value for each Protocol", game.TypeNameOf[T]())
		return
	}
	t := reflect.TypeFor[T]()
	s, err := schema.Compile(t, schema.Options{Name: game.TypeName(t), Ref: entityType})
	if err == nil {
		err = referless("message", s)
	}
	if err != nil {
		p.addFault(err)
		return
	}
	if len(p.compiled.Messages) == standard.MaxMessages {
		p.faultf("message %s is one too many: a protocol has at most %d", game.TypeNameOf[T](), standard.MaxMessages)
		return
	}
	if !p.countFields("message", s) {
		return
	}
	channel := p.messageChannel(s, m.Channel)
	if channel < 0 {
		return
	}
	m.schema, m.channel = s, channel
	p.label(s.Name(), t)
	if fn == nil {
		p.compiled.Deaf = append(p.compiled.Deaf, s.Name())
	}
	p.compiled.Messages = append(p.compiled.Messages, layout.Message{Name: game.TypeName(t), Schema: s, Channel: m.channel, Own: len(p.compiled.Messages)})
	p.compiled.Handlers.Messages = append(p.compiled.Handlers.Messages, func(s *schema.Schema, f *Frame, tick Tick, payload []byte) error {
		var v T
		if err := s.Unpack(payload, unsafe.Pointer(&v)); err != nil {
			return err
		}
		f.in().Screen.Decoded()
		fn(f, tick, v)
		return nil
	})
	m.id = len(p.compiled.Messages)
}

// countFields limits the total number of fields in all messages and requests.
func (p *Protocol) countFields(what string, s *schema.Schema) bool {
	if p.messageFields += s.NumFields(); p.messageFields > standard.MaxMessageFields {
		p.faultf("%s %s brings the fields of all messages and requests to %d, each element of a slice counted: at most %d; use shorter slices, or a reference to what is known already", what, s.Name(), p.messageFields, standard.MaxMessageFields)
		return false
	}
	return true
}

// messageChannel returns the channel of a message. It returns −1 and notes a fault if the
// message cannot use that channel.
func (p *Protocol) messageChannel(s *schema.Schema, name string) int {
	channel, reliable := standard.ChannelMain, true
	if name != "" {
		if channel = p.compiled.ChannelNamed(name); channel < 0 {
			p.faultf("message %s goes by channel %q, which is not declared: call Channel first", s.Name(), name)
			return -1
		}
		reliable = p.compiled.Channels[channel-standard.GameChannels].Reliable
	}
	if most := netcode.MaxEvent; !reliable && s.PackedSize() > most {
		p.faultf("message %s has %d bytes: channel %q is not reliable and carries at most %d", s.Name(), s.PackedSize(), name, most)
		return -1
	}
	return channel
}

// A connection must have room for standard.MaxGameChannels channels of the game: this does not compile
// otherwise.
const _ = uint(netcode.MaxChannels - standard.GameChannels - standard.MaxGameChannels)

// Channel declares a channel for messages, in addition to the one that every protocol has.
// A message names it in [Message].Channel. Channels do not wait for each other: a long or a lost
// message delays its own channel only. Channels share the bytes that a packet has left
// after the snapshot, by priority. The default channel is reliable and has priority 4.
//
// A channel that is not Reliable carries messages of up to 256 bytes. Each may be lost, and
// none waits for another. Use it for effects that are worth nothing later. A reliable
// channel queues up to 256 KiB if c.Queue is 0. See [Message.Send] for a full queue.
//
// The name, the priority, and whether the channel is reliable are part of the hash. A
// protocol has at most six.
func (p *Protocol) Channel(name string, c netcode.Channel) {
	switch {
	case p.late("Channel") || !p.named("Channel", name):
		return
	case p.compiled.ChannelNamed(name) >= 0:
		p.faultf("channel %q is declared twice", name)
		return
	case len(p.compiled.Channels) == standard.MaxGameChannels:
		p.faultf("channel %q is one too many: a protocol has at most %d", name, standard.MaxGameChannels)
		return
	}
	if c.Reliable && c.Queue == 0 {
		c.Queue = game.MaxQueued
	}
	p.compiled.Channels = append(p.compiled.Channels, layout.Channel{Name: name, Channel: c})
	if err := (netcode.Config{Channels: p.compiled.NetChannels()}).Validate(); err != nil {
		p.addFault(fmt.Errorf("foretick: channel %q: %w", name, err))
	}
}
