package impair_test

import (
	"encoding/binary"
	"net"
	"runtime"
	"slices"
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

// next returns the next event of a kind, and skips data events.
var next = nettest.Wait

// With the same link and seed, a wrapper loses the same datagrams as a simulation.
func TestWrapDecidesAsSimDoes(t *testing.T) {
	link := sim.Link{Loss: 0.3, Burst: 3, Duplicate: 0.2, Corrupt: 0.1}
	srv := listen(t, udp.Config{ReceiveQueue: 1000})
	defer srv.Close(0, "")
	cli := impair.Wrap(dial(t, srv.LocalAddr().String(), udp.Config{}), link, sim.Link{}, 5)
	defer cli.Close(0, "")
	to := next(t, cli, transport.Connected).Peer
	next(t, srv, transport.Connected)

	path := sim.NewPath(link, 5, 0)
	var want [][]byte
	for i := range 300 {
		b := binary.BigEndian.AppendUint64(make([]byte, 0, 20), uint64(i))[:20]
		require.NoError(t, cli.Send(to, b))
		f := path.Send(time.Duration(i), len(b))
		for k := range f.Copies {
			copied := slices.Clone(b)
			f.Damage(k, copied)
			want = append(want, copied)
		}
	}
	var got [][]byte
	for len(got) < len(want) {
		got = append(got, slices.Clone(next(t, srv, transport.Data).Data))
	}
	assert.Equal(t, want, got)
	up, down, ok := cli.Stats(to)
	require.True(t, ok)
	assert.Equal(t, path.Stats(), up)
	assert.Zero(t, down.Sent)
}

func TestWrapDelays(t *testing.T) {
	srv := listen(t, udp.Config{})
	defer srv.Close(0, "")
	cli := impair.Wrap(dial(t, srv.LocalAddr().String(), udp.Config{}), sim.Link{Latency: 40 * ms}, sim.Link{Latency: 60 * ms}, 1)
	defer cli.Close(0, "")
	to := next(t, cli, transport.Connected).Peer
	from := next(t, srv, transport.Connected).Peer
	begin := time.Now()
	require.NoError(t, cli.Send(to, []byte("ping")))
	next(t, srv, transport.Data)
	assert.GreaterOrEqual(t, time.Since(begin), 40*ms)
	require.NoError(t, srv.Send(from, []byte("pong")))
	next(t, cli, transport.Data)
	took := time.Since(begin)
	assert.GreaterOrEqual(t, took, 100*ms)
	assert.Less(t, took, time.Second)

	cli.Blackhole(time.Hour)
	require.NoError(t, cli.Send(to, []byte("lost")))
	cli.SetLinks(sim.Link{}, sim.Link{Latency: 30 * ms})
	up, _, _ := cli.Stats(to)
	assert.EqualValues(t, 1, up.Dark)
	srv.Disconnect(from, transport.Kicked, "out")
	ev := next(t, cli, transport.Disconnected)
	assert.Equal(t, transport.Kicked, ev.Code)
}

// newProxy returns a proxy in front of a new server.
func newProxy(t testing.TB, cfg udp.Config, up, down sim.Link) (*impair.Proxy, *udp.Endpoint) {
	t.Helper()
	srv := listen(t, cfg)
	t.Cleanup(func() { srv.Close(0, "") })
	p, err := impair.NewProxy("127.0.0.1:0", srv.LocalAddr().String(), up, down, 3)
	require.NoError(t, err)
	t.Cleanup(func() { p.Close() })
	return p, srv
}

// A rebinding changes the port that the server sees, and the client keeps its connection. Package udp
// tests how soon.
func TestRebinding(t *testing.T) {
	link := sim.Link{Latency: 5 * ms}
	p, srv := newProxy(t, udp.Config{}, link, link)
	cli := dial(t, p.Addr().String(), udp.Config{})
	defer cli.Close(0, "")
	to := next(t, cli, transport.Connected).Peer
	from := next(t, srv, transport.Connected).Peer
	addr := func() string {
		var info transport.Info
		require.True(t, srv.Info(from, &info))
		return info.Addr
	}
	before := addr()
	require.NoError(t, p.Rebind())
	require.Eventually(t, func() bool {
		cli.Send(to, make([]byte, 40))
		return addr() != before
	}, time.Minute, 10*ms)
	require.NoError(t, srv.Send(from, []byte("found you")))
	assert.Equal(t, "found you", string(next(t, cli, transport.Data).Data))
	for next(t, srv, transport.Data); srv.Recv(make([]transport.Event, 64)) > 0; {
	}
}

// A blackhole is also in effect for a proxy's clients and a wrapper's peers that connect while it
// lasts.
func TestBlackholeHoldsForNewcomers(t *testing.T) {
	p, srv := newProxy(t, udp.Config{}, sim.Link{}, sim.Link{})
	begin := time.Now()
	p.Blackhole(200 * ms)
	cli := dial(t, p.Addr().String(), udp.Config{})
	defer cli.Close(0, "")
	next(t, cli, transport.Connected)
	assert.GreaterOrEqual(t, time.Since(begin), 200*ms)
	up, _ := p.Stats()
	assert.NotZero(t, up.Dark)

	wrapped := impair.Wrap(dial(t, srv.LocalAddr().String(), udp.Config{}), sim.Link{}, sim.Link{}, 1)
	defer wrapped.Close(0, "")
	wrapped.Blackhole(time.Hour)
	to := next(t, wrapped, transport.Connected).Peer
	require.NoError(t, wrapped.Send(to, []byte("lost")))
	up, _, _ = wrapped.Stats(to)
	assert.EqualValues(t, 1, up.Dark)
}

func TestProxyErrors(t *testing.T) {
	p, srv := newProxy(t, udp.Config{}, sim.Link{}, sim.Link{})
	_, err := impair.NewProxy(p.Addr().String(), srv.LocalAddr().String(), sim.Link{}, sim.Link{}, 1)
	assert.ErrorContains(t, err, "address already in use")
	_, err = impair.NewProxy("127.0.0.1:0", "nonsense", sim.Link{}, sim.Link{}, 1)
	assert.Error(t, err)
	require.NoError(t, p.Close())
	assert.ErrorIs(t, p.Close(), net.ErrClosed)
}

func TestProxyLinks(t *testing.T) {
	p, srv := newProxy(t, udp.Config{}, sim.Link{}, sim.Link{})
	cli := dial(t, p.Addr().String(), udp.Config{})
	defer cli.Close(0, "")
	to := next(t, cli, transport.Connected).Peer
	next(t, srv, transport.Connected)
	p.SetLinks(sim.Link{Loss: 1}, sim.Link{})
	require.NoError(t, cli.Send(to, []byte("lost")))
	assert.Eventually(t, func() bool { up, _ := p.Stats(); return up.Lost == 1 }, time.Minute, ms)
	p.SetLinks(sim.Link{}, sim.Link{})
	p.Blackhole(time.Hour)
	require.NoError(t, cli.Send(to, []byte("lost")))
	assert.Eventually(t, func() bool { up, _ := p.Stats(); return up.Dark == 1 }, time.Minute, ms)
}

// A proxy that is closed binds no socket again.
func TestRebindAfterClose(t *testing.T) {
	server, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer server.Close()
	p, err := impair.NewProxy("127.0.0.1:0", server.LocalAddr().String(), sim.Link{}, sim.Link{}, 1)
	require.NoError(t, err)
	cli, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(p.Addr()))
	require.NoError(t, err)
	defer cli.Close()
	_, err = cli.Write([]byte("hello"))
	require.NoError(t, err)
	_, _, err = server.ReadFromUDP(make([]byte, 100))
	require.NoError(t, err)
	require.NoError(t, p.Close())
	before := runtime.NumGoroutine()
	require.ErrorIs(t, p.Rebind(), net.ErrClosed)
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}
