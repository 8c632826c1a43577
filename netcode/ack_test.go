package netcode

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ackPacket is a packet that carries nothing but an ack.
func ackPacket(c *Conn, seq, ack Seq, bits uint32) []byte {
	h := header{seq: seq, hasAck: true, ack: ack, ackBits: bits, delay: unknownDelay}
	b := h.append(make([]byte, 4))
	le.PutUint32(b, checksum(c.seed, b[4:]))
	return b
}

// TestEveryAckInEveryState: whatever number an ack names and however much was sent,
// the ack of a packet that was never sent is refused and counted, and every other one
// is taken.
func TestEveryAckInEveryState(t *testing.T) {
	const half = 1 << 15
	for _, sent := range []int{0, 1, 2, 31, 32, 33, 255, 256, 257, half - 1, half, half + 1, 1<<16 - 1, 1 << 16, 1<<16 + 1, 1<<16 + half, 1<<17 + 5} {
		c := NewConn(Config{})
		now := time.Duration(0)
		for range sent {
			now += time.Millisecond
			c.Begin(now).Finish()
			for _, ok := c.NextFate(); ok; _, ok = c.NextFate() {
			}
		}
		refused := uint64(0)
		for n := range 1 << 16 {
			ack := Seq(n)
			behind := int(Seq(sent-1) - ack)
			was := behind < sent && behind < half
			for _, bits := range []uint32{0, ^uint32(0)} {
				// Each comes from a peer that has said nothing, so that only the ack decides.
				c.window = newReceiveWindow()
				err := c.Receive(now, ackPacket(c, 0, ack, bits))
				if was != (err == nil) || !was && !errors.Is(err, ErrMalformed) { // require alone takes as long as the rest of the test
					require.Failf(t, "an ack is taken wrongly", "sent %d, ack %d: %v", sent, ack, err)
				}
				if !was {
					refused++
				}
			}
		}
		require.Equal(t, refused, c.Stats().FalseAcks, "sent %d", sent)
		require.LessOrEqual(t, c.Stats().Delivered+c.Stats().Lost, uint64(sent))
	}
}

// TestNewerAtHalf: numbers half the circle apart are not newer either way, so "not
// newer" never means "at or before".
func TestNewerAtHalf(t *testing.T) {
	for _, at := range []Seq{0, 1, 1 << 14, 1 << 15, 1<<16 - 1} {
		require.False(t, Newer(at+1<<15, at))
		require.False(t, Newer(at, at+1<<15))
		require.Negative(t, Distance(at+1<<15, at))
		require.Negative(t, Distance(at, at+1<<15))
	}
}
