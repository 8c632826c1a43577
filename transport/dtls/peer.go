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
	waiting  state = iota // for the connection below, or for the first handshake record
	shaking               // in the handshake
	greeting              // protected, but no hello or accept yet
	open
	leaving // dropped locally: the end message is being repeated
	over
)

// peer is one connection of an endpoint, guarded by the endpoint's lock except where noted.
type peer struct {
	id       transport.PeerID // 0: a client that is not accepted yet
	below    transport.PeerID
	state    state
	addr     netip.AddrPort // at the time of connecting
	name     string
	mtu      int // longest datagram of the caller
	identity []byte
	q        *inbox.Queue
	guard    guard
	shim     *shim
	cancel   func()        // aborts the handshake
	settled  chan struct{} // closed when the library is no longer needed
	freed    bool          // settled is closed
	claims   ticket.Claims // of the ticket that keyed the connection
	verdict  error         // why the ticket was refused
	summed   bool          // the handshake's datagrams carry checksums
	sums     [16]uint32    // of the newest received datagrams, to detect copies
	sumAt    int
	early    [][]byte // protected records received before the keys
	read     reader   // used by the pumping goroutine, once there are keys
	write    writer   // guarded by the endpoint's sending lock
	heard    uint32   // ticks
	sent     uint32
	asked    uint32
	until    uint32 // deadline for reaching open
	code     transport.Code
	detail   string
	again    [2]uint32 // when to repeat the end message; 0: done
	stats    transport.Stats
}

const maxEarly = 8

// copied reports whether a datagram with that checksum arrived recently.
func (p *peer) copied(sum uint32) bool {
	if slices.Contains(p.sums[:], sum) {
		return true
	}
	p.sums[p.sumAt%len(p.sums)] = sum
	p.sumAt++
	return false
}

// releaseLibrary releases the library.
func (p *peer) releaseLibrary() {
	if p.settled != nil && !p.freed {
		p.freed = true
		close(p.settled)
	}
}
