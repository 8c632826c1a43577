package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// An accept hook may close or kill its own endpoint, or drop connected clients. Then the client that
// it decides about is not connected to a closed endpoint.
func TestAcceptHookCallsBack(t *testing.T) {
	for _, c := range []struct {
		name string
		hook func(*sim.Network, *sim.Endpoint)
		code transport.Code
		took time.Duration
	}{
		{"Close", func(_ *sim.Network, e *sim.Endpoint) { _ = e.Close(transport.Closed, "") }, transport.Unreachable, time.Second},
		{"Kill", func(n *sim.Network, e *sim.Endpoint) { n.Kill(e) }, transport.Timeout, 6 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			net := sim.NewNetwork(1)
			srv := net.Listen()
			srv.SetAccept(func(string) ([]byte, error) {
				c.hook(net, srv)
				return nil, nil
			})
			cli := net.Dial(srv, sim.LAN, sim.LAN)
			net.Run(c.took)
			got, code := kinds(cli)
			require.Equal(t, []transport.EventKind{transport.Disconnected}, got)
			assert.Equal(t, c.code, code)
			var info transport.Info
			assert.False(t, srv.Info(transport.MakePeerID(0, 1), &info), "it has a peer though it is closed")
		})
	}
	net := sim.NewNetwork(1)
	srv := net.Listen()
	first := net.Dial(srv, sim.LAN, sim.LAN)
	net.Run(time.Second)
	srv.SetAccept(func(string) ([]byte, error) {
		srv.Disconnect(transport.MakePeerID(0, 1), transport.Kicked, "")
		return nil, nil
	})
	second := net.Dial(srv, sim.LAN, sim.LAN)
	net.Run(2 * time.Second)
	got, code := kinds(first)
	assert.Equal(t, []transport.EventKind{transport.Connected, transport.Disconnected}, got)
	assert.Equal(t, transport.Kicked, code)
	got, _ = kinds(second)
	assert.Equal(t, []transport.EventKind{transport.Connected}, got)
}
