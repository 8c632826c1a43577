//go:build !js

package ws_test

import (
	"testing"

	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/ws"
)

// BenchmarkRatioWS compares an endpoint with raw UDP sockets, in its metric x_raw. That shows what TCP,
// masks and frames cost.
func BenchmarkRatioWS(b *testing.B) {
	srv := listen(b, ws.Config{})
	defer srv.Close(0, "")
	cli := dial(b, srv.url(), ws.Config{})
	toServer, _ := nettest.Pair(b, srv, cli)
	nettest.Ratio(b, "ws", srv, cli, toServer)
}
