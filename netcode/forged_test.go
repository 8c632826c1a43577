package netcode

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestForgedPacketsEndReception pins what SECURITY.md says of transports that do not authenticate: who can read and
// inject ends a connection's reception with three pairs of packets, each as far ahead as is accepted, after which every
// genuine packet is too old. Fewer do no lasting harm. Over a transport that authenticates none of them would arrive.
func TestForgedPacketsEndReception(t *testing.T) {
	for pairs := range 5 {
		c := NewConn(Config{})
		packet := func(seq Seq) []byte {
			h := header{seq: seq}
			b := h.append(make([]byte, 4))
			le.PutUint32(b, checksum(c.seed, b[4:]))
			return b
		}
		at := Seq(0)
		genuine := func(n int) (taken int) {
			for range n {
				if c.Receive(time.Duration(at)*time.Millisecond, packet(at)) == nil {
					taken++
				}
				at++
			}
			return taken
		}
		require.Equal(t, 1000, genuine(1000))
		for range pairs {
			far := c.window.line + windowAhead
			require.NoError(t, c.Receive(time.Second, packet(far-1)))
			require.NoError(t, c.Receive(time.Second, packet(far)))
		}
		taken := genuine(100)
		t.Logf("%d forged packets: %d of the next 100 genuine ones are taken", 2*pairs, taken)
		if pairs < 3 {
			assert.Equal(t, 100, taken)
		} else {
			assert.Zero(t, taken)
			assert.EqualValues(t, 100, c.Stats().Stale)
		}
	}
}
