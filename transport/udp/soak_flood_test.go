//go:build unix

package udp

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
)

func opened(t *testing.T) (srv *Endpoint, dial func() transport.Endpoint) {
	srv, err := Listen("127.0.0.1:0", Config{})
	require.NoError(t, err)
	t.Cleanup(func() { srv.Close(0, "") })
	return srv, func() transport.Endpoint {
		cli, err := Dial(srv.LocalAddr().String(), Config{})
		require.NoError(t, err)
		t.Cleanup(func() { cli.Close(0, "") })
		return cli
	}
}

// Half-open flood: hellos with ever new nonces, none of which returns a cookie. The server stores
// nothing and accepts a client.
func TestSoakHelloFlood(t *testing.T) {
	costtest.Figures(t)
	costtest.Sockets(t)
	srv, dial := opened(t)
	sent := nettest.GreetAgain(t, srv.LocalAddr().String(), srv, dial, 1<<20, func(b []byte, r *rand.Rand) []byte {
		return nettest.Hello(b, r.Uint64(), uint64(r.IntN(2))*r.Uint64()) // half of them with an invented cookie
	})
	srv.mu.Lock()
	defer srv.mu.Unlock()
	assert.LessOrEqual(t, len(srv.byConn)+len(srv.graves.byConn), 1)
	assert.NotZero(t, srv.counters.BadCookie)
	assert.Greater(t, srv.counters.Hellos, uint64(sent/2))
}

// Spoofed flood: datagrams of every type with invented ids. Ticks continue, no peer is
// disconnected, nothing grows.
func TestSoakSpoofedFlood(t *testing.T) {
	costtest.Figures(t)
	costtest.Sockets(t)
	d := nettest.Length(t, "a flood of", time.Second, 30*time.Second)
	srv, dial := opened(t)
	cli := dial()
	toServer, _ := nettest.Pair(t, srv, cli)
	nettest.Besiege(t, srv.LocalAddr().String(), srv, cli, toServer, d, func(b []byte, r *rand.Rand) []byte {
		b = append(b[:0], typeHello+byte(r.IntN(int(typeGone-typeHello)+2)))
		b = binary.BigEndian.AppendUint64(b, r.Uint64())
		return b[:9+r.IntN(100)]
	})
	t.Logf("%+v", srv.Counters())
}
