package udp_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/udp"
)

// A client whose NAT gives it another port every 5 s plays on.
func TestSoakRebinding(t *testing.T) {
	t.Parallel()
	costtest.Sockets(t)
	nettest.Rebinding{OneWay: []time.Duration{0, 15 * ms, 30 * ms, 50 * ms, 75 * ms, 200 * ms},
		Listen: func(t testing.TB) (transport.Endpoint, netip.AddrPort) {
			srv := listen(t, "127.0.0.1:0", udp.Config{})
			return srv, srv.LocalAddr()
		},
		Dial: func(t testing.TB, to string) transport.Endpoint { return dial(t, to, udp.Config{}) },
	}.Run(t)
}
