package local_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/local"
	"github.com/foretick/foretick/transport/transporttest"
	"github.com/foretick/foretick/transport/udp"
)

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name   string
		outer  bool // the server's endpoint also has a network
		remote bool // the clients connect over that network
	}{{name: "alone"}, {name: "beside a network", outer: true}, {name: "over the network", outer: true, remote: true}} {
		t.Run(c.name, func(t *testing.T) {
			transporttest.Run(t, func(t testing.TB) transporttest.Net {
				var listen *udp.Endpoint
				return transporttest.Net{
					Concurrent: true,
					Server: func() transport.Endpoint {
						if !c.outer {
							return local.New(nil)
						}
						var err error
						listen, err = udp.Listen("127.0.0.1:0", udp.Config{})
						require.NoError(t, err)
						return local.New(listen)
					},
					Client: func(srv transport.Endpoint) transport.Endpoint {
						if !c.remote {
							return srv.(*local.Endpoint).Dial(nil)
						}
						cli, err := udp.Dial(listen.LocalAddr().String(), udp.Config{})
						require.NoError(t, err)
						return cli
					},
				}
			})
		})
	}
}

// Identities are reported, limited and banned.
func TestDialing(t *testing.T) {
	h := local.New(nil)
	var ev [4]transport.Event
	var clients []transport.Endpoint
	for range local.MaxClients {
		clients = append(clients, h.Dial([]byte("one")))
		require.Equal(t, 1, h.Recv(ev[:]))
		require.Equal(t, transport.Connected, ev[0].Kind)
		var info transport.Info
		require.True(t, h.Info(ev[0].Peer, &info))
		require.Equal(t, "one", string(info.Identity))
	}
	refused := func(code transport.Code, reason string, identity string) {
		c := h.Dial([]byte(identity))
		require.Equal(t, 1, c.Recv(ev[:]))
		require.Equal(t, transport.Disconnected, ev[0].Kind)
		require.Equal(t, code, ev[0].Code)
		require.Contains(t, ev[0].Reason, reason)
		require.Zero(t, h.Recv(ev[:]))
	}
	require.Equal(t, local.MaxClients, h.MaxPeers())
	refused(transport.Full, "local clients", "")
	h.Ban([]byte("one"), time.Time{}, "enough")
	for _, c := range clients {
		require.Equal(t, 2, c.Recv(ev[:]))
		require.Equal(t, transport.Kicked, ev[1].Code)
	}
	for range local.MaxClients {
		require.Equal(t, 1, h.Recv(ev[:1]))
		require.Equal(t, transport.Disconnected, ev[0].Kind)
	}
	refused(transport.Refused, "enough", "one")
	h.Unban([]byte("one"))
	require.Equal(t, 1, h.Dial([]byte("one")).Recv(ev[:]))
	require.Equal(t, transport.Connected, ev[0].Kind)
	require.NoError(t, h.Close(transport.Closed, ""))
	refused(transport.Unreachable, "nobody listens", "one")
}
