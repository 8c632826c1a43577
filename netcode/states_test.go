package netcode

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// connState is a connection as it is at some moment of its life.
type connState struct {
	name string
	conn *Conn
	now  time.Duration
}

// connStates returns connections in every state that affects how packets are
// received.
func connStates() []connState {
	make1 := func(name string, do func(s *connState)) connState {
		s := connState{name: name, conn: NewConn(Config{Channels: []Channel{{Reliable: true}, {}, {Reliable: true}}})}
		do(&s)
		return s
	}
	send := func(s *connState, n int) {
		for range n {
			s.now += time.Millisecond
			s.conn.Begin(s.now).Finish()
			for _, ok := s.conn.NextFate(); ok; _, ok = s.conn.NextFate() {
			}
		}
	}
	hear := func(s *connState, first, n int) {
		for i := range n {
			h := header{seq: Seq(first + i)}
			_ = s.conn.Receive(s.now, sealed(s.conn, h.append(make([]byte, 4)))) // of each but the duplicates
		}
	}
	return []connState{
		make1("said nothing, heard nothing", func(*connState) {}),
		make1("said one", func(s *connState) { send(s, 1) }),
		make1("heard one", func(s *connState) { hear(s, 0, 1) }),
		make1("said and heard many", func(s *connState) { send(s, 300); hear(s, 0, 300) }),
		make1("half way round", func(s *connState) { send(s, 1<<15); hear(s, 0, 1<<15) }),
		make1("wrapped", func(s *connState) { send(s, 1<<16+100); hear(s, 0, 1<<16+100) }),
		make1("after silence", func(s *connState) { send(s, 40); hear(s, 0, 40); s.now += time.Minute; send(s, 1) }),
	}
}

func sealed(c *Conn, b []byte) []byte {
	le.PutUint32(b, checksum(c.seed, b[4:]))
	return b
}

// clockwise returns how many steps a is ahead of b, −half to half−1, by plain
// arithmetic.
func clockwise(a, b Seq) int { return (int(a)-int(b)+3<<15)%(1<<16) - 1<<15 }

// TestEverySequenceInEveryState: a packet with any number is accepted, or refused and
// counted, according to its distance from earlier ones, and never moves the window
// back.
func TestEverySequenceInEveryState(t *testing.T) {
	for _, s := range connStates() {
		c, before := s.conn, s.conn.window
		for n := range 1 << 16 {
			seq := Seq(n)
			c.window = before
			d, held := clockwise(seq, before.line), before.received(seq)
			err := c.Receive(s.now, sealed(c, (&header{seq: seq}).append(make([]byte, 4))))
			want := error(nil)
			switch {
			case d < -windowBehind, d > windowAhead, clockwise(seq, before.base) < 0: // the base never moves back
				want = ErrStale
			case held:
				want = ErrDuplicate
			}
			moved := clockwise(c.window.line, before.line)
			if err != want || err == nil && !c.window.received(seq) {
				t.Fatalf("%s: %d is %v, want %v", s.name, seq, err, want)
			}
			if clockwise(c.window.base, before.base) < 0 || moved != 0 && (moved != d || d < 0 || d > nearLine) {
				t.Fatalf("%s: %d moved the line by %d, the base from %d to %d", s.name, seq, moved, before.base, c.window.base)
			}
		}
	}
}

// TestEveryHeaderByteInEveryState: every value of the flags, the delay and each byte of the ack's bits, with
// acks at every edge, gives each fate at most once, and only for a packet that was sent.
func TestEveryHeaderByteInEveryState(t *testing.T) {
	for _, s := range connStates() {
		c, fresh := s.conn, newReceiveWindow()
		told := map[Seq]bool{}
		try := func(b []byte) {
			c.window = fresh
			_ = c.Receive(s.now, sealed(c, b)) // taken or refused
			for f, ok := c.NextFate(); ok; f, ok = c.NextFate() {
				require.False(t, told[f.Seq], "%s: %d is told twice", s.name, f.Seq)
				told[f.Seq] = true
				require.Less(t, uint64(c.next-1-f.Seq), min(c.stats.Sent, 1<<15), "%s: %d was never sent", s.name, f.Seq)
			}
		}
		last := c.next - 1
		for _, ack := range []Seq{last, last - 1, last - 31, last - 32, last - 33, last - 255, last - 256, last + 1, last + 1<<15 - 1, last + 1<<15, last + 1<<15 + 1, 0, 1<<15 - 1, 1 << 15, 1<<16 - 1} {
			for v := range 256 {
				try((&header{hasAck: true, ack: ack, delay: byte(v)}).append(make([]byte, 4)))
				for i := range 4 {
					try((&header{hasAck: true, ack: ack, ackBits: uint32(v) << (8 * i), delay: 3}).append(make([]byte, 4)))
				}
				for _, length := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 20} { // flags that fit the rest, or not
					b := append(make([]byte, 4), byte(v), 0, 0, byte(ack), byte(ack>>8), 0xff, 0, 1, 2, 3, 4, 5, 6, 7)
					b = append(b, make([]byte, 8)...)
					try(b[:4+length])
				}
			}
		}
	}
}

// TestEveryMessageTypeAndLength: a message of any type with any length that it
// claims, over any body, is taken whole or refused whole.
func TestEveryMessageTypeAndLength(t *testing.T) {
	lengths := []uint64{0, 1, 2, 3, 4, 5, 8, 16, 17, 127, 128, 129, 255, 256, 257, 1 << 14, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	body := make([]byte, 260)
	for _, s := range connStates() {
		c, fresh := s.conn, newReceiveWindow()
		for kind := range 256 {
			for _, claimed := range lengths {
				for _, is := range []int{0, 1, 2, 3, 4, 5, 17, 128, 256} {
					b := (&header{seq: 3}).append(make([]byte, 4))
					b = binary.AppendUvarint(append(b, byte(kind)), claimed)
					b = append(b, body[:is]...)
					c.window = fresh
					got, had := 0, c.stats.Received
					err := c.Receive(s.now, sealed(c, b))
					for m, ok := c.NextMessage(); ok; m, ok = c.NextMessage() {
						got++
						if len(m.Body) > is {
							t.Fatalf("%s: type %d: a body of %d bytes of %d", s.name, kind, len(m.Body), is)
						}
					}
					for _, ok := c.NextReliable(); ok; _, ok = c.NextReliable() {
					}
					refused := errors.Is(err, ErrMalformed) && got == 0 && c.stats.Received == had
					switch {
					case claimed > uint64(is) || kind == 0 || kind > 4 && kind < 16:
						if !refused {
							t.Fatalf("%s: type %d of %d bytes, of which %d are there, is taken", s.name, kind, claimed, is)
						}
					case claimed == uint64(is) && kind >= 16:
						if err != nil || got != 1 {
							t.Fatalf("%s: type %d of %d bytes: %v, %d messages", s.name, kind, claimed, err, got)
						}
					}
				}
			}
		}
	}
}
