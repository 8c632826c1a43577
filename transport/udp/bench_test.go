package udp_test

import (
	"testing"

	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/udp"
)

// BenchmarkRatioUDP holds an endpoint against raw sockets: its metric x_raw.
func BenchmarkRatioUDP(b *testing.B) {
	srv := listen(b, "127.0.0.1:0", udp.Config{})
	cli := dial(b, srv.LocalAddr().String(), udp.Config{})
	toServer, _ := nettest.Pair(b, srv, cli)
	nettest.Ratio(b, "udp", srv, cli, toServer)
}
