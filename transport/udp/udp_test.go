package udp_test

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/udp"
)

// wait waits for the next event, which must be of a kind.
var wait = nettest.Next

func listen(t testing.TB, addr string, cfg udp.Config) *udp.Endpoint {
	t.Helper()
	srv, err := udp.Listen(addr, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { srv.Close(transport.Closed, "") })
	return srv
}

func dial(t testing.TB, addr string, cfg udp.Config) *udp.Endpoint {
	t.Helper()
	cli, err := udp.Dial(addr, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { cli.Close(transport.Closed, "") })
	return cli
}

func TestTokenAndIdentity(t *testing.T) {
	srv := listen(t, "127.0.0.1:0", udp.Config{Accept: func(addr netip.AddrPort, token []byte) ([]byte, error) {
		if name, ok := strings.CutPrefix(string(token), "player "); ok {
			return []byte(name + " from " + addr.Addr().String()), nil
		}
		return nil, errors.New("who are you?")
	}})
	to := srv.LocalAddr().String()
	token := []byte("player one")
	cli := dial(t, to, udp.Config{Token: token})
	token[0] = 'X' // the endpoint has its own copy of the token
	wait(t, cli, transport.Connected)
	var info transport.Info
	require.True(t, srv.Info(wait(t, srv, transport.Connected).Peer, &info))
	assert.Equal(t, "one from 127.0.0.1", string(info.Identity))
	assert.Equal(t, cli.LocalAddr().String(), info.Addr)
	assert.Equal(t, udp.MTU, info.MTU)

	ev := wait(t, dial(t, to, udp.Config{Token: []byte("stranger")}), transport.Disconnected)
	assert.Equal(t, transport.Refused, ev.Code)
	assert.Equal(t, "who are you?", ev.Reason)
}

func TestFull(t *testing.T) {
	srv := listen(t, "127.0.0.1:0", udp.Config{MaxPeers: 2})
	to := srv.LocalAddr().String()
	first := dial(t, to, udp.Config{})
	wait(t, first, transport.Connected)
	wait(t, dial(t, to, udp.Config{}), transport.Connected)
	assert.Equal(t, transport.Full, wait(t, dial(t, to, udp.Config{}), transport.Disconnected).Code)
	srv.Disconnect(wait(t, srv, transport.Connected).Peer, transport.Kicked, "")
	wait(t, first, transport.Disconnected)
	wait(t, dial(t, to, udp.Config{}), transport.Connected)
}

func TestNobodyThere(t *testing.T) {
	free := listen(t, "127.0.0.1:0", udp.Config{})
	to := free.LocalAddr().String()
	free.Close(transport.Closed, "")
	assert.Equal(t, transport.Unreachable, wait(t, dial(t, to, udp.Config{}), transport.Disconnected).Code)

	silent, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer silent.Close()
	begin := time.Now()
	ev := wait(t, dial(t, silent.LocalAddr().String(), udp.Config{Timeout: 500 * time.Millisecond}), transport.Disconnected)
	assert.Equal(t, transport.Timeout, ev.Code)
	assert.GreaterOrEqual(t, time.Since(begin), 450*time.Millisecond)
	assert.Less(t, time.Since(begin), nettest.Limit(800*time.Millisecond))

	ev = wait(t, dial(t, "no-such-host.invalid:1000", udp.Config{}), transport.Disconnected)
	assert.Equal(t, transport.Unreachable, ev.Code)
}

// If the first address of a name does not reply, the next one is tried: localhost is ::1 first where
// there is IPv6.
func TestNames(t *testing.T) {
	srv := listen(t, "127.0.0.1:0", udp.Config{})
	_, port, err := net.SplitHostPort(srv.LocalAddr().String())
	require.NoError(t, err)
	wait(t, dial(t, "localhost:"+port, udp.Config{}), transport.Connected)
	wait(t, dial(t, ":"+port, udp.Config{}), transport.Connected)
}

func TestAnyAddress(t *testing.T) {
	for _, local := range []string{":0", "0.0.0.0:0", "[::]:0"} {
		srv := listen(t, local, udp.Config{})
		cli := dial(t, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), srv.LocalAddr().Port()).String(), udp.Config{})
		to := wait(t, cli, transport.Connected).Peer
		from := wait(t, srv, transport.Connected).Peer
		require.NoError(t, cli.Send(to, []byte("up")), local)
		assert.Equal(t, "up", string(wait(t, srv, transport.Data).Data))
		require.NoError(t, srv.Send(from, []byte("down")), local)
		assert.Equal(t, "down", string(wait(t, cli, transport.Data).Data))
	}
}

func TestMistakesAreNamed(t *testing.T) {
	srv := listen(t, "127.0.0.1:0", udp.Config{})
	_, err := udp.Listen(srv.LocalAddr().String(), udp.Config{})
	require.Error(t, err)
	assert.Contains(t, err.Error(), "address already in use")
	assert.NotContains(t, err.Error(), "\n")
	_, err = udp.Listen("nonsense", udp.Config{})
	assert.Error(t, err)
	for _, addr := range []string{"127.0.0.1", "127.0.0.1:http", "127.0.0.1:0", "127.0.0.1:70000"} {
		_, err = udp.Dial(addr, udp.Config{})
		assert.Error(t, err, addr)
	}
	_, err = udp.Dial("127.0.0.1:1", udp.Config{MaxPeers: -1, ReceiveQueue: -1, SendQueue: 1<<31 - 1, SocketBuffer: 1<<31 - 1, Same: 3, HelloRate: 1 << 21,
		Timeout: time.Millisecond, KeepAlive: time.Hour, Token: make([]byte, udp.MaxToken+1)})
	for _, field := range []string{"MaxPeers", "Same", "HelloRate", "ReceiveQueue", "SendQueue", "SocketBuffer", "Timeout", "KeepAlive", "Token"} {
		assert.ErrorContains(t, err, "Config."+field, "every fault at once")
	}
}

// A server ends without a message and restarts at the same port. It tells its old clients that it does
// not know them, and does not take their datagrams for those of new ones.
func TestServerRestarts(t *testing.T) {
	srv := listen(t, "127.0.0.1:0", udp.Config{})
	addr := srv.LocalAddr().String()
	cli := dial(t, addr, udp.Config{})
	to := wait(t, cli, transport.Connected).Peer
	udp.Vanish(srv)
	srv = listen(t, addr, udp.Config{})
	begin := time.Now()
	var ev [1]transport.Event
	for cli.Recv(ev[:]) == 0 {
		require.Less(t, time.Since(begin), nettest.Patience)
		cli.Send(to, []byte("old"))
		time.Sleep(10 * time.Millisecond)
	}
	assert.Equal(t, transport.Disconnected, ev[0].Kind)
	assert.Equal(t, transport.Gone, ev[0].Code)
	assert.Zero(t, srv.Recv(ev[:]))
	assert.NotZero(t, srv.Counters().UnknownID)
	wait(t, dial(t, addr, udp.Config{}), transport.Connected)
}

// A client notices by the silence that its server is gone, or sooner, if the system reports that nobody
// listens.
func TestServerDies(t *testing.T) {
	t.Parallel()
	srv := listen(t, "127.0.0.1:0", udp.Config{})
	cli := dial(t, srv.LocalAddr().String(), udp.Config{})
	to := wait(t, cli, transport.Connected).Peer
	udp.Vanish(srv)
	begin := time.Now()
	var ev [1]transport.Event
	for cli.Recv(ev[:]) == 0 {
		require.Less(t, time.Since(begin), nettest.Patience)
		cli.Send(to, []byte("anyone?"))
		time.Sleep(10 * time.Millisecond)
	}
	assert.Equal(t, transport.Unreachable, ev[0].Code)
	assert.Greater(t, time.Since(begin), 800*time.Millisecond, "one forged ICMP message ends nothing")
}

// Sending is bounded by the socket's buffer and never waits.
func TestSendNeverWaits(t *testing.T) {
	srv := listen(t, "127.0.0.1:0", udp.Config{})
	cli := dial(t, srv.LocalAddr().String(), udp.Config{})
	toServer, _ := nettest.Pair(t, srv, cli)
	begin, backlog := time.Now(), 0
	for range 20_000 {
		if err := cli.Send(toServer, make([]byte, udp.MTU)); err != nil {
			require.ErrorIs(t, err, transport.ErrBacklog)
			backlog++
		}
	}
	assert.Less(t, time.Since(begin), nettest.Patience)
	var info transport.Info
	require.True(t, cli.Info(toServer, &info))
	assert.EqualValues(t, 20_000, info.Stats.Sent+info.Stats.SendDropped)
	assert.EqualValues(t, backlog, info.Stats.SendDropped)
}
