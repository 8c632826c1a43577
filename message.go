package foretick

import (
	"errors"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
)

// Message is something that the server tells a player for certain: who killed
// whom, a score, a line of chat. It arrives exactly once, in the order sent, with
// the tick it was sent in. Its fields travel as their net tags say, like a
// component's, but for handles of entities, which it cannot carry. On a channel
// of its own ([Via]) it keeps its order among that channel's messages, and on one
// that is not reliable it arrives at most once, in any order. What a player tells
// the server travels in its command (see [Protocol.Command]) or is a [Request]. The
// zero value is ready for [Message.OnClient], which registers it.
type Message[T any] struct {
	id      int // 1 and up
	channel int
	schema  *snapshot.Schema
}

// messageType is a message's row in the protocol.
type messageType struct {
	schema  *snapshot.Schema
	name    string
	channel int
	deaf    bool                                                                // there is no function
	handle  func(s *snapshot.Schema, f *Frame, tick Tick, payload []byte) error // nil: another build's
}

// ErrUnregistered is returned by Send for a message that OnClient never saw, or a
// request that OnRequest did not.
var ErrUnregistered = errors.New("foretick: the message or request is not declared: call OnClient or OnRequest in Protocol")

// OnClient declares a message and what a client does with it. Both ends call
// it, as part of the protocol; fn runs on clients only, within Step, outside of
// any tick. tick is the server's when it sent. A
// program that is a server alone may leave fn nil; NewClient refuses that. Without [Via] the message travels by
// the reliable channel that every protocol has.
func (m *Message[T]) OnClient(p *Protocol, fn func(f *Frame, tick Tick, v T), opts ...MessageOption) {
	if m == nil {
		p.faultf("OnClient is given a nil Message of %s: pass its address, as in &g.Kill", typeNameOf[T]())
		return
	}
	if p.late("OnClient of message " + typeNameOf[T]()) {
		return
	}
	if m.id != 0 {
		p.faultf("message %s is declared twice, or with another Protocol before: declare it once, and build a new game value for each Protocol", typeNameOf[T]())
		return
	}
	t := reflect.TypeFor[T]()
	s, err := snapshot.Compile(t, snapshot.SchemaOptions{Name: typeName(t), Ref: entityType})
	if err == nil {
		err = referless("message", s)
	}
	if err != nil {
		p.fault(err)
		return
	}
	if len(p.messages) == maxMessages {
		p.faultf("message %s is one too many: a protocol has at most %d", typeNameOf[T](), maxMessages)
		return
	}
	if !p.countFields("message", s) {
		return
	}
	if m.channel = p.messageChannel(s, opts); m.channel < 0 {
		return
	}
	m.schema = s
	p.messages = append(p.messages, messageType{schema: s, name: typeName(t), channel: m.channel, deaf: fn == nil, handle: func(s *snapshot.Schema, f *Frame, tick Tick, payload []byte) error {
		var v T
		if err := s.Unpack(payload, unsafe.Pointer(&v)); err != nil {
			return err
		}
		f.client.decoded()
		fn(f, tick, v)
		return nil
	}})
	m.id = len(p.messages)
}

// Messages is how many kinds of messages the game has declared.
func (p *Protocol) Messages() int { return len(p.messages) }

// countFields bounds the fields of all messages and requests.
func (p *Protocol) countFields(what string, s *snapshot.Schema) bool {
	if p.messageFields += s.NumFields(); p.messageFields > maxMessageFields {
		p.faultf("%s %s brings the fields of all messages and requests to %d, each element of a slice counted: at most %d; use shorter slices, or a reference to what is known already", what, s.Name(), p.messageFields, maxMessageFields)
		return false
	}
	return true
}

// messageChannel finds the channel of a message, −1 with a fault when it cannot
// travel by it.
func (p *Protocol) messageChannel(s *snapshot.Schema, opts []MessageOption) int {
	var o messageOptions
	for _, opt := range opts {
		if opt == nil {
			p.faultf("message %s has a nil option: leave it out", s.Name())
			return -1
		}
		opt(&o)
	}
	channel, reliable := channelMain, true
	if o.via {
		if channel = p.channel(o.channel); channel < 0 {
			p.faultf("message %s goes by channel %q, which is not declared: call Channel first", s.Name(), o.channel)
			return -1
		}
		reliable = p.channels[channel-gameChannels].Reliable
	}
	if most := netcode.MaxEvent; !reliable && s.PackedSize() > most {
		p.faultf("message %s has %d bytes: channel %q is not reliable and carries at most %d", s.Name(), s.PackedSize(), o.channel, most)
		return -1
	}
	return channel
}

// Send queues the message for one player. It fails when the player is gone. For one
// whose connection is lost and whose place is held (see [ServerConfig.ReconnectWindow]) the
// message waits, unless its channel is not reliable, and comes once the player is
// back, in order with what the lost connection still owed. A player who does not
// take what it is sent, so that more than 256 KiB of messages wait for it, is
// disconnected with [transport.Overflow], and its place is held no longer; an
// unreliable channel lets go of its oldest message instead. On a client Send does nothing.
func (m *Message[T]) Send(f *Frame, to PlayerID, v T) error {
	if m.id == 0 {
		return ErrUnregistered
	}
	if f.server == nil {
		return nil
	}
	return f.server.sendMessage(to, uint8(m.channel), uint8(m.id-1), m.pack(f, v))
}

// Broadcast queues the message for every player, as Send does.
func (m *Message[T]) Broadcast(f *Frame, v T) error {
	if m.id == 0 {
		return ErrUnregistered
	}
	if f.server == nil {
		return nil
	}
	return f.server.broadcast(uint8(m.channel), uint8(m.id-1), m.pack(f, v))
}

func (m *Message[T]) pack(f *Frame, v T) []byte {
	f.server.losses.sent(f.server.p.messages[m.id-1].name, m.schema, unsafe.Pointer(&v))
	f.server.scratch = m.schema.Pack(unsafe.Pointer(&v), f.server.scratch[:0])
	return f.server.scratch
}

func typeNameOf[T any]() string { return typeName(reflect.TypeFor[T]()) }

func itoa(n int) string { return strconv.Itoa(n) }
