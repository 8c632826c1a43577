package shottest

import (
	"encoding/binary"
	mathbits "math/bits"
	"reflect"
	"time"

	"github.com/foretick/foretick/internal/packettest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/transport"
)

// liar is a client's endpoint that falsifies the client's data: the render
// times of its commands, and its acknowledgements.
type liar struct {
	transport.Endpoint
	now func() time.Duration
	// claim changes a command before it is sent.
	claim func(now time.Duration, c *netcode.Command)
	// hold returns the delay of acknowledgements.
	hold func(now time.Duration) time.Duration
	// deny reports whether to claim that a received packet was lost.
	deny func(now time.Duration, seq uint16) bool

	size   int // bytes of a command, from the Welcome
	fields []uint8
	in     *netcode.CommandBuffer
	out    *netcode.CommandSender
	newest netcode.Tick // the tick after the newest command that was read
	acks   []heldAck
	lied   int
	buffer []byte
}

type heldAck struct {
	at    time.Duration
	bytes []byte // flags and ack fields of a header
}

// Recv looks for the Welcome, which has the size of commands.
func (l *liar) Recv(ev []transport.Event) int {
	n := l.Endpoint.Recv(ev)
	for i := range ev[:n] {
		if ev[i].Kind != transport.Data || len(ev[i].Data) < 7 {
			continue
		}
		_, _, messages := packettest.Fields(ev[i].Data)
		packettest.Each(messages, func(t netcode.MessageType, body []byte) {
			if t == netcode.MessageWelcome {
				if w, err := netcode.ParseWelcome(body); err == nil {
					l.size = int(w.CommandSize)
				}
			}
		})
	}
	return n
}

// Send sends a falsified packet instead of b.
func (l *liar) Send(p transport.PeerID, b []byte) error {
	now := l.now()
	seq, ack, messages := packettest.Fields(b)
	l.acks = append(l.acks, heldAck{now, append([]byte{}, ack...)})
	if l.hold != nil {
		old := 0
		for i := range l.acks {
			if l.acks[i].at <= now-l.hold(now) {
				old = i
			}
		}
		ack = l.acks[old].bytes
		l.acks = l.acks[old:]
	}
	if l.deny != nil && len(ack) > 1 {
		ack = denied(ack, func(seq uint16) bool { return l.deny(now, seq) })
	}
	out := append(l.buffer[:0], 0, 0, 0, 0, ack[0])
	out = append(out, seq...)
	out = append(out, ack[1:]...)
	packettest.Each(messages, func(t netcode.MessageType, body []byte) {
		if t == netcode.MessageCommands && l.claim != nil && l.size > 0 {
			body = l.commands(now, body)
		}
		out = append(out, byte(t))
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
	})
	l.buffer = packettest.Seal(out)
	return l.Endpoint.Send(p, out)
}

// denied returns the flags and ack fields of a header without the packets that are
// claimed to be lost.
func denied(fields []byte, is func(seq uint16) bool) []byte {
	line, bits, at := binary.LittleEndian.Uint16(fields[1:]), uint64(1)<<32, 3
	for i := range 4 { // bit 32−n is set if packet line−n was received
		b := byte(0xff)
		if fields[0]&(1<<i) != 0 {
			b = fields[at]
			at++
		}
		bits |= uint64(mathbits.Reverse8(b)) << (24 - 8*i)
	}
	for n := range 33 {
		if is(line - uint16(n)) {
			bits &^= 1 << (32 - n)
		}
	}
	for bits != 0 && bits>>32 == 0 {
		line, bits = line-1, bits<<1
	}
	out := []byte{fields[0] &^ 0x0f, byte(line), byte(line >> 8)}
	for i := range 4 {
		if b := mathbits.Reverse8(byte(bits >> (24 - 8*i))); b != 0xff {
			out[0] |= 1 << i
			out = append(out, b)
		}
	}
	return append(out, fields[at])
}

// commands reads a body of commands, changes each, and writes them again.
func (l *liar) commands(now time.Duration, body []byte) []byte {
	newest, _ := netcode.NewestCommand(body, l.newest)
	if l.in == nil {
		l.in = netcode.NewCommandBuffer(l.size, 1024, l.fields...)
		l.out = netcode.NewCommandSender(l.size, netcode.CommandConfig{Fields: l.fields})
		l.newest = newest - 64
	}
	if l.in.Read(body, float64(l.newest)) != nil {
		return body
	}
	for ; netcode.Newer(newest+1, l.newest); l.newest++ {
		if c, ok := l.in.Take(l.newest); ok {
			l.claim(now, &c)
			l.lied++
			l.out.Push(c)
		}
	}
	if out := l.out.Append(nil, 1000); len(out) > 0 {
		return out
	}
	return body
}

// fieldsOf returns the fields of a command's type.
func fieldsOf[T any]() []uint8 {
	s, err := schema.Compile(reflect.TypeFor[T](), schema.Options{})
	if err != nil {
		panic(err)
	}
	return s.PackedFields()
}
