package campaign

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// honestIdentity is the prefix of the identities of honest clients.
const honestIdentity = "honest"

// door wraps the server's endpoint. It counts the peers, and gives rogues addresses and
// identities. Most have their own address, some share a crowded one, and some share an
// identity.
type door struct {
	transport.Endpoint
	cards map[transport.PeerID]card
	info  transport.Info

	bytes, connections int // received in this Step of the server, for measurements

	plain bool // every peer has its own address, and no identity
}

type card struct {
	addr     string
	identity []byte
}

func newDoor(e transport.Endpoint) *door {
	return &door{Endpoint: e, cards: map[transport.PeerID]card{}}
}

// Recv implements transport.Endpoint.
func (d *door) Recv(ev []transport.Event) int {
	n := d.Endpoint.Recv(ev)
	for i := range ev[:n] {
		d.bytes += len(ev[i].Data)
		switch e := &ev[i]; e.Kind {
		case transport.Connected:
			d.cards[e.Peer] = d.card(e.Peer)
			d.connections++
		case transport.Disconnected:
			delete(d.cards, e.Peer)
		}
	}
	return n
}

// Disconnect implements transport.Endpoint.
func (d *door) Disconnect(p transport.PeerID, c transport.Code, reason string) {
	delete(d.cards, p)
	d.Endpoint.Disconnect(p, c, reason)
}

// Info implements transport.Endpoint.
func (d *door) Info(p transport.PeerID, out *transport.Info) bool {
	if !d.Endpoint.Info(p, out) {
		return false
	}
	if c, ok := d.cards[p]; ok {
		out.Addr, out.Identity = c.addr, c.identity
	}
	return true
}

// card derives a peer's made-up address and identity from its true address.
func (d *door) card(p transport.PeerID) card {
	if !d.Endpoint.Info(p, &d.info) {
		return card{}
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(d.info.Addr)) // never fails
	x := h.Sum64()
	x ^= x >> 33
	c := card{addr: fmt.Sprintf("10.%d.%d.%d:%d", byte(x), byte(x>>8), byte(x>>16), 1024+x>>24%50_000), identity: d.info.Identity}
	if d.plain || strings.HasPrefix(string(c.identity), honestIdentity) {
		return c
	}
	switch x >> 48 % 8 {
	case 0: // a crowded network
		c.addr = fmt.Sprintf("192.0.2.%d:%d", x>>52%4, 1024+x>>24%50_000)
	case 1:
		c.addr = fmt.Sprintf("[2001:db8::%x]:%d", x>>52, 1024+x>>24%50_000)
	case 2:
		c.identity = fmt.Appendf(nil, "rogue %d", x>>52%8)
	}
	return c
}

// unwalked hides an endpoint from [MapEntries], which must not read the maps of an endpoint
// that has goroutines.
type unwalked struct{ at func() transport.Endpoint }

func (u unwalked) Recv(ev []transport.Event) int { return u.at().Recv(ev) }

func (u unwalked) Ready() <-chan struct{} { return u.at().Ready() }

func (u unwalked) Send(p transport.PeerID, b []byte) error { return u.at().Send(p, b) }

func (u unwalked) Flush() { u.at().Flush() }

func (u unwalked) Disconnect(p transport.PeerID, c transport.Code, reason string) {
	u.at().Disconnect(p, c, reason)
}

func (u unwalked) Info(p transport.PeerID, out *transport.Info) bool { return u.at().Info(p, out) }

func (u unwalked) Close(c transport.Code, reason string) error { return u.at().Close(c, reason) }

// RogueNet is the network between the peers of a life. Its times are the server's.
type RogueNet interface {
	// Listen returns the server's end.
	Listen() transport.Endpoint
	// Dial returns an end for a peer. The identity of an honest one must start with
	// "honest".
	Dial(honest bool) transport.Endpoint
	// Abandon ends a dialled endpoint without notice.
	Abandon(e transport.Endpoint)
	// HangUp closes a dialled endpoint.
	HangUp(e transport.Endpoint, code transport.Code)
	// Break breaks the transport's own rules: those of its handshake, on connections
	// used for nothing else, or those of the dialled endpoint e, which may be nil. draw
	// returns a number below n.
	Break(e transport.Endpoint, draw func(n int) int)
	// Pass waits until the server's time is now. It returns by how much it was late, in real
	// time. busy is true while rogues play.
	Pass(now time.Duration, busy bool) (late time.Duration)
	// Held returns the number of resources that must not grow, for example goroutines
	// and sockets. It is called while no rogue is connected.
	Held() int
	// Close releases everything.
	Close()
}

// simNet is a simulated network.
type simNet struct {
	net    *sim.Network
	end    *sim.Endpoint
	dials  int
	plain  bool            // all links of rogues are perfect
	honest map[string]bool // addresses of honest clients
}

func newSimNet(seed uint64) *simNet {
	w := &simNet{net: sim.NewNetwork(seed), honest: map[string]bool{}}
	w.end = w.net.Listen()
	w.end.SetAccept(func(addr string) ([]byte, error) {
		if w.honest[addr] {
			delete(w.honest, addr)
			return []byte(honestIdentity + " " + addr), nil
		}
		return nil, nil
	})
	return w
}

func (w *simNet) Listen() transport.Endpoint { return w.end }

func (w *simNet) Dial(honest bool) transport.Endpoint {
	w.dials++
	l := sim.Link{}
	switch {
	case honest:
		l = sim.LAN
	case w.dials%8 == 0 && !w.plain:
		l = sim.WiFi
	}
	e := w.net.Dial(w.end, l, l)
	if honest {
		w.honest[sim.Addr(e.ID())] = true
	}
	return e
}

func (w *simNet) Abandon(e transport.Endpoint) { w.net.Kill(e.(*sim.Endpoint)) }

func (w *simNet) HangUp(e transport.Endpoint, code transport.Code) {
	_ = e.Close(code, "") // it may be closed already
}

// Break does nothing: a simulated network has no handshake of its own.
func (w *simNet) Break(transport.Endpoint, func(int) int) {}

func (w *simNet) Pass(now time.Duration, _ bool) time.Duration {
	w.net.Run(now)
	return 0
}

func (w *simNet) Held() int { return 0 }

func (w *simNet) Close() {}
