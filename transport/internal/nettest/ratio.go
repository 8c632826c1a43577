package nettest

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
)

const burst = 32 // datagrams at a time, as in a tick

// Ratio sends 200-byte datagrams over the loopback in bursts, as a tick does, alternately through an endpoint and
// through the net package's own UDP calls. The metric x_raw is the endpoint's rate of datagrams relative to the raw
// sockets; name_ns/datagram is the endpoint's time.
func Ratio(b *testing.B, name string, srv, cli transport.Endpoint, toServer transport.PeerID) {
	b.Helper()
	r := newRaw(b)
	payload, ev := make([]byte, 200), make([]transport.Event, 64)
	for range 100 {
		r.burst(b, payload)
		through(b, srv, cli, toServer, payload, ev)
	}
	var raw, end time.Duration
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		t := time.Now()
		r.burst(b, payload)
		raw += time.Since(t)
		t = time.Now()
		through(b, srv, cli, toServer, payload, ev)
		end += time.Since(t)
	}
	b.ReportMetric(float64(raw)/float64(end), "x_raw")
	b.ReportMetric(float64(raw)/float64(b.N*burst), "raw_ns/datagram")
	b.ReportMetric(float64(end)/float64(b.N*burst), name+"_ns/datagram")
}

// through sends a burst from the client and receives it at the server, into ev.
func through(t testing.TB, srv, cli transport.Endpoint, toServer transport.PeerID, payload []byte, ev []transport.Event) {
	for range burst {
		if err := cli.Send(toServer, payload); err != nil {
			t.Fatal(err)
		}
	}
	for n := burst; n > 0; {
		k := srv.Recv(ev)
		if n -= k; n > 0 && k < len(ev) {
			<-srv.Ready()
		}
	}
}

// raw is a pair of plain sockets.
type raw struct {
	from, to *net.UDPConn
	addr     netip.AddrPort
	buf      [1500]byte
}

func newRaw(b *testing.B) *raw {
	b.Helper()
	open := func() *net.UDPConn {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Close() })
		return c
	}
	r := &raw{from: open(), to: open()}
	r.addr = r.to.LocalAddr().(*net.UDPAddr).AddrPort()
	return r
}

func (r *raw) burst(b *testing.B, payload []byte) {
	for range burst {
		if _, err := r.from.WriteToUDPAddrPort(payload, r.addr); err != nil {
			b.Fatal(err)
		}
	}
	for range burst {
		if _, _, err := r.to.ReadFromUDPAddrPort(r.buf[:]); err != nil {
			b.Fatal(err)
		}
	}
}
