package udp_test

import (
	"net/netip"
	"testing"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/udp"
)

// A client keeps its connection while it loses its address and gets another one.
func TestMoving(t *testing.T) {
	t.Parallel()
	costtest.Sockets(t)
	nettest.Moving{
		Listen: func(t testing.TB) (transport.Endpoint, netip.AddrPort) {
			srv := listen(t, "127.0.0.1:0", udp.Config{})
			return srv, srv.LocalAddr()
		},
		Dial: func(t testing.TB, to string) transport.Endpoint { return dial(t, to, udp.Config{}) },
	}.Run(t)
}
