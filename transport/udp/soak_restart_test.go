package udp_test

import (
	"testing"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/udp"
)

// A server that is killed and comes back at its port: the client notices, is back soon, and nothing of before is heard.
func TestSoakRestart(t *testing.T) {
	costtest.Sockets(t)
	(&nettest.Restarting{
		Listen: func(at string) (transport.Endpoint, error) { return udp.Listen(at, udp.Config{}) },
		Addr:   func(srv transport.Endpoint) string { return srv.(*udp.Endpoint).LocalAddr().String() },
		Dial:   func(t testing.TB, to string) transport.Endpoint { return dial(t, to, udp.Config{}) },
		Vanish: func(ep transport.Endpoint) { udp.Vanish(ep.(*udp.Endpoint)) },
		Keys: func(srv, cli transport.Endpoint, toClient, _ transport.PeerID) []string {
			return []string{udp.ConnectionID(srv.(*udp.Endpoint), toClient), udp.CookieKey(srv.(*udp.Endpoint))}
		},
	}).Run(t)
}
