package udp

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
)

// way is a pair of addresses: one to send from, and one to send to.
type way struct {
	from netip.Addr
	to   netip.AddrPort
}

// relay forwards datagrams to a server, except those of a source that is cut off. Clients can reach it
// by two ways.
type relay struct {
	ways   [2]way
	server netip.AddrPort
	mu     sync.Mutex
	off    netip.Addr // datagrams from it and to it are dropped; unspecified: all are
	backs  map[netip.AddrPort]*net.UDPConn
}

func newRelay(t *testing.T, server netip.AddrPort) *relay {
	r := &relay{server: server, backs: map[netip.AddrPort]*net.UDPConn{}}
	listen := func(a string) (netip.AddrPort, error) {
		c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(a)))
		if err != nil {
			return netip.AddrPort{}, err
		}
		t.Cleanup(func() { _ = c.Close() })
		go r.run(c)
		return c.LocalAddr().(*net.UDPAddr).AddrPort(), nil
	}
	at, err := listen("127.0.0.1:0")
	require.NoError(t, err)
	r.ways = [2]way{{at.Addr(), at}, {netip.MustParseAddr("127.0.0.2"), at}}
	if at, err = listen("[::1]:0"); err == nil { // a system with IPv6 has it
		r.ways[1] = way{at.Addr(), at}
	}
	t.Cleanup(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, b := range r.backs {
			_ = b.Close()
		}
	})
	return r
}

func (r *relay) cutOff(a netip.Addr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.off = a
}

// back returns the socket for a source of datagrams to a front, or nil if the source is cut off.
func (r *relay) back(front *net.UDPConn, from netip.AddrPort) *net.UDPConn {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.off == from.Addr() || r.off.IsValid() && r.off.IsUnspecified() {
		return nil
	}
	b := r.backs[from]
	if b == nil {
		b, _ = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(r.server))
		r.backs[from] = b
		go func() {
			buf := make([]byte, 2000)
			for {
				n, err := b.Read(buf)
				if err != nil {
					return
				}
				if r.back(front, from) != nil {
					_, _ = front.WriteToUDPAddrPort(buf[:n], from)
				}
			}
		}()
	}
	return b
}

func (r *relay) run(front *net.UDPConn) {
	buf := make([]byte, 2000)
	for {
		n, from, err := front.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		if b := r.back(front, plain(from)); b != nil {
			_, _ = b.Write(buf[:n])
		}
	}
}

// TestSilenceMoves: a client's datagrams are sent from an address to which no reply comes. The client
// then uses the address that the system would choose now. If that is the same one, the client keeps
// its socket and waits.
func TestSilenceMoves(t *testing.T) {
	t.Parallel()
	costtest.Sockets(t)
	srv, err := Listen("127.0.0.1:0", Config{})
	require.NoError(t, err)
	defer srv.Close(0, "")
	r := newRelay(t, srv.LocalAddr())
	var way atomic.Int32
	var opened atomic.Int32
	cli, err := dialBy(r.ways[0].to.String(), Config{Timeout: 20 * time.Second}, (*Endpoint).resolve, func(netip.AddrPort) (*net.UDPConn, error) {
		opened.Add(1)
		w := r.ways[way.Load()]
		return net.DialUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(w.from, 0)), net.UDPAddrFromAddrPort(w.to))
	})
	first, second := r.ways[0].from, r.ways[1].from
	require.NoError(t, err)
	defer cli.Close(0, "")
	toServer, toClient := nettest.Pair(t, srv, cli)
	moves := func() uint64 {
		var i transport.Info
		require.True(t, cli.Info(toServer, &i))
		return i.Stats.Migrations
	}
	nettest.Talk(t, srv, cli, toServer, toClient)

	r.cutOff(netip.IPv4Unspecified())
	looks := opened.Load()
	nettest.Until(t, "it looks at its address", func() bool { return opened.Load() > looks+1 })
	r.cutOff(netip.Addr{})
	nettest.Talk(t, srv, cli, toServer, toClient)
	require.Zero(t, moves())
	require.Equal(t, first, cli.LocalAddr().Addr())

	r.cutOff(first)
	way.Store(1)
	nettest.Until(t, "it goes on from the second address", func() bool { return cli.LocalAddr().Addr() == second })
	require.EqualValues(t, 1, moves())
	nettest.Until(t, "the server knows it", func() bool {
		var i transport.Info
		return srv.Info(toClient, &i) && i.Stats.Migrations == 1
	})
	nettest.Talk(t, srv, cli, toServer, toClient)

	// A second time, and then back, while only the endpoint itself sends.
	r.cutOff(second)
	way.Store(0)
	nettest.Until(t, "it goes back", func() bool { return moves() == 2 })
	cli.mu.Lock()
	require.Nil(t, cli.dial.probe)
	cli.mu.Unlock()
}
