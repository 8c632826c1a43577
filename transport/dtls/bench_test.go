package dtls_test

import (
	"testing"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/internal/nettest"
)

// BenchmarkRatioDTLS compares an endpoint with raw sockets, in its metric x_raw.
func BenchmarkRatioDTLS(b *testing.B) {
	srv := listen(b, dtls.Config{})
	cli := dial(b, addr(srv), dtls.Config{})
	toServer, _ := pair(b, srv, cli)
	nettest.Ratio(b, "dtls", srv, cli, toServer)
}

// BenchmarkHandshake connects clients, eight at a time, both ends on this machine.
func BenchmarkHandshake(b *testing.B) {
	cert := certificate(b)
	for _, mode := range []string{"ticket", "certificate"} {
		b.Run(mode, func(b *testing.B) {
			const width = 8
			cfg := dtls.Config{MaxPeers: 1 << 14, HelloRate: 1 << 20, Gate: gate(b)}
			if mode == "certificate" {
				cfg.Gate, cfg.Certificate = nil, cert
			}
			srv := listen(b, cfg)
			stop := make(chan struct{})
			defer close(stop)
			go func() {
				var ev [64]transport.Event
				for {
					select {
					case <-stop:
						return
					case <-srv.Ready():
						for srv.Recv(ev[:]) == len(ev) {
						}
					}
				}
			}()
			b.ResetTimer()
			n := 0
			for i := 0; i < b.N; i++ {
				var clients [width]*dtls.Endpoint
				for k := range clients {
					c := dtls.Config{Pins: []dtls.Pin{dtls.PinOf(*cert)}}
					if mode == "ticket" {
						c = dtls.Config{Ticket: issue(b, "")}
					}
					clients[k] = dial(b, addr(srv), c)
				}
				for _, cli := range clients {
					wait(b, cli, transport.Connected)
					n++
				}
				b.StopTimer()
				for _, cli := range clients {
					dtls.Vanish(cli)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "handshakes/s")
		})
	}
}
