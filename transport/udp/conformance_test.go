package udp_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/transporttest"
	"github.com/foretick/foretick/transport/udp"
)

func TestConformance(t *testing.T) {
	costtest.Sockets(t)
	t.Run("one by one", func(t *testing.T) { conforms(t, 0) })
	t.Run("in batches", func(t *testing.T) { conforms(t, 16) })
}

func conforms(t *testing.T, batch int) {
	transporttest.Run(t, func(t testing.TB) transporttest.Net {
		cfg := udp.Config{Timeout: 600 * time.Millisecond, Batch: batch}
		listen := func(cfg udp.Config) transport.Endpoint {
			srv, err := udp.Listen("127.0.0.1:0", cfg)
			require.NoError(t, err)
			return srv
		}
		return transporttest.Net{
			Server: func() transport.Endpoint { return listen(cfg) },
			Client: func(srv transport.Endpoint) transport.Endpoint {
				cli, err := udp.Dial(srv.(*udp.Endpoint).LocalAddr().String(), cfg)
				require.NoError(t, err)
				return cli
			},
			Concurrent: true,
			Timeout:    cfg.Timeout,
			Vanish:     func(cli transport.Endpoint) { udp.Vanish(cli.(*udp.Endpoint)) },
			Refuse: func(c transport.Code, reason string) transport.Endpoint {
				cfg := cfg
				cfg.Accept = func(netip.AddrPort, []byte) ([]byte, error) {
					return nil, &transport.DisconnectError{Code: c, Reason: reason}
				}
				return listen(cfg)
			},
		}
	})
}

func TestIdentity(t *testing.T) {
	transporttest.RunIdentity(t, func(t testing.TB) transporttest.Doors {
		return transporttest.Doors{
			Server: func(same transport.Same, maxPeers int) transport.BanList {
				return listen(t, "127.0.0.1:0", udp.Config{Same: same, MaxPeers: maxPeers,
					Accept: func(_ netip.AddrPort, token []byte) ([]byte, error) { return token, nil }})
			},
			Client: func(srv transport.BanList, identity string) transport.Endpoint {
				return dial(t, srv.(*udp.Endpoint).LocalAddr().String(), udp.Config{Token: []byte(identity)})
			},
		}
	})
}
