package udp_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/udp"
)

const ms = time.Millisecond

// proxied returns a connected server and client with a proxy between them, and their ids of each other.
func proxied(t testing.TB, link sim.Link, cfg udp.Config) (p *impair.Proxy, srv, cli *udp.Endpoint, toClient, toServer transport.PeerID) {
	t.Helper()
	srv = listen(t, "127.0.0.1:0", cfg)
	p, err := impair.NewProxy("127.0.0.1:0", srv.LocalAddr().String(), link, link, 1)
	require.NoError(t, err)
	t.Cleanup(func() { p.Close() })
	cli = dial(t, p.Addr().String(), cfg)
	toServer = wait(t, cli, transport.Connected).Peer
	return p, srv, cli, wait(t, srv, transport.Connected).Peer, toServer
}

// A burst that takes the first copies of a farewell takes not all: of a closing client's, a closing server's, and of
// either's Disconnect.
func TestFarewellsOutliveABurst(t *testing.T) {
	for name, c := range map[string]struct {
		burst  time.Duration
		by     func(srv, cli *udp.Endpoint, toClient, toServer transport.PeerID)
		server bool // the end that is notified
	}{
		"client's Close": {70 * ms, func(_, cli *udp.Endpoint, _, _ transport.PeerID) { cli.Close(transport.Kicked, "bye") }, true},
		"server's Close": {70 * ms, func(srv, _ *udp.Endpoint, _, _ transport.PeerID) { srv.Close(transport.Kicked, "bye") }, false},
		"client's Disconnect": {200 * ms, func(_, cli *udp.Endpoint, _, to transport.PeerID) { cli.Disconnect(to, transport.Kicked, "bye") },
			true},
		"server's Disconnect": {200 * ms, func(srv, _ *udp.Endpoint, to, _ transport.PeerID) { srv.Disconnect(to, transport.Kicked, "bye") },
			false},
	} {
		t.Run(name, func(t *testing.T) {
			p, srv, cli, toClient, toServer := proxied(t, sim.Link{}, udp.Config{})
			p.Blackhole(c.burst)
			begin := time.Now()
			c.by(srv, cli, toClient, toServer)
			assert.Less(t, time.Since(begin), nettest.Limit(400*ms))
			told := cli
			if c.server {
				told = srv
			}
			ev := wait(t, told, transport.Disconnected)
			assert.Equal(t, transport.Kicked, ev.Code)
			assert.Equal(t, "bye", ev.Reason)
			assert.Less(t, time.Since(begin), nettest.Limit(time.Second))
		})
	}
}

// Close waits only until the peers have confirmed, and not for a peer that is gone.
func TestCloseIsQuick(t *testing.T) {
	patient := udp.Config{Linger: 30 * time.Second, Timeout: 30 * time.Second} // the limits are far below
	_, srv, cli, _, _ := proxied(t, sim.Link{Latency: 10 * ms}, patient)
	begin := time.Now()
	cli.Close(transport.Closed, "")
	took := time.Since(begin)
	assert.GreaterOrEqual(t, took, 20*ms, "it waits for an answer")
	assert.Less(t, took, nettest.Limit(time.Second))
	wait(t, srv, transport.Disconnected)

	cli = dial(t, srv.LocalAddr().String(), patient)
	wait(t, cli, transport.Connected)
	wait(t, srv, transport.Connected)
	udp.Vanish(srv)
	begin = time.Now()
	cli.Close(transport.Closed, "")
	assert.Less(t, time.Since(begin), nettest.Limit(time.Second), "ICMP says that nobody is there")

	silent, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer silent.Close()
	cli = dial(t, silent.LocalAddr().String(), patient)
	begin = time.Now()
	cli.Close(transport.Closed, "")
	assert.Less(t, time.Since(begin), nettest.Limit(time.Second), "there was no connection")
}

// Without lingering, or with next to none, the three copies of a farewell leave at once.
func TestFarewellsWithoutLinger(t *testing.T) {
	for _, linger := range []time.Duration{-1, 1} {
		p, _, cli, _, _ := proxied(t, sim.Link{}, udp.Config{Linger: linger, KeepAlive: 2 * time.Second})
		p.Blackhole(time.Minute)
		before, _ := p.Stats()
		begin := time.Now()
		cli.Close(transport.Kicked, "bye")
		assert.Less(t, time.Since(begin), nettest.Limit(100*ms))
		for deadline := time.Now().Add(nettest.Limit(time.Second)); ; time.Sleep(ms) {
			if now, _ := p.Stats(); now.Sent == before.Sent+3 {
				break
			}
			require.True(t, time.Now().Before(deadline), "linger %v: not three copies", linger)
		}
	}
}

// A server that missed all of a client's farewells is notified by the client, as long as the client has its socket.
func TestClientRemindsTheServer(t *testing.T) {
	p, srv, cli, toClient, toServer := proxied(t, sim.Link{}, udp.Config{})
	p.Blackhole(400 * ms)
	cli.Disconnect(toServer, transport.Kicked, "bye")
	time.Sleep(450 * ms) // all copies are lost
	for range 3 {
		srv.Send(toClient, []byte("are you there?"))
	}
	ev := wait(t, srv, transport.Disconnected)
	assert.Equal(t, transport.Kicked, ev.Code)
	assert.Equal(t, "bye", ev.Reason)
	time.Sleep(20 * ms)
	assert.Zero(t, cli.Recv(make([]transport.Event, 4)), "the caller knows")
}
