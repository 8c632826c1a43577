//go:build !js

package ws_test

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/transporttest"
	"github.com/foretick/foretick/transport/ws"
)

// cable is a network connection that can be cut without a message to either end.
type cable struct {
	net.Conn
	once sync.Once
	dead chan struct{}
}

func (c *cable) cut() { c.once.Do(func() { close(c.dead) }) }

func (c *cable) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	select {
	case <-c.dead:
		if err != nil {
			return 0, err
		}
		return c.Read(b)
	default:
		return n, err
	}
}

func (c *cable) Write(b []byte) (int, error) {
	select {
	case <-c.dead:
		return len(b), nil
	default:
		return c.Conn.Write(b)
	}
}

// Close does nothing on a cable that is cut.
func (c *cable) Close() error {
	select {
	case <-c.dead:
		return c.SetReadDeadline(time.Unix(1, 0))
	default:
		return c.Conn.Close()
	}
}

// site is a server that listens.
type site struct{ *ws.Server }

func (s *site) url() string  { return "ws://" + s.LocalAddr().String() + "/play" }
func (s *site) page() string { return "http://" + s.LocalAddr().String() }

func listen(t testing.TB, cfg ws.Config) *site {
	t.Helper()
	srv, err := ws.Listen("127.0.0.1:0", cfg)
	require.NoError(t, err)
	return &site{srv}
}

func TestConformance(t *testing.T) {
	costtest.Sockets(t)
	transporttest.Run(t, func(t testing.TB) transporttest.Net {
		cfg := ws.Config{Timeout: 600 * time.Millisecond}
		cables := make(map[transport.Endpoint]*cable)
		var closing sync.WaitGroup
		vanishing := strings.Contains(t.Name(), "Vanish")
		return transporttest.Net{
			Server: func() transport.Endpoint { return listen(t, cfg) },
			Client: func(srv transport.Endpoint) transport.Endpoint {
				if !vanishing {
					cli, err := ws.Dial(srv.(*site).url(), cfg)
					require.NoError(t, err)
					return cli
				}
				var wire *cable
				client := &http.Client{Transport: &http.Transport{
					DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
						c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
						wire.Conn = c
						return wire, err
					}}}
				wire = &cable{dead: make(chan struct{})}
				cli, err := ws.DialWith(client, srv.(*site).url(), cfg)
				require.NoError(t, err)
				cables[cli] = wire
				return cli
			},
			Concurrent: true,
			Timeout:    cfg.Timeout,
			Allocs:     1,
			Vanish: func(cli transport.Endpoint) {
				cables[cli].cut()
				closing.Go(func() { cli.Close(0, "") }) // its farewell does not arrive
			},
			Refuse: func(c transport.Code, reason string) transport.Endpoint {
				cfg := cfg
				cfg.Accept = func(netip.AddrPort, []byte) ([]byte, error) {
					return nil, &transport.DisconnectError{Code: c, Reason: reason}
				}
				return listen(t, cfg)
			},
			Release: func() {
				closing.Wait()
				for _, c := range cables {
					c.Conn.Close()
				}
			},
		}
	})
}

func TestIdentity(t *testing.T) {
	transporttest.RunIdentity(t, func(t testing.TB) transporttest.Doors {
		return transporttest.Doors{
			Server: func(same transport.Same, maxPeers int) transport.BanList {
				return listen(t, ws.Config{Same: same, MaxPeers: maxPeers,
					Accept: func(_ netip.AddrPort, token []byte) ([]byte, error) { return token, nil }})
			},
			Client: func(srv transport.BanList, identity string) transport.Endpoint {
				return dial(t, srv.(*site).url(), ws.Config{Token: []byte(identity)})
			},
		}
	})
}
