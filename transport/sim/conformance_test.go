package sim_test

import (
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/transporttest"
)

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name string
		link sim.Link
	}{
		{"perfect", sim.Link{}},
		{"slow", sim.Link{Latency: 40 * time.Millisecond, Jitter: 5 * time.Millisecond, InOrder: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			transporttest.Run(t, func(t testing.TB) transporttest.Net {
				n := sim.NewNetwork(1)
				return transporttest.Net{
					Server: func() transport.Endpoint { return n.Listen() },
					Client: func(srv transport.Endpoint) transport.Endpoint {
						return n.Dial(srv.(*sim.Endpoint), c.link, c.link)
					},
					Wait:    func(d time.Duration) { n.Run(n.Now() + d) },
					Timeout: 5 * time.Second,
					Vanish: func(cli transport.Endpoint) {
						n.Blackhole(cli.(*sim.Endpoint), n.Now(), n.Now()+time.Hour)
					},
					Refuse: func(c transport.Code, reason string) transport.Endpoint {
						srv := n.Listen()
						srv.SetAccept(func(string) ([]byte, error) {
							return nil, &transport.DisconnectError{Code: c, Reason: reason}
						})
						return srv
					},
				}
			})
		})
	}
}
