package dtls_test

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/udp"
)

const ms = time.Millisecond

// Clients connect over a link that is worse than any real one.
func TestSoakConnecting(t *testing.T) {
	t.Parallel()
	costtest.Sockets(t)
	srv := listen(t, dtls.Config{MaxPeers: 1000, MaxHandshakes: 1024, MaxHandshakesPerAddr: 1024, HelloRate: 1 << 20})
	link := sim.Hell
	link.Outage = 0
	nettest.Connecting{Server: addr(srv), Link: link, P99: 4 * time.Second, Lanes: 100, Short: 400,
		Dial:  func(to string) (transport.Endpoint, error) { return dtls.Dial(to, dtls.Config{Ticket: issue(t, "")}) },
		Leave: func(ep transport.Endpoint) { dtls.Vanish(ep.(*dtls.Endpoint)) }}.Run(t)
	t.Logf("%+v", srv.Counters())
}

// A client whose NAT gives it another port keeps its connection: there is no new handshake.
func TestSoakRebinding(t *testing.T) {
	t.Parallel()
	costtest.Sockets(t)
	var servers []*dtls.Endpoint
	var mu sync.Mutex
	nettest.Rebinding{OneWay: []time.Duration{25 * ms, 75 * ms, 200 * ms},
		Listen: func(t testing.TB) (transport.Endpoint, netip.AddrPort) {
			srv := listen(t, dtls.Config{})
			mu.Lock()
			defer mu.Unlock()
			servers = append(servers, srv)
			return srv, srv.LocalAddr()
		},
		Dial: func(t testing.TB, to string) transport.Endpoint { return dial(t, to, dtls.Config{}) },
	}.Run(t)
	for _, srv := range servers {
		assert.EqualValues(t, 1, srv.Counters().Handshakes)
	}
}

// A server is killed and restarted at its port. The client notices it and reconnects soon, and no
// event of the old connection follows.
func TestSoakRestart(t *testing.T) {
	t.Parallel()
	costtest.Sockets(t)
	(&nettest.Restarting{
		Listen: func(at string) (transport.Endpoint, error) { return dtls.Listen(at, dtls.Config{Gate: gate(t)}) },
		Addr:   func(srv transport.Endpoint) string { return addr(srv.(*dtls.Endpoint)) },
		Dial:   func(t testing.TB, to string) transport.Endpoint { return dial(t, to, dtls.Config{}) },
		Vanish: func(ep transport.Endpoint) { dtls.Vanish(ep.(*dtls.Endpoint)) },
		Keys: func(srv, cli transport.Endpoint, toClient, toServer transport.PeerID) []string {
			return []string{dtls.Fingerprint(srv.(*dtls.Endpoint), toClient), dtls.Fingerprint(cli.(*dtls.Endpoint), toServer)}
		},
	}).Run(t)
}

// When peers have come and gone, an endpoint holds nothing of them.
func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	srv := listen(t, dtls.Config{})
	for i := range 9 {
		cli, err := dtls.Dial(addr(srv), dtls.Config{Ticket: issue(t, "ann")})
		require.NoError(t, err)
		wait(t, srv, transport.Connected)
		if i%3 == 0 {
			wait(t, cli, transport.Connected)
		}
		if i%3 == 1 {
			require.True(t, srv.DisconnectIdentity([]byte("ann"), transport.Kicked, ""))
		}
		cli.Close(transport.Closed, "")
		wait(t, srv, transport.Disconnected)
	}
	nettest.Until(t, "nothing is left", func() bool { return dtls.Held(srv) == 0 })
}

// The package can wrap any endpoint: here one that delays, duplicates and reorders datagrams.
func TestWrap(t *testing.T) {
	low, err := udp.Listen("127.0.0.1:0", udp.Config{Sealed: true})
	require.NoError(t, err)
	link := sim.Link{Latency: 10 * ms, Jitter: 20 * ms, Duplicate: 0.2, Reorder: 0.1, Corrupt: 0.05}
	srv, err := dtls.WrapServer(impair.Wrap(low, link, link, 1), dtls.Config{Gate: gate(t)})
	require.NoError(t, err)
	defer srv.Close(0, "")
	below, err := udp.Dial(low.LocalAddr().String(), udp.Config{Sealed: true})
	require.NoError(t, err)
	cli, err := dtls.WrapClient(below, dtls.Config{Ticket: issue(t, "ann")})
	require.NoError(t, err)
	defer cli.Close(0, "")
	toServer, toClient := pair(t, srv, cli)
	const n = 300
	got := map[*dtls.Endpoint]map[string]int{srv: {}, cli: {}}
	var ev [64]transport.Event
	for i := range n + 100 {
		if i < n {
			require.NoError(t, cli.Send(toServer, []byte{byte(i), byte(i >> 8)}))
			require.NoError(t, srv.Send(toClient, []byte{byte(i), byte(i >> 8)}))
		}
		time.Sleep(ms)
		for _, ep := range []*dtls.Endpoint{srv, cli} {
			for _, e := range ev[:ep.Recv(ev[:])] {
				require.Equal(t, transport.Data, e.Kind)
				got[ep][string(e.Data)]++
			}
		}
	}
	for _, got := range got {
		for _, times := range got {
			assert.Equal(t, 1, times, "a datagram came twice")
		}
		// Jitter delays a datagram beyond the window only if there are enough later ones; damage loses
		// a few.
		assert.Greater(t, len(got), n*8/10)
	}
	assert.NotZero(t, srv.Counters().Replayed+cli.Counters().Replayed)
	assert.NotZero(t, srv.Counters().Forged+cli.Counters().Forged)
}

func TestConfigFaults(t *testing.T) {
	_, err := dtls.Listen("127.0.0.1:0", dtls.Config{MaxPeers: -1, MaxHandshakes: -1, MaxHandshakesPerAddr: 1 << 21, ReceiveQueue: -1,
		HelloRate: 1 << 21, SendQueue: 1<<31 - 1, SocketBuffer: 1<<31 - 1, Timeout: 1, KeepAlive: time.Hour, Token: make([]byte, dtls.MaxToken+1), Same: 9})
	for _, field := range []string{"Gate", "MaxPeers", "MaxHandshakes", "MaxHandshakesPerAddr", "ReceiveQueue", "HelloRate", "SendQueue",
		"SocketBuffer", "Timeout", "KeepAlive", "Token", "Same"} {
		assert.ErrorContains(t, err, "Config."+field)
	}
	_, err = dtls.WrapServer(nil, dtls.Config{})
	assert.Error(t, err)
	_, err = dtls.WrapClient(nil, dtls.Config{})
	assert.Error(t, err)
	rsa := certificate(t)
	rsa.PrivateKey = nil
	_, err = dtls.Listen("127.0.0.1:0", dtls.Config{Certificate: rsa})
	assert.ErrorContains(t, err, "ECDSA")
}
