//go:build !js && !race

package foretick_test

import (
	"flag"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/udp"
	"github.com/foretick/foretick/transport/ws"
)

// How many bytes of live heap a connection may take, the transport's included.
const (
	silentCost = 8_000   // a connection that has not sent its hello
	playerCost = 100_000 // a player in a match of eight, on the server

	// These include what the clients' ends free when the server closes, and the buffers of
	// handshakes. A WebSocket has four buffers, each for a datagram.
	silentDTLS = 16_000
	silentWS   = 24_000
)

// With -heap DIR the memory tests write a profile of the live heap into DIR:
//
//	go test . -run Heap -v -heap /tmp -memprofilerate 512
var heapProfiles = flag.String("heap", "", "a directory for heap profiles")

// heap returns how many bytes of the heap are live.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// hall is a server with clients and silent peers, in a time that runs as fast as it can.
type hall struct {
	t        testing.TB
	srv      *server.Server
	listen   *streets
	dial     func() transport.Endpoint
	pass     func() // waits a tick's time, so that packets arrive
	now      time.Time
	interval time.Duration // how much a tick adds to now
	clients  []*client.Client
	peers    []transport.Endpoint // peers that send no hello
}

// streets reports another address for each peer, since a server limits the connections of
// one address.
type streets struct {
	transport.Endpoint
	came int // how many peers are connected
}

func (s *streets) Recv(ev []transport.Event) int {
	n := s.Endpoint.Recv(ev)
	for _, e := range ev[:n] {
		switch e.Kind {
		case transport.Connected:
			s.came++
		case transport.Disconnected:
			s.came--
		}
	}
	return n
}

func (s *streets) Info(p transport.PeerID, out *transport.Info) bool {
	ok := s.Endpoint.Info(p, out)
	n := uint32(p.Slot())
	out.Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}), 9).String()
	return ok
}

func simHall(t testing.TB) *hall {
	net := sim.NewNetwork(1)
	listen := net.Listen()
	h := &hall{t: t, listen: &streets{Endpoint: listen}, now: simtest.Epoch}
	link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.01}
	h.dial = func() transport.Endpoint { return net.Dial(listen, link, link) }
	h.pass = func() { net.Run(net.Now() + time.Second/60) }
	return h
}

func udpHall(t testing.TB) *hall {
	listen, err := udp.Listen("127.0.0.1:0", udp.Config{MaxPeers: 2000})
	require.NoError(t, err)
	addr := listen.LocalAddr().String()
	return socketHall(t, listen, func() (transport.Endpoint, error) { return udp.Dial(addr, udp.Config{}) })
}

func dtlsHall(t testing.TB) *hall {
	cert, err := dtls.NewCertificate()
	require.NoError(t, err)
	listen, err := dtls.Listen("127.0.0.1:0", dtls.Config{Certificate: &cert, MaxPeers: 2000, MaxHandshakes: 256, MaxHandshakesPerAddr: 256})
	require.NoError(t, err)
	addr, pins := listen.LocalAddr().String(), []dtls.Pin{dtls.PinOf(cert)}
	return socketHall(t, listen, func() (transport.Endpoint, error) { return dtls.Dial(addr, dtls.Config{Pins: pins}) })
}

func wsHall(t testing.TB) *hall {
	listen, err := ws.NewServer(ws.Config{MaxPeers: 2000, MaxPending: 2000, MaxPendingPerAddr: 2000})
	require.NoError(t, err)
	web := httptest.NewServer(listen)
	t.Cleanup(web.Close)
	url := "ws" + strings.TrimPrefix(web.URL, "http")
	return socketHall(t, listen, func() (transport.Endpoint, error) { return ws.Dial(url, ws.Config{}) })
}

// socketHall returns a hall that uses sockets, and so real time.
func socketHall(t testing.TB, listen transport.Endpoint, dial func() (transport.Endpoint, error)) *hall {
	h := &hall{t: t, listen: &streets{Endpoint: listen}, now: time.Now()}
	h.dial = func() transport.Endpoint {
		e, err := dial()
		require.NoError(t, err)
		return e
	}
	h.pass = func() { time.Sleep(time.Millisecond) }
	return h
}

func (h *hall) serve(p *foretick.Protocol) {
	var err error
	h.srv, err = server.New(server.Config{Protocol: p, Transport: h.listen})
	require.NoError(h.t, err)
	h.interval = time.Second / 60 // faster than real time
	h.tick()
}

func (h *hall) tick() {
	h.pass()
	h.now = h.now.Add(h.interval)
	h.srv.Step(h.now)
	for _, c := range h.clients {
		_ = c.Step(h.now)
	}
	var events [8]transport.Event
	for _, p := range h.peers {
		p.Recv(events[:])
	}
}

// close closes the server and drops all references to it.
func (h *hall) close() {
	_ = h.listen.Close(transport.Closed, "")
	h.srv, h.listen = nil, nil
}

// leave closes the clients and drops all references to them.
func (h *hall) leave() {
	for _, c := range h.clients {
		_ = c.Close()
	}
	for _, p := range h.peers {
		_ = p.Close(transport.Closed, "")
	}
	h.clients, h.peers, h.dial = nil, nil, nil
}

// duel is the game of walking players, in which they shoot.
type duel struct {
	Walk
	shot foretick.Event[Position]
}

func (g *duel) protocol() *foretick.Protocol {
	p := g.Protocol()
	foretick.Hitboxes(p, func(b *foretick.HitboxBuilder) {
		at := foretick.HitboxField(b, &g.Pos)
		b.Add(lagcomp.SphereHitbox(lagcomp.Sphere{X: at.X, Y: at.Y, R: 0.5}))
	}, &g.Pos)
	p.Shared("shoot", func(f *foretick.Frame, rows ecs.Rows) {
		for i := range rows.Len() {
			if f.Tick%12 == 0 {
				g.shot.Raise(f, rows.Entity(i), Position{})
			}
		}
	}, ecs.Read(&g.Move))
	g.shot.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, _ Position) {
		f.Rewind(by.Player).Raycast(lagcomp.Ray2D(-10, 0, 0, 100))
	})
	(new(foretick.Message[Position])).OnClient(p, func(*foretick.Frame, foretick.Tick, Position) {})
	return p
}

// play runs a match of n clients for the given number of ticks.
func (h *hall) play(n int, ticks int) {
	h.serve(new(duel).protocol())
	for range n {
		g := &duel{}
		c, err := client.New(client.Config{Protocol: g.protocol(), Transport: h.dial(),
			Sample: client.Sample(&g.Move, func(v client.View) Move { return Move{X: float32(v.Tick%2)*2 - 1} })})
		require.NoError(h.t, err)
		h.clients = append(h.clients, c)
	}
	for range ticks {
		h.tick()
	}
	for _, c := range h.clients {
		require.Equal(h.t, client.Playing, c.View().State)
	}
}

// serverCost returns how many bytes a server with n players takes, and how many each of them
// takes as a client.
func serverCost(t testing.TB, open func(testing.TB) *hall, n int) (srv, cl int) {
	h := open(t)
	h.play(n, 600)
	with := heap()
	profile(t, "players")
	h.close()
	without := heap()
	h.leave()
	return with - without, (without - heap()) / max(n, 1)
}

// TestPlayersHeap measures what a player in a match of eight costs the server and its own process.
func TestPlayersHeap(t *testing.T) {
	costtest.Memory(t)
	for name, open := range map[string]func(testing.TB) *hall{"sim": simHall, "udp": udpHall} {
		t.Run(name, func(t *testing.T) {
			alone, _ := serverCost(t, open, 0)
			with, cl := serverCost(t, open, 8)
			player := (with - alone) / 8
			t.Logf("a player costs the server %d bytes, and its own process %d", player, cl)
			require.Less(t, player, playerCost)
		})
	}
}

// silence connects n peers that send no hello. It connects a few at a time, since the memory
// that many need while they connect belongs to no connection.
func (h *hall) silence(n int) {
	h.interval = 100 * time.Microsecond // the first must not time out before the last has connected
	for wait := 0; h.listen.came < n && wait < 20_000; wait++ {
		for len(h.peers) < min(n, h.listen.came+8) {
			h.peers = append(h.peers, h.dial())
		}
		h.tick()
	}
	require.Equal(h.t, n, h.listen.came, "all are connected")
}

// TestSilentHeap measures what a connection costs that has sent no hello.
func TestSilentHeap(t *testing.T) {
	costtest.Memory(t)
	for _, c := range []struct {
		name    string
		open    func(testing.TB) *hall
		n, most int
	}{{"sim", simHall, 1000, silentCost}, {"udp", udpHall, 1000, silentCost}, {"dtls", dtlsHall, 200, silentDTLS}, {"ws", wsHall, 200, silentWS}} {
		t.Run(c.name, func(t *testing.T) {
			h := c.open(t)
			h.serve(new(duel).protocol())
			h.silence(c.n)
			with := heap()
			profile(t, "silent")
			h.close()
			cost := (with - heap()) / c.n
			t.Logf("a connection that has said nothing costs %d bytes", cost)
			h.leave()
			require.Less(t, cost, c.most)
		})
	}
}

// TestHoardingHeap: a peer that sends no hello, but all else that a server keeps, costs no more
// than a silent peer may. One that asks for the schema may cost the schema too.
func TestHoardingHeap(t *testing.T) {
	costtest.Memory(t)
	const n = 200
	schema := len(new(duel).protocol().Schema(nil))
	for _, c := range []struct {
		name string
		asks bool
		most int
	}{{"hoards", false, silentCost}, {"asks", true, 2*silentCost + 2*schema}} {
		t.Run(c.name, func(t *testing.T) {
			h := simHall(t)
			h.serve(new(duel).protocol())
			h.silence(n)
			for range 10 { // until the peers know that they are connected
				h.tick()
			}
			for _, e := range h.peers {
				hoard(t, h, e, c.asks)
			}
			for range 60 {
				h.tick()
			}
			require.Equal(t, n, h.listen.came, "nobody was dropped")
			with := heap()
			h.close()
			cost := (with - heap()) / n
			t.Logf("it costs %d bytes; the schema has %d", cost, schema)
			h.leave()
			require.Less(t, cost, c.most)
		})
	}
}

// hoard makes a peer send what a server keeps: messages on two channels whose first message is
// missing, and messages of a kind that nothing reads.
func hoard(t testing.TB, h *hall, e transport.Endpoint, asks bool) {
	channels := []netcode.Channel{{Reliable: true}, {Reliable: true}}
	c := netcode.NewConn(netcode.Config{Channels: channels, MTU: netcode.MinMTU, Rate: 1 << 30, FixedRate: true})
	id := transport.MakePeerID(0, 1) // the only peer of an endpoint that dials
	send := func(kind netcode.MessageType, size int, lost bool) {
		p := c.Begin(0)
		p.Message(kind, make([]byte, size))
		if _, b := p.Finish(); !lost {
			require.NoError(t, e.Send(id, b))
		}
	}
	if asks {
		require.NoError(t, c.SendOn(1, 0, netcode.KindSchemaRequest, netcode.SchemaRequest{Name: netcode.ProtocolSchema}.Append(nil)))
		send(99, 0, false)
	}
	for range 100 {
		for channel := range uint8(2) {
			require.NoError(t, c.SendOn(channel, 0, 1, make([]byte, 250)))
		}
	}
	for i := range 199 { // two of the first are kept, and none of the last may be
		send(99, 0, i != 2 && i != 3 && i < 196)
	}
}

// profile writes a profile of the live heap, if -heap names a directory.
func profile(t testing.TB, name string) {
	if *heapProfiles == "" {
		return
	}
	f, err := os.Create(filepath.Join(*heapProfiles, strings.ReplaceAll(t.Name(), "/", ".")+"."+name))
	require.NoError(t, err)
	require.NoError(t, pprof.Lookup("heap").WriteTo(f, 0))
	require.NoError(t, f.Close())
}
