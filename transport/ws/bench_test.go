//go:build !js

package ws_test

import (
	"testing"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ws"
)

// BenchmarkSend sends 200 B datagrams over the loopback in bursts of 32, as a tick does, and receives them.
func BenchmarkSend(b *testing.B) {
	const burst = 32
	srv := listen(b, ws.Config{})
	defer srv.Close(0, "")
	cli := dial(b, srv.url(), ws.Config{})
	to := wait(b, cli, transport.Connected).Peer
	wait(b, srv, transport.Connected)
	payload := make([]byte, 200)
	var ev [64]transport.Event
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for range burst {
			if err := cli.Send(to, payload); err != nil {
				b.Fatal(err)
			}
		}
		for n := burst; n > 0; {
			k := srv.Recv(ev[:])
			if n -= k; n > 0 && k < len(ev) {
				<-srv.Ready()
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*burst), "ns/datagram")
}
