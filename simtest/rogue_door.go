package simtest

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// honestIdentity is how the identities of honest clients begin.
const honestIdentity = "honest"

// door stands between a server and its endpoint. It counts who is there, and gives
// rogues addresses and identities: most an address of their own, some one that many
// share, some an identity that others have too.
type door struct {
	transport.Endpoint
	cards map[transport.PeerID]card
	info  transport.Info
	plain bool // everybody has an address alone, and no identity
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
		switch e := &ev[i]; e.Kind {
		case transport.Connected:
			d.cards[e.Peer] = d.card(e.Peer)
		case transport.Disconnected:
			delete(d.cards, e.Peer)
		}
	}
	return n
}

// Disconnect implements transport.Endpoint.
func (d *door) Disconnect(p transport.PeerID, c transport.Code, detail string) {
	delete(d.cards, p)
	d.Endpoint.Disconnect(p, c, detail)
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

// card makes a peer's address and identity up from its true address.
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

// wire is what a den's peers meet over.
type wire interface {
	// listen returns the server's end.
	listen() transport.Endpoint
	// dial returns an end for a peer, or nil when it cannot now.
	dial(honest bool) transport.Endpoint
	// abandon ends a dialled endpoint without a word.
	abandon(e transport.Endpoint)
	// hangUp closes a dialled endpoint.
	hangUp(e transport.Endpoint, code transport.Code)
	// left is how many peers the server's end still holds.
	left() int
}

// simWire is a simulated network.
type simWire struct {
	net    *sim.Network
	end    *sim.Endpoint
	dials  int
	plain  bool            // all links of rogues are perfect
	honest map[string]bool // addresses of honest clients
}

func newSimWire(seed uint64) *simWire {
	w := &simWire{net: sim.NewNetwork(seed), honest: map[string]bool{}}
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

func (w *simWire) listen() transport.Endpoint { return w.end }

func (w *simWire) dial(honest bool) transport.Endpoint {
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

func (w *simWire) abandon(e transport.Endpoint) { w.net.Kill(e.(*sim.Endpoint)) }

func (w *simWire) hangUp(e transport.Endpoint, code transport.Code) {
	_ = e.Close(code, "") // it may be closed
}

func (w *simWire) left() (n int) {
	for _, entries := range MapEntries(w.end) {
		n += entries
	}
	return n
}
