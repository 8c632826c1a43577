package udp

import (
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/inbox"
)

// peer is one connection of an endpoint, guarded by the endpoint's lock.
type peer struct {
	id         transport.PeerID
	conn       uint64 // the connection id; 0 while dialling
	nonce      uint64 // the nonce in the peer's first hello
	addr       route
	name       string // addr as text
	identity   []byte
	q          *inbox.Queue
	heard      uint32 // when the peer was last heard, in ticks
	sent       uint32 // when something was last sent to it, in ticks
	asked      uint32 // when a keep-alive was last requested
	refused    uint32 // when ICMP last reported that nobody listens at addr
	challenged uint32 // when it was last challenged
	trial      trial
	rumour     rumour
	stats      transport.Stats
}

// rumour is a message about a connection's end that was not believed.
type rumour struct {
	at     uint32 // when the message arrived, in ticks; 0: there was none
	code   transport.Code
	reason string
}

// trial is an unproved address that a client seems to have now. Datagrams to the client are also sent
// there, for a few times the bytes that arrived from there. So a client that did move does not wait for
// the proof.
type trial struct {
	addr route
	left int // bytes that may still be sent to addr
}

// generous is how many bytes may be sent to an unproved address for each byte received from it.
const generous = 3

// tries records that n bytes for p arrived from an address other than p.addr.
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

// graves remembers ended connections. The sender of a late datagram is told why its connection ended,
// and a late hello does not start a new connection.
type graves struct {
	ring    [256]grave
	next    int
	byConn  map[uint64]*grave
	byNonce map[uint64]*grave
}

type grave struct {
	conn, nonce uint64
	code        transport.Code
	reason      string
	told        uint32
}

func newGraves() *graves {
	return &graves{byConn: make(map[uint64]*grave), byNonce: make(map[uint64]*grave)}
}

func (g *graves) bury(p *peer, c transport.Code, reason string) {
	r := &g.ring[g.next]
	g.next = (g.next + 1) % len(g.ring)
	if r.conn != 0 {
		delete(g.byConn, r.conn)
		delete(g.byNonce, r.nonce)
	}
	*r = grave{conn: p.conn, nonce: p.nonce, code: c, reason: reason}
	g.byConn[r.conn], g.byNonce[r.nonce] = r, r
}
