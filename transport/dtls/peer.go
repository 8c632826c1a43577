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
	waiting  state = iota // waits for the connection below, or for the first handshake record
	shaking               // in the handshake
	greeting              // protected, but before the hello or its accept
	open
	leaving // dropped locally: the end message is being repeated
	over
)

// peer is one connection of an endpoint, guarded by the endpoint's lock except where noted.
type peer struct {
	id       transport.PeerID // 0 for a client that is not accepted yet
	below    transport.PeerID // id in the endpoint below
	state    state
	addr     netip.AddrPort // address when the connection below began
	name     string
	mtu      int // longest datagram that the caller may send
	identity []byte
	q        *inbox.Queue
	guard    guard
	shim     *shim
	cancel   func()        // aborts the handshake
	released chan struct{} // closed when the library is no longer needed
	freed    bool          // released is closed
	claims   ticket.Claims // claims of the ticket that keyed the connection
	verdict  error         // why the ticket was refused
	summed   bool          // the handshake's datagrams carry checksums
	// sums has the checksums of the newest received datagrams, to detect copies.
	sums  [16]uint32
	sumAt int      // how many checksums were stored
	early [][]byte // protected records that arrived before the keys
	read  reader   // used by the goroutine of pump, once there are keys
	write writer   // guarded by the endpoint's sending lock
	heard uint32   // when the peer was last heard, in ticks
	sent  uint32   // when something was last sent to it, in ticks
	asked uint32   // when a reply was last requested, in ticks
	until uint32   // tick until which the peer must be open
	// code and reason say why a leaving peer was dropped.
	code   transport.Code
	reason string
	again  [2]uint32 // ticks at which the end message is repeated; 0: done
	stats  transport.Stats
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

// releaseLibrary lets the library's goroutine for this peer end.
func (p *peer) releaseLibrary() {
	if p.released != nil && !p.freed {
		p.freed = true
		close(p.released)
	}
}
