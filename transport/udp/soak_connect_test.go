package udp_test

import (
	"testing"
	"time"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/udp"
)

// Clients connect over an extremely bad link, with additional outages.
func TestSoakConnecting(t *testing.T) {
	t.Parallel()
	costtest.Sockets(t)
	srv := listen(t, "127.0.0.1:0", udp.Config{MaxPeers: 1000, HelloRate: 1 << 20})
	nettest.Connecting{Server: srv.LocalAddr().String(), Link: sim.Hell, P99: 3 * time.Second, Lanes: 120, Short: 240,
		Dial:  func(to string) (transport.Endpoint, error) { return udp.Dial(to, udp.Config{}) },
		Leave: func(ep transport.Endpoint) { ep.Close(transport.Closed, "") }}.Run(t)
}
