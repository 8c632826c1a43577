package dtls

import (
	"net/netip"
	"slices"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/inbox"
	"github.com/foretick/foretick/transport/ticket"
)

type state uint8

const (
	waiting  state = iota // for the connection below, or for the first record of a handshake
	shaking               // hands
	greeting              // protected, but no hello, or no accept, yet
	open
	leaving // dropped here: the end message is being repeated
	over
)

// peer is one connection of an endpoint, guarded by the endpoint's lock but where it says otherwise.
type peer struct {
	id       transport.PeerID // 0: a client that was not accepted yet
	below    transport.PeerID
	state    state
	addr     netip.AddrPort // when it connected
	name     string
	mtu      int // of a caller's datagram
	identity []byte
	q        *inbox.Queue
	guard    guard
	shim     *shim
	cancel   func()        // breaks the handshake off
	settled  chan struct{} // closed when the library is needed no more
	freed    bool          // settled is closed
	claims   ticket.Claims // of the ticket that keyed the connection
	verdict  error         // why the ticket was refused
	summed   bool          // the handshake's datagrams bear sums
	sums     [16]uint32    // of the newest that came, to know copies by
	sumAt    int
	early    [][]byte // protected records that came before the keys
	read     reader   // the pumping goroutine's, once there are keys
	write    writer   // guarded by the endpoint's sending lock
	heard    uint32   // ticks
	sent     uint32
	asked    uint32
	until    uint32 // when to give up, until it is open
	code     transport.Code
	detail   string
	again    [2]uint32 // when to repeat the end message; 0: done
	stats    transport.Stats
}

const maxEarly = 8

// copied reports whether a datagram of that sum came lately.
func (p *peer) copied(sum uint32) bool {
	if slices.Contains(p.sums[:], sum) {
		return true
	}
	p.sums[p.sumAt%len(p.sums)] = sum
	p.sumAt++
	return false
}

// settle lets the library go.
func (p *peer) settle() {
	if p.settled != nil && !p.freed {
		p.freed = true
		close(p.settled)
	}
}
