package udp_test

import (
	"net/netip"
	"testing"

	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/udp"
)

// BenchmarkRatioUDP compares an endpoint with raw sockets, in its metric x_raw. An endpoint on a
// wildcard address also reads the address that each datagram was sent to.
func BenchmarkRatioUDP(b *testing.B) {
	for _, at := range []string{"127.0.0.1", "0.0.0.0"} {
		b.Run(at, func(b *testing.B) {
			srv := listen(b, at+":0", udp.Config{})
			cli := dial(b, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), srv.LocalAddr().Port()).String(), udp.Config{})
			toServer, _ := nettest.Pair(b, srv, cli)
			nettest.Ratio(b, "udp", srv, cli, toServer)
		})
	}
}
