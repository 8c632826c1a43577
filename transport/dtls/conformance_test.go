package dtls_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/transporttest"
)

func TestConformance(t *testing.T) {
	costtest.Sockets(t)
	cert := certificate(t)
	for _, mode := range []struct {
		name   string
		server func() dtls.Config
		client func() dtls.Config
	}{
		{"ticket", func() dtls.Config { return dtls.Config{Gate: gate(t)} },
			func() dtls.Config { return dtls.Config{Ticket: issue(t, "")} }},
		{"certificate", func() dtls.Config { return dtls.Config{Certificate: cert} },
			func() dtls.Config { return dtls.Config{Pins: []dtls.Pin{dtls.PinOf(*cert)}} }},
	} {
		t.Run(mode.name, func(t *testing.T) {
			transporttest.Run(t, func(t testing.TB) transporttest.Net {
				const timeout = 800 * time.Millisecond
				server := func(c transport.Code, reason string) transport.Endpoint {
					cfg := mode.server()
					cfg.Timeout = timeout
					if reason != "" {
						cfg.Accept = func(netip.AddrPort, []byte) ([]byte, error) {
							return nil, &transport.DisconnectError{Code: c, Reason: reason}
						}
					}
					srv, err := dtls.Listen("127.0.0.1:0", cfg)
					require.NoError(t, err)
					return srv
				}
				return transporttest.Net{
					Server: func() transport.Endpoint { return server(0, "") },
					Client: func(srv transport.Endpoint) transport.Endpoint {
						cfg := mode.client()
						cfg.Timeout = timeout
						cli, err := dtls.Dial(addr(srv.(*dtls.Endpoint)), cfg)
						require.NoError(t, err)
						return cli
					},
					Concurrent: true,
					Timeout:    timeout,
					Vanish:     func(cli transport.Endpoint) { dtls.Vanish(cli.(*dtls.Endpoint)) },
					Refuse:     server,
				}
			})
		})
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	cert := certificate(t)
	modes := map[string]struct {
		server dtls.Config
		client func(identity string) dtls.Config
	}{
		"ticket": {dtls.Config{Gate: gate(t)}, func(identity string) dtls.Config { return dtls.Config{Ticket: issue(t, identity)} }},
		"certificate": {dtls.Config{Certificate: cert, Accept: func(_ netip.AddrPort, token []byte) ([]byte, error) { return token, nil }},
			func(identity string) dtls.Config {
				return dtls.Config{Pins: []dtls.Pin{dtls.PinOf(*cert)}, Token: []byte(identity)}
			}},
	}
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			transporttest.RunIdentity(t, func(t testing.TB) transporttest.Doors {
				return transporttest.Doors{
					Server: func(same transport.Same, maxPeers int) transport.BanList {
						cfg := mode.server
						cfg.Same, cfg.MaxPeers = same, maxPeers
						return listen(t, cfg)
					},
					Client: func(srv transport.BanList, identity string) transport.Endpoint {
						return dial(t, addr(srv.(*dtls.Endpoint)), mode.client(identity))
					},
				}
			})
		})
	}
}
