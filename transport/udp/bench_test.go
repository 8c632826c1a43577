package udp_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// BenchmarkRatioUDP sends 200 B datagrams over the loopback in bursts of 32, as a tick does, and receives them, by an
// endpoint and by the net package's own calls in turn. x_raw is the endpoint's datagrams a second as a share of the raw
// sockets'.
func BenchmarkRatioUDP(b *testing.B) {
	const burst = 32
	raw := rawPair(b)
	end := endpointPair(b, udp.Config{})
	payload := make([]byte, 200)
	var rawTime, endTime time.Duration
	for i := 0; i < 100; i++ {
		raw.burst(b, payload, burst)
		end.burst(b, payload, burst)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		t := time.Now()
		raw.burst(b, payload, burst)
		rawTime += time.Since(t)
		t = time.Now()
		end.burst(b, payload, burst)
		endTime += time.Since(t)
	}
	b.ReportMetric(float64(rawTime)/float64(endTime), "x_raw")
	b.ReportMetric(float64(rawTime)/float64(b.N*burst), "raw_ns/datagram")
	b.ReportMetric(float64(endTime)/float64(b.N*burst), "udp_ns/datagram")
}

type rawSockets struct {
	from, to *net.UDPConn
	addr     netip.AddrPort
	buf      [1500]byte
}

func rawPair(b *testing.B) *rawSockets {
	b.Helper()
	listen := func() *net.UDPConn {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Close() })
		return c
	}
	r := &rawSockets{from: listen(), to: listen()}
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

type endpoints struct {
	srv, cli           *udp.Endpoint
	toServer, toClient transport.PeerID
	events             [64]transport.Event
}

func endpointPair(t testing.TB, cfg udp.Config) *endpoints {
	t.Helper()
	srv, err := udp.Listen("127.0.0.1:0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close(transport.Closed, "") })
	cli, err := udp.Dial(srv.LocalAddr().String(), udp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cli.Close(transport.Closed, "") })
	return &endpoints{srv: srv, cli: cli, toServer: wait(t, cli, transport.Connected).Peer,
		toClient: wait(t, srv, transport.Connected).Peer}
}

// burst sends n datagrams from the client and takes them at the server.
func (e *endpoints) burst(t testing.TB, payload []byte, n int) {
	for range n {
		if err := e.cli.Send(e.toServer, payload); err != nil {
			t.Fatal(err)
		}
	}
	for n > 0 {
		k := e.srv.Recv(e.events[:])
		n -= k
		if n > 0 && k < len(e.events) {
			<-e.srv.Ready()
		}
	}
}
