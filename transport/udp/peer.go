package udp

import (
	"net/netip"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/inbox"
)

// peer is one connection of an endpoint, guarded by the endpoint's lock.
type peer struct {
	id         transport.PeerID
	conn       uint64 // the connection id, 0 while dialling
	nonce      uint64 // of the hello that began it
	addr       netip.AddrPort
	name       string // of addr
	identity   []byte
	q          *inbox.Queue
	heard      uint32 // ticks
	sent       uint32
	asked      uint32 // when a sign of life was last asked for
	refused    uint32 // when ICMP last said that nobody is there
	challenged uint32
	trial      trial
	rumour     rumour
	stats      transport.Stats
}

// rumour is an end that was told and not believed.
type rumour struct {
	at     uint32 // ticks; 0: none
	code   transport.Code
	detail string
}

// trial is an address that a client seems to have and that is not proved yet. What is sent to the client goes there as
// well, as far as what came from there allows, so that a client that did move does not wait for the proof.
type trial struct {
	addr netip.AddrPort
	left int // bytes that it may still be sent
}

// generous is how many bytes an address that is not proved may be sent for each that came from it.
const generous = 3

// tries notes that n bytes for p came from an address that is not its own.
func (p *peer) tries(from netip.AddrPort, n int) {
	if p.trial.addr != from {
		p.trial = trial{addr: from}
	}
	p.trial.left = min(p.trial.left+generous*n, generous<<14)
}

func (p *peer) moveTo(addr netip.AddrPort) {
	p.trial = trial{}
	p.addr, p.name = addr, addr.String()
}

// graves remembers connections that ended, so that late datagrams are told why and late hellos found none anew.
type graves struct {
	ring    [256]grave
	next    int
	byConn  map[uint64]*grave
	byNonce map[uint64]*grave
}

type grave struct {
	conn, nonce uint64
	code        transport.Code
	detail      string
	told        uint32
}

func newGraves() *graves {
	return &graves{byConn: make(map[uint64]*grave), byNonce: make(map[uint64]*grave)}
}

func (g *graves) bury(p *peer, c transport.Code, detail string) {
	r := &g.ring[g.next]
	g.next = (g.next + 1) % len(g.ring)
	if r.conn != 0 {
		delete(g.byConn, r.conn)
		delete(g.byNonce, r.nonce)
	}
	*r = grave{conn: p.conn, nonce: p.nonce, code: c, detail: detail}
	g.byConn[r.conn], g.byNonce[r.nonce] = r, r
}
