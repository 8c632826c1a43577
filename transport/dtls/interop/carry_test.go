package interop_test

import (
	"encoding/binary"
	"hash/crc32"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// carried is a net.PacketConn over one peer of a udp endpoint, for another implementation. It provides the layer
// below DTLS as in docs/STANDARD-dtls.md, with the checksums of our client's handshake.
type carried struct {
	ep   *udp.Endpoint
	peer transport.PeerID

	mu       sync.Mutex
	deadline time.Time
	closed   bool
	up, down [][]byte // all datagrams: to the peer, and from it
	meddle   func(b []byte) [][]byte
	extra    [][]byte
	sums     int  // counts datagrams whose checksum, added by a client, was removed
	hold     bool // written datagrams are only collected in up
}

// accept waits for an endpoint's next peer.
func accept(t testing.TB, ep *udp.Endpoint) *carried {
	t.Helper()
	c := &carried{ep: ep}
	var ev [1]transport.Event
	require.Eventually(t, func() bool {
		return ep.Recv(ev[:]) == 1 && ev[0].Kind == transport.Connected
	}, 10*time.Second, time.Millisecond)
	c.peer = ev[0].Peer
	t.Cleanup(func() { ep.Close(0, "") })
	return c
}

// dialBelow connects to a server of ours without DTLS.
func dialBelow(t testing.TB, to string, token []byte) *carried {
	t.Helper()
	ep, err := udp.Dial(to, udp.Config{Sealed: true, Token: token})
	require.NoError(t, err)
	return accept(t, ep)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type somewhere struct{}

func (somewhere) Network() string { return "udp" }
func (somewhere) String() string  { return "192.0.2.1:1" }

func (c *carried) ReadFrom(b []byte) (int, net.Addr, error) {
	var ev [1]transport.Event
	for {
		c.mu.Lock()
		deadline, closed := c.deadline, c.closed
		if len(c.extra) > 0 {
			n := copy(b, c.extra[0])
			c.extra = c.extra[1:]
			c.mu.Unlock()
			return n, somewhere{}, nil
		}
		c.mu.Unlock()
		switch {
		case closed:
			return 0, nil, net.ErrClosed
		case !deadline.IsZero() && time.Now().After(deadline):
			return 0, nil, os.ErrDeadlineExceeded
		}
		if c.ep.Recv(ev[:]) == 0 {
			select {
			case <-c.ep.Ready():
			case <-time.After(5 * time.Millisecond):
			}
			continue
		}
		if ev[0].Kind == transport.Disconnected {
			return 0, nil, net.ErrClosed
		}
		if ev[0].Kind != transport.Data {
			continue
		}
		if d := c.arrived(ev[0].Data); len(d) > 0 {
			return copy(b, d), somewhere{}, nil
		}
	}
}

// arrived removes the checksum that ends a datagram of our handshake, and lets meddle change the
// datagram.
func (c *carried) arrived(b []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	const sum = 13 + 4
	if n := len(b) - sum; n >= 0 && b[n] == 0x46 && binary.BigEndian.Uint16(b[n+11:]) == 4 &&
		binary.BigEndian.Uint32(b[n+13:]) == crc32.Checksum(b[:n], castagnoli) {
		b = b[:n]
		c.sums++
	}
	c.down = append(c.down, slices.Clone(b))
	if c.meddle != nil {
		for _, forged := range c.meddle(slices.Clone(b)) {
			c.extra = append(c.extra, forged)
		}
	}
	return b
}

func (c *carried) WriteTo(b []byte, _ net.Addr) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := slices.Clone(b)
	c.up = append(c.up, d)
	if c.hold {
		return len(b), nil
	}
	if c.sums > 0 && b[0] != 23 {
		d = append(d, 0x46, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4)
		d = binary.BigEndian.AppendUint32(d, crc32.Checksum(b, castagnoli))
	}
	return len(b), c.ep.Send(c.peer, d)
}

func (c *carried) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return nil
}

func (c *carried) LocalAddr() net.Addr { return somewhere{} }

func (c *carried) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return nil
}
func (c *carried) SetWriteDeadline(time.Time) error { return nil }
func (c *carried) SetDeadline(t time.Time) error    { return c.SetReadDeadline(t) }
