package sim_test

import (
	"net"
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// pair returns a connected client and server, and the peer ids with which each sends to the other.
func pair(t testing.TB, n *sim.Network, up, down sim.Link) (srv, cli *sim.Endpoint, toClient, toServer transport.PeerID) {
	t.Helper()
	srv = n.Listen()
	cli = n.Dial(srv, up, down)
	n.Run(n.Now() + 3*time.Second)
	return srv, cli, connected(t, srv), connected(t, cli)
}

func connected(t testing.TB, ep *sim.Endpoint) transport.PeerID {
	t.Helper()
	var ev [4]transport.Event
	if k := ep.Recv(ev[:]); k != 1 || ev[0].Kind != transport.Connected {
		t.Fatalf("events after dialling: %v", ev[:k])
	}
	return ev[0].Peer
}

var bad = sim.Link{Latency: 50 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05, Burst: 3, Duplicate: 0.02,
	Reorder: 0.02, Corrupt: 0.01, Bandwidth: 10e6}

// crowd is 16 clients that exchange datagrams with a server over bad links, one in each direction in
// each tick.
type crowd struct {
	net     *sim.Network
	srv     *sim.Endpoint
	clients []*sim.Endpoint
	toCli   []transport.PeerID
	toSrv   []transport.PeerID
	payload [200]byte
	events  [64]transport.Event
	got     int
}

func newCrowd(t testing.TB, seed uint64, link sim.Link) *crowd {
	c := &crowd{net: sim.NewNetwork(seed)}
	c.srv = c.net.Listen()
	for range 16 {
		c.clients = append(c.clients, c.net.Dial(c.srv, link, link))
	}
	c.toSrv = make([]transport.PeerID, len(c.clients))
	for left := len(c.clients); left > 0; c.net.Run(c.net.Now() + 10*time.Millisecond) {
		for i, cli := range c.clients {
			if len(cli.Ready()) > 0 && c.toSrv[i] == 0 {
				c.toSrv[i] = connected(t, cli)
				left--
			}
		}
		for _, ev := range c.events[:c.srv.Recv(c.events[:])] {
			c.toCli = append(c.toCli, ev.Peer)
		}
	}
	return c
}

func (c *crowd) tick() {
	c.take(c.srv)
	for i, cli := range c.clients {
		c.take(cli)
		if cli.Send(c.toSrv[i], c.payload[:]) != nil || c.srv.Send(c.toCli[i], c.payload[:]) != nil {
			panic("a connection ended")
		}
	}
	c.net.Run(c.net.Now() + time.Second/30)
}

func (c *crowd) take(e *sim.Endpoint) {
	for k := len(c.events); k == len(c.events); {
		k = e.Recv(c.events[:])
		c.got += k
	}
}

// BenchmarkDatagram times a 200 B datagram over a bad link, from Send to Recv, among 16 clients: ns/op is for 32.
func BenchmarkDatagram(b *testing.B) {
	c := newCrowd(b, 1, bad)
	for range 100 {
		c.tick()
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		c.tick()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N*2*len(c.clients)), "ns/datagram")
}

// BenchmarkRatioSim compares a simulated datagram with one of 200 B over UDP sockets in the same run:
// x_raw_time is the first one's time as a share of the second one's.
func BenchmarkRatioSim(b *testing.B) {
	listen := func() *net.UDPConn {
		s, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { s.Close() })
		return s
	}
	from, to := listen(), listen()
	addr := to.LocalAddr().(*net.UDPAddr).AddrPort()
	c := newCrowd(b, 1, bad)
	burst := 2 * len(c.clients)
	var buf [1500]byte
	var raw, simulated time.Duration
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		t := time.Now()
		for range burst {
			if _, err := from.WriteToUDPAddrPort(c.payload[:], addr); err != nil {
				b.Fatal(err)
			}
		}
		for range burst {
			if _, _, err := to.ReadFromUDPAddrPort(buf[:]); err != nil {
				b.Fatal(err)
			}
		}
		raw += time.Since(t)
		t = time.Now()
		c.tick()
		simulated += time.Since(t)
	}
	b.ReportMetric(float64(simulated)/float64(raw), "x_raw_time")
	b.ReportMetric(float64(simulated)/float64(b.N*burst), "sim_ns/datagram")
	b.ReportMetric(float64(raw)/float64(b.N*burst), "raw_ns/datagram")
}
