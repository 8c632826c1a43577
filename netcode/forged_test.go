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

// TestForgedRowEndsReception: three numbers in a row, farther ahead than is accepted, end a connection's reception too, if
// no genuine packet comes between. Where one does, or they are not close together, they do no harm.
func TestForgedRowEndsReception(t *testing.T) {
	for name, c := range map[string]struct {
		forged  []Seq // ahead of the line
		between bool  // genuine packets
		harm    bool
	}{
		"three":                        {[]Seq{5000, 5001, 5002}, false, true},
		"three beyond a quarter":       {[]Seq{20000, 20001, 20002}, false, false},
		"two":                          {[]Seq{5000, 5001}, false, false},
		"one repeated":                 {[]Seq{5000, 5000, 5000, 5000}, false, false},
		"far from each other":          {[]Seq{5000, 5040, 5080, 5120}, false, false},
		"with genuine ones in between": {[]Seq{5000, 5001, 5002, 5003}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			conn := NewConn(Config{})
			packet := func(seq Seq) []byte {
				h := header{seq: seq}
				return sealed(conn, h.append(make([]byte, 4)))
			}
			at := Seq(0)
			genuine := func(n int) (taken int) {
				for range n {
					if conn.Receive(time.Second, packet(at)) == nil {
						taken++
					}
					at++
				}
				return taken
			}
			require.Equal(t, 100, genuine(100))
			line := conn.window.line
			for _, far := range c.forged {
				_ = conn.Receive(time.Second, packet(line+far))
				if c.between {
					require.Equal(t, 1, genuine(1))
				}
			}
			want := 100
			if c.harm {
				want = 0
			}
			require.Equal(t, want, genuine(100))
			require.Equal(t, name == "three beyond a quarter", conn.Lapsed())
		})
	}
}
