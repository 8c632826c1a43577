package ws

import (
	"net/netip"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/inbox"
)

// socket is a WebSocket connection: coder/websocket's natively, the browser's in js/wasm. read and write each have one
// caller at a time; close belongs to the writer; abort may be called by anyone.
type socket interface {
	// read reads one binary message into buf. The error is a *transport.CloseError that says why there are no more.
	read(buf []byte) (int, error)
	// write sends one binary message, and waits for room.
	write(b []byte) error
	// close sends a close frame and waits until the other end has answered, or for abort.
	close(status int, reason string)
	// abort ends the connection at once, without waiting.
	abort()
	// free comes last, when nobody reads or writes any more.
	free()
}

// notBinary stands for a message of text: it is refused as malformed.
var notBinary = []byte{0xFF}

type state uint8

const (
	greeting state = iota // no hello, or no accept, yet
	open
	leaving // dropped here: an end message and a close frame are on their way
	ended   // the other end said its end message: a close frame is to come
	over    // the connection is gone
)

// peer is one connection of an endpoint, guarded by the endpoint's lock.
type peer struct {
	id       transport.PeerID // 0: a client that was not accepted yet
	state    state
	sock     socket // nil: being upgraded, or dialled
	addr     netip.AddrPort
	name     string
	secure   bool
	identity []byte
	q        *inbox.Queue
	out      queue
	wake     chan struct{} // something to write, or a new state
	greet    bool          // the hello, or the accept, is due
	alive    bool          // an alive is due
	ask      bool          // that asks for an answer
	code     transport.Code
	detail   string
	heard    uint32 // ticks
	sent     uint32
	asked    uint32
	writing  uint32 // when the write that goes on began; 0: none
	until    uint32 // when to cut the connection off, in the states greeting, leaving and ended
	pending  bool   // in the endpoint's crowd
	aborted  bool
	gone     chan struct{} // closed when a connection ends that is still in the state greeting
	control  allowance
	stats    transport.Stats
}

func newPeer() *peer { return &peer{wake: make(chan struct{}, 1), gone: make(chan struct{})} }

func (p *peer) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}
