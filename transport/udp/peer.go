package udp

import (
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/inbox"
)

// peer is one connection of an endpoint, guarded by the endpoint's lock.
type peer struct {
	id         transport.PeerID
	conn       uint64 // the connection id, 0 while dialling
	nonce      uint64 // of its first hello
	addr       route
	name       string // of addr
	identity   []byte
	q          *inbox.Queue
	heard      uint32 // ticks
	sent       uint32
	asked      uint32 // when a sign of life was last requested
	refused    uint32 // when ICMP last reported that nobody listens
	challenged uint32
	trial      trial
	rumour     rumour
	stats      transport.Stats
}

// rumour is a reported end that was not believed.
type rumour struct {
	at     uint32 // ticks; 0: none
	code   transport.Code
	detail string
}

// trial is an unproved address that a client seems to have now. Datagrams to the client are also sent there, within
// the bytes that arrived from there. So a client that did move does not wait for the proof.
type trial struct {
	addr route
	left int // bytes that may still be sent to it
}

// generous is how many bytes may be sent to an unproved address for each byte received from it.
const generous = 3

// tries records that n bytes for p arrived from another address than its own.
func (p *peer) tries(from route, n int) {
	if p.trial.addr != from {
		p.trial = trial{addr: from}
	}
	p.trial.left = min(p.trial.left+generous*n, generous<<14)
}

func (p *peer) moveTo(addr route) {
	p.trial = trial{}
	p.addr, p.name = addr, addr.String()
}

// graves remembers ended connections, so that late datagrams are told why, and late hellos do not start a new
// connection.
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
