package dtls_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
)

// BenchmarkRatioDTLS sends 200 B datagrams over the loopback in bursts of 32, as a tick does, and receives them, by an
// endpoint and by the net package's own calls in turn. x_raw is the endpoint's datagrams a second as a share of the raw
// sockets'.
func BenchmarkRatioDTLS(b *testing.B) {
	const burst = 32
	raw := rawPair(b)
	srv := listen(b, dtls.Config{})
	cli := dial(b, addr(srv), dtls.Config{})
	toServer, _ := pair(b, srv, cli)
	payload := make([]byte, 200)
	var ev [64]transport.Event
	secured := func() {
		for range burst {
			if err := cli.Send(toServer, payload); err != nil {
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
	var rawTime, time2 time.Duration
	for range 100 {
		raw.burst(b, payload, burst)
		secured()
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		t := time.Now()
		raw.burst(b, payload, burst)
		rawTime += time.Since(t)
		t = time.Now()
		secured()
		time2 += time.Since(t)
	}
	b.ReportMetric(float64(rawTime)/float64(time2), "x_raw")
	b.ReportMetric(float64(rawTime)/float64(b.N*burst), "raw_ns/datagram")
	b.ReportMetric(float64(time2)/float64(b.N*burst), "dtls_ns/datagram")
}

// BenchmarkHandshake connects clients, eight at a time, both ends on this machine.
func BenchmarkHandshake(b *testing.B) {
	cert := certificate(b)
	for _, mode := range []string{"ticket", "certificate"} {
		b.Run(mode, func(b *testing.B) {
			const width = 8
			cfg := dtls.Config{MaxPeers: 1 << 14, Gate: gate(b)}
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

type rawSockets struct {
	from, to *net.UDPConn
	addr     netip.AddrPort
	buf      [1500]byte
}

func rawPair(b *testing.B) *rawSockets {
	b.Helper()
	open := func() *net.UDPConn {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Close() })
		return c
	}
	r := &rawSockets{from: open(), to: open()}
	r.addr = r.to.LocalAddr().(*net.UDPAddr).AddrPort()
	return r
}

func (r *rawSockets) burst(b *testing.B, payload []byte, n int) {
	for range n {
		if _, err := r.from.WriteToUDPAddrPort(payload, r.addr); err != nil {
			b.Fatal(err)
		}
	}
	for range n {
		if _, _, err := r.to.ReadFromUDPAddrPort(r.buf[:]); err != nil {
			b.Fatal(err)
		}
	}
}
