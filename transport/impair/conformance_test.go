package impair_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/transporttest"
	"github.com/foretick/foretick/transport/udp"
)

var slow = sim.Link{Latency: 3 * time.Millisecond, Jitter: 2 * time.Millisecond, InOrder: true}

func listen(t testing.TB, cfg udp.Config) *udp.Endpoint {
	t.Helper()
	srv, err := udp.Listen("127.0.0.1:0", cfg)
	require.NoError(t, err)
	return srv
}

func dial(t testing.TB, addr string, cfg udp.Config) *udp.Endpoint {
	t.Helper()
	cli, err := udp.Dial(addr, cfg)
	require.NoError(t, err)
	return cli
}

func TestWrapConformance(t *testing.T) {
	for _, c := range []struct {
		name    string
		link    sim.Link
		timeout time.Duration
	}{
		{"perfect", sim.Link{}, 500 * time.Millisecond},
		{"slow", slow, 0}, // the timeouts are only those of the inner endpoint
	} {
		t.Run(c.name, func(t *testing.T) {
			transporttest.Run(t, func(t testing.TB) transporttest.Net {
				cfg := udp.Config{Timeout: c.timeout}
				addrs := make(map[transport.Endpoint]string)
				return transporttest.Net{
					Server: func() transport.Endpoint {
						srv := listen(t, cfg)
						ep := impair.Wrap(srv, c.link, c.link, 1)
						addrs[ep] = srv.LocalAddr().String()
						return ep
					},
					Client: func(srv transport.Endpoint) transport.Endpoint {
						return impair.Wrap(dial(t, addrs[srv], cfg), c.link, c.link, 2)
					},
					Concurrent: true,
					Timeout:    c.timeout,
				}
			})
		})
	}
}

func TestProxyConformance(t *testing.T) {
	transporttest.Run(t, func(t testing.TB) transporttest.Net {
		cfg := udp.Config{Timeout: 500 * time.Millisecond}
		proxies := make(map[transport.Endpoint]*impair.Proxy)
		return transporttest.Net{
			Server: func() transport.Endpoint {
				srv := listen(t, cfg)
				p, err := impair.NewProxy("127.0.0.1:0", srv.LocalAddr().String(), slow, slow, 1)
				require.NoError(t, err)
				proxies[srv] = p
				return srv
			},
			Client: func(srv transport.Endpoint) transport.Endpoint {
				return dial(t, proxies[srv].Addr().String(), cfg)
			},
			Release: func() {
				for srv, p := range proxies {
					p.Close()
					delete(proxies, srv)
				}
			},
			Concurrent: true,
			Timeout:    cfg.Timeout,
			Vanish: func(transport.Endpoint) {
				for _, p := range proxies {
					p.Blackhole(time.Hour)
				}
			},
		}
	})
}
