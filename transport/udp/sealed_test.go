package udp_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/udp"
)

// An attacker that reads a sealed connection's traffic cannot end the connection. If the other end is
// really gone, the connection ends after a second.
func TestSealedBelievesNoForgedEnd(t *testing.T) {
	t.Parallel()
	srv, err := udp.Listen("127.0.0.1:0", udp.Config{Sealed: true})
	require.NoError(t, err)
	defer srv.Close(0, "")
	relay := nettest.NewAttacker(t, srv.LocalAddr().String())
	cli, err := udp.Dial(relay.Addr(), udp.Config{Sealed: true})
	require.NoError(t, err)
	defer cli.Close(0, "")
	toServer := wait(t, cli, transport.Connected).Peer
	toClient := wait(t, srv, transport.Connected).Peer
	require.NoError(t, cli.Send(toServer, []byte("hi")))
	wait(t, srv, transport.Data)
	for range 5 {
		forge(relay)
		time.Sleep(20 * time.Millisecond)
	}
	require.NoError(t, cli.Send(toServer, []byte("still here")))
	assert.Equal(t, "still here", string(wait(t, srv, transport.Data).Data))
	require.NoError(t, srv.Send(toClient, []byte("so am I")))
	wait(t, cli, transport.Data)
	assert.GreaterOrEqual(t, srv.Counters().Unbelieved, uint64(5))
	assert.GreaterOrEqual(t, cli.Counters().Unbelieved, uint64(10))

	for begin := time.Now(); time.Since(begin) < 1500*time.Millisecond; time.Sleep(20 * time.Millisecond) {
		require.NoError(t, cli.Send(toServer, []byte("on and on"))) // the forged messages have no effect
		require.NoError(t, srv.Send(toClient, []byte("on and on")))
		var ev [8]transport.Event
		for _, e := range append(ev[:srv.Recv(ev[:4]):4], ev[4:4+cli.Recv(ev[4:])]...) {
			require.NotEqual(t, transport.Disconnected, e.Kind)
		}
	}

	begin := time.Now()
	srv.Disconnect(toClient, transport.Kicked, "really")
	var ev [1]transport.Event
	for n := 0; n == 0 || ev[0].Kind == transport.Data; n = cli.Recv(ev[:]) {
		time.Sleep(10 * time.Millisecond)
		require.Less(t, time.Since(begin), nettest.Patience)
	}
	assert.Equal(t, transport.Kicked, ev[0].Code)
	assert.Greater(t, time.Since(begin), 500*time.Millisecond)
}

// forge sends a forged close to both ends, and a forged gone to the client.
func forge(a *nettest.Attacker) {
	id := a.ID()
	b := nettest.Sum(append(append([]byte{0xA9}, id...), 0, byte(transport.Closed), 0))
	a.Inject(b)
	a.Return(b)
	a.Return(append([]byte{0xAA}, id...))
}
