package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// kinds drains an endpoint and returns the kinds of its events.
func kinds(e *sim.Endpoint) (got []transport.EventKind, code transport.Code) {
	var ev [16]transport.Event
	for n := e.Recv(ev[:]); n > 0; n = e.Recv(ev[:]) {
		for _, x := range ev[:n] {
			got = append(got, x.Kind)
			if x.Kind == transport.Disconnected {
				code = x.Code
			}
		}
	}
	return got, code
}

// A killed server sends nothing more, and its clients time out. A client that dials meanwhile reaches
// the process that listens at the address next.
func TestKillAndRestart(t *testing.T) {
	net := sim.NewNetwork(1)
	srv := net.Listen()
	old := net.Dial(srv, sim.LAN, sim.LAN)
	net.Run(time.Second)
	got, _ := kinds(old)
	require.Equal(t, []transport.EventKind{transport.Connected}, got)
	net.Kill(srv)
	var ev [4]transport.Event
	require.Zero(t, srv.Recv(ev[:]))
	require.ErrorIs(t, srv.Close(transport.Closed, ""), transport.ErrClosed)
	net.Run(3 * time.Second)
	got, _ = kinds(old)
	require.Empty(t, got, "nobody was told")
	late := net.Dial(srv, sim.LAN, sim.LAN)
	net.Run(5 * time.Second)
	got, _ = kinds(late)
	require.Empty(t, got, "nobody answers")
	next := net.Restart(srv)
	net.Run(5100 * time.Millisecond)
	got, _ = kinds(late)
	require.Equal(t, []transport.EventKind{transport.Connected}, got)
	got, _ = kinds(next)
	require.Equal(t, []transport.EventKind{transport.Connected}, got)
	net.Run(7 * time.Second)
	got, code := kinds(old)
	require.Equal(t, []transport.EventKind{transport.Disconnected}, got)
	require.Equal(t, transport.Timeout, code)
	again := net.Dial(srv, sim.LAN, sim.LAN)
	net.Run(8 * time.Second)
	got, _ = kinds(again)
	require.Equal(t, []transport.EventKind{transport.Connected}, got, "the old address leads to the new process")
	require.Panics(t, func() { net.Restart(again) })
	require.Equal(t, sim.Addr(srv.ID()), "sim:0")
}

// A server notices a killed client after the timeout, and not before.
func TestKillClient(t *testing.T) {
	net := sim.NewNetwork(1)
	srv := net.Listen()
	cli := net.Dial(srv, sim.LAN, sim.LAN)
	net.Run(time.Second)
	kinds(srv)
	net.Kill(cli)
	net.Run(5 * time.Second)
	got, _ := kinds(srv)
	require.Empty(t, got)
	net.Run(7 * time.Second)
	got, code := kinds(srv)
	require.Equal(t, []transport.EventKind{transport.Disconnected}, got)
	require.Equal(t, transport.Timeout, code)
}
