//go:build linux

package udp_test

import (
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// TestSeveralAddresses: a server on a wildcard address replies to each client from the address that
// the client sent to. On loopback every address of 127.0.0.0/8 is this machine's, and the system would
// reply from 127.0.0.1 by itself.
func TestSeveralAddresses(t *testing.T) {
	costtest.Sockets(t)
	for _, at := range []string{":0", "0.0.0.0:0", "[::]:0"} {
		for _, batch := range []int{0, 32} {
			srv, err := udp.Listen(at, udp.Config{Batch: batch})
			require.NoError(t, err)
			port := srv.LocalAddr().Port()
			hosts := []string{"127.0.0.1", "127.0.0.2", "127.1.2.3"}
			if _, err := os.Stat("/proc/net/if_inet6"); at != "0.0.0.0:0" && err == nil {
				hosts = append(hosts, "::1")
			}
			for _, host := range hosts {
				meet(t, srv, netip.AddrPortFrom(netip.MustParseAddr(host), port).String())
			}
			require.NoError(t, srv.Close(0, ""))
		}
	}
}

// TestWildcardAllocatesNothing: setting the address to send from and reading the address sent to
// allocate nothing.
func TestWildcardAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	for _, batch := range []int{0, 32} {
		srv, err := udp.Listen(":0", udp.Config{Batch: batch})
		require.NoError(t, err)
		cli, err := udp.Dial(netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), srv.LocalAddr().Port()).String(), udp.Config{})
		require.NoError(t, err)
		var there, here transport.PeerID
		require.Eventually(t, func() bool {
			there, here = connected(srv, there), connected(cli, here)
			return there != 0 && here != 0
		}, 5*time.Second, time.Millisecond)
		b := make([]byte, 200)
		var ev [64]transport.Event
		round := func() {
			for range 20 {
				_ = srv.Send(there, b)
				_ = cli.Send(here, b)
			}
			srv.Flush()
			srv.Recv(ev[:])
			cli.Recv(ev[:])
		}
		// Queues grow at first.
		require.Eventually(t, func() bool { return testing.AllocsPerRun(50, round) == 0 }, 10*time.Second, time.Millisecond)
		require.NoError(t, cli.Close(0, ""))
		require.NoError(t, srv.Close(0, ""))
	}
}

// meet connects a client to an address of the server, and exchanges datagrams.
func meet(t *testing.T, srv *udp.Endpoint, addr string) {
	cli, err := udp.Dial(addr, udp.Config{})
	require.NoError(t, err)
	defer cli.Close(0, "")
	var there, here transport.PeerID
	require.Eventually(t, func() bool {
		there, here = connected(srv, there), connected(cli, here)
		return there != 0 && here != 0
	}, 5*time.Second, time.Millisecond, "%s does not connect", addr)
	got := ""
	require.Eventually(t, func() bool {
		_ = srv.Send(there, []byte("down"))
		srv.Flush()
		var ev [8]transport.Event
		for _, e := range ev[:cli.Recv(ev[:])] {
			got += string(e.Data)
		}
		return got != ""
	}, 5*time.Second, time.Millisecond, "%s sends nothing", addr)
	srv.Disconnect(there, transport.Kicked, "")
	require.Eventually(t, func() bool {
		var ev [8]transport.Event
		for _, e := range ev[:cli.Recv(ev[:])] {
			if e.Kind == transport.Disconnected {
				return e.Code == transport.Kicked
			}
		}
		return false
	}, 5*time.Second, time.Millisecond, "%s says no farewell", addr)
}

// connected returns the peer of a waiting Connected event, or else known.
func connected(e *udp.Endpoint, known transport.PeerID) transport.PeerID {
	var ev [8]transport.Event
	for _, e := range ev[:e.Recv(ev[:])] {
		if e.Kind == transport.Connected {
			known = e.Peer
		}
	}
	return known
}
