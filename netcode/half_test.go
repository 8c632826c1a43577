package netcode

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Numbers exactly half the circle apart are neither before nor after one another.
// What compares numbers must then take neither for granted.

// halves are numbers around half the circle of 16 bits.
var halves = []Seq{1<<15 - 1, 1 << 15, 1<<15 + 1}

func TestHalfTheCircleInTheWindow(t *testing.T) {
	for _, start := range []Seq{0, 1, 1<<15 - 1, 1 << 15, 1<<16 - 1} {
		for _, d := range halves {
			w := newReceiveWindow()
			for s := w.line + 1; s != start+1; s++ {
				w.markReceived(s)
			}
			before := w
			require.ErrorIs(t, w.checkSeq(start+d), ErrStale, "%d, %d further", start, d)
			require.Equal(t, before, w)
			// Even when believed (a number that waits for a second), the base stays.
			w.hunt, w.far = true, start+d
			w.markReceived(start + 1)
			require.Equal(t, start+1, w.line)
			require.GreaterOrEqual(t, clockwise(w.base, before.base), 0)
		}
	}
}

func TestHalfTheCircleInAStream(t *testing.T) {
	for _, d := range halves {
		for _, next := range []uint16{0, 1, 300, 1<<15 - 1, 1 << 15, 1<<16 - 1} {
			c := NewConn(Config{})
			c.channels[0].in.next = next
			body := le.AppendUint16(nil, next+d)
			body = append(body, 3, 7, 0, 1, 'x')
			b := (&header{}).append(make([]byte, 4))
			b = append(appendVarint(append(b, byte(messageStream)), uint64(len(body))), body...)
			_ = c.Receive(0, sealed(c, b)) // refused, or treated as a very old one
			_, ok := c.NextReliable()
			require.False(t, ok, "entry %d, %d further", next, d)
			require.Equal(t, next, c.channels[0].in.next)
		}
	}
}

func TestHalfTheCircleInTheCommandBuffer(t *testing.T) {
	const half = 1 << 31
	for _, now := range []Tick{0, 1, 1000, half - 1, half, half + 1, 1<<32 - 2} {
		for _, d := range []Tick{half - 1, half, half + 1} {
			b := NewCommandBuffer(1, 32)
			b.KeepLate(int(now % 5)) // none, and some
			b.Take(now - 1)
			s := NewCommandSender(1, CommandConfig{})
			s.Push(Command{Tick: now + d})
			require.NoError(t, b.Read(s.Append(nil, 100), float64(now)))
			_, ok := b.Take(now)
			require.False(t, ok)
			require.Equal(t, now, b.Ack(), "now %d, a command %d further", now, d)
			// The honest client's next command still counts.
			s = NewCommandSender(1, CommandConfig{})
			s.Push(Command{Tick: now + 2})
			require.NoError(t, b.Read(s.Append(nil, 100), float64(now)))
			_, ok = b.Take(now + 2)
			require.True(t, ok, "now %d, after a command %d further", now, d)
			// A Take of a tick half the circle away does not move the present either.
			_, ok = b.Take(now + 3 + half)
			require.False(t, ok)
			require.Equal(t, now+2, b.Ack())
		}
	}
}

func TestHalfTheCircleInTheCommandSender(t *testing.T) {
	const half = 1 << 31
	for _, at := range []Tick{0, 1, half - 1, half, half + 1, 1<<32 - 3} {
		for d, kept := range map[Tick]int{0: 2, 1: 1, 2: 0, half - 1: 0, half: 3, half + 1: 3, 1<<32 - 1: 3} {
			s := NewCommandSender(1, CommandConfig{})
			for i := range Tick(3) {
				s.Push(Command{Tick: at + i})
			}
			s.Acked(at+d, false)
			require.Equal(t, kept, s.Unacked(), "commands from %d on, acknowledged up to %d further", at, d)
		}
	}
}

// Fates are reported in order, up to the number in an ack, in either half of the
// circle.
func TestHalfTheCircleInFates(t *testing.T) {
	for _, sent := range []int{1, 300, 1<<15 - 1, 1 << 15, 1<<15 + 1, 1<<16 + 1} {
		for _, d := range halves {
			c := NewConn(Config{})
			now := time.Duration(0)
			for range sent {
				now += time.Millisecond
				c.Begin(now).Finish()
				for _, ok := c.NextFate(); ok; _, ok = c.NextFate() {
				}
			}
			oldest := c.oldest
			_ = c.Receive(now, ackPacket(c, 0, c.next-1+d, 0))
			_, ok := c.NextFate()
			require.False(t, ok, "sent %d, ack %d further", sent, d)
			require.Equal(t, oldest, c.oldest)
		}
	}
}
