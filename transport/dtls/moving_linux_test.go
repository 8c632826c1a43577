package dtls_test

import (
	"net/netip"
	"testing"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/internal/nettest"
)

// A client keeps its connection while it loses its address and gets another one: there is no new
// handshake, and the keys stay the same.
func TestMoving(t *testing.T) {
	t.Parallel()
	costtest.Sockets(t)
	nettest.Moving{
		Listen: func(t testing.TB) (transport.Endpoint, netip.AddrPort) {
			srv := listen(t, dtls.Config{})
			return srv, srv.LocalAddr()
		},
		Dial: func(t testing.TB, to string) transport.Endpoint { return dial(t, to, dtls.Config{}) },
	}.Run(t)
}
