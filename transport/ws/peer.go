package ws

import (
	"net/netip"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/inbox"
)

// socket is a WebSocket connection: coder/websocket's natively, the browser's in js/wasm. read and write each have
// one caller at a time; close belongs to the writer; any goroutine may call abort.
type socket interface {
	// readBytes reads one binary message into buf. The error is a *transport.CloseError with the reason why no more
	// follow.
	readBytes(buf []byte) (int, error)
	// writeMessage sends one binary message, and waits for room.
	writeMessage(b []byte) error
	// closeSocket sends a close frame and waits for the other end's answer, or for abort.
	closeSocket(status int, reason string)
	// abort ends the connection at once, without waiting.
	abort()
	// freeSocket comes last, after all reads and writes have ended.
	freeSocket()
}

// notBinary replaces a text message: it is refused as malformed.
var notBinary = []byte{0xFF}

type state uint8

const (
	greeting state = iota // no hello, or no accept, yet
	open
	leaving // dropped locally: an end message and a close frame are being sent
	ended   // the other end sent its end message: a close frame will follow
	over    // the connection is gone
)

// peer is one connection of an endpoint, guarded by the endpoint's lock.
type peer struct {
	id       transport.PeerID // 0: a client that is not accepted yet
	state    state
	sock     socket // nil: being upgraded, or dialled
	addr     netip.AddrPort
	name     string
	secure   bool
	identity []byte
	q        *inbox.Queue
	out      queue
	batch    uint64        // of what was sent last
	began    time.Time     // when the first of that was sent
	wake     chan struct{} // something to write, or a new state
	greet    bool          // the hello, or the accept, is due
	alive    bool          // an alive message is due
	ask      bool          // it asks for a reply
	code     transport.Code
	detail   string
	heard    uint32 // ticks
	sent     uint32
	asked    uint32
	writing  uint32 // when the current write began; 0: none
	until    uint32 // when to drop the connection, in the states greeting, leaving and ended
	pending  bool   // in the endpoint's pending crowd
	aborted  bool
	gone     chan struct{} // closed when a connection ends in the state greeting
	control  allowance
	stats    transport.Stats
}

func newPeer() *peer { return &peer{wake: make(chan struct{}, 1), gone: make(chan struct{})} }

func (p *peer) signalWake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}
