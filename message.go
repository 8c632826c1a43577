package foretick

import (
	"errors"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// Message is something that the server tells a player for certain: who killed
// whom, a score, a line of chat's number. It arrives exactly once, in the order
// sent, with the tick it was sent in. Its fields travel as their net tags say,
// like a component's. The zero value is ready for [OnClient], which registers
// it.
type Message[T any] struct {
	id     int // 1 and up
	schema *snapshot.Schema
}

// messageType is a message's row in the protocol.
type messageType struct {
	schema *snapshot.Schema
	name   string
	handle func(f *Frame, tick Tick, payload []byte) error
}

// ErrUnregistered is returned by Send for a message that OnClient never saw.
var ErrUnregistered = errors.New("foretick: the message is not declared: call OnClient in Protocol")

// OnClient declares a message and what a client does with it. Both ends call
// it, as part of the protocol; fn runs on clients only, within Step, outside of
// any tick. tick is the server's when it sent.
func OnClient[T any](p *Protocol, m *Message[T], fn func(f *Frame, tick Tick, v T)) {
	if m.id != 0 {
		p.faultf("message %s is declared twice", typeNameOf[T]())
		return
	}
	t := reflect.TypeFor[T]()
	s, err := snapshot.Compile(t, snapshot.SchemaOptions{Name: typeName(t)})
	if err != nil {
		p.fault(err)
		return
	}
	if len(p.messages) >= 253 {
		p.faultf("message %s is one too many: a protocol has at most 253", typeNameOf[T]())
		return
	}
	m.schema = s
	p.messages = append(p.messages, messageType{schema: s, name: typeName(t), handle: func(f *Frame, tick Tick, payload []byte) error {
		var v T
		if err := s.Unpack(payload, unsafe.Pointer(&v)); err != nil {
			return err
		}
		fn(f, tick, v)
		return nil
	}})
	m.id = len(p.messages)
}

// Send queues the message for one player. It fails when the player is gone or
// does not take its messages any more; on a client it does nothing.
func (m *Message[T]) Send(f *Frame, to ecs.Owner, v T) error {
	if m.id == 0 {
		return ErrUnregistered
	}
	if f.server == nil {
		return nil
	}
	return f.server.sendMessage(to, uint8(m.id-1), m.pack(f, v))
}

// Broadcast queues the message for every player.
func (m *Message[T]) Broadcast(f *Frame, v T) error {
	if m.id == 0 {
		return ErrUnregistered
	}
	if f.server == nil {
		return nil
	}
	return f.server.broadcast(uint8(m.id-1), m.pack(f, v))
}

func (m *Message[T]) pack(f *Frame, v T) []byte {
	f.server.scratch = m.schema.Pack(unsafe.Pointer(&v), f.server.scratch[:0])
	return f.server.scratch
}

func typeNameOf[T any]() string { return typeName(reflect.TypeFor[T]()) }

func itoa(n int) string { return strconv.Itoa(n) }
