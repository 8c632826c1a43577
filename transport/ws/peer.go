package ws

import (
	"net/netip"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/inbox"
)

// socket is a WebSocket connection: coder/websocket's natively, the browser's in js/wasm. readBytes and
// writeMessage have one caller each at a time. closeSocket belongs to the writer. Any goroutine may
// call abort.
type socket interface {
	// readBytes reads one binary message into buf. After the end of the connection it returns a
	// *transport.DisconnectError with the reason.
	readBytes(buf []byte) (int, error)
	// writeMessage sends one binary message, and waits for room.
	writeMessage(b []byte) error
	// closeSocket sends a close frame, and waits for the other end's close frame or for abort.
	closeSocket(status int, reason string)
	// abort ends the connection at once, without waiting.
	abort()
	// freeSocket is called last, after all reads and writes have ended.
	freeSocket()
}

// notBinary is read in place of a text message. It is refused as malformed.
var notBinary = []byte{0xFF}

type state uint8

const (
	greeting state = iota // before the hello, or before its accept
	open
	leaving // dropped locally: an end message and a close frame are being sent
	ended   // the other end sent its end message: a close frame will follow
	over    // the connection is gone
)

// peer is one connection of an endpoint, guarded by the endpoint's lock.
type peer struct {
	id       transport.PeerID // 0 for a client that is not accepted yet
	state    state
	sock     socket // nil during the handshake
	addr     netip.AddrPort
	name     string
	secure   bool
	identity []byte
	q        *inbox.Queue
	out      queue
	batch    uint64        // batch of the datagram that was sent last
	flushed  uint64        // flushed is the newest Flush before a datagram to the peer.
	began    time.Time     // when the first datagram of batch was sent
	wake     chan struct{} // signals a message to write, or a new state
	greet    bool          // the hello or the accept must be sent
	alive    bool          // an alive message must be sent
	ask      bool          // the alive message asks for a reply
	// code and reason say why a leaving peer was dropped.
	code    transport.Code
	reason  string
	heard   uint32 // when the peer was last heard, in ticks
	sent    uint32 // when something was last sent to it, in ticks
	asked   uint32 // when a reply was last requested, in ticks
	writing uint32 // when the current write began, in ticks; 0: none
	// until is the tick in which the connection is dropped, in the states greeting, leaving and ended.
	until   uint32
	pending bool          // the peer is in the endpoint's pending crowd
	aborted bool          // cut was called
	gone    chan struct{} // closed if the connection ends in the state greeting
	control allowance
	stats   transport.Stats
}

func newPeer() *peer { return &peer{wake: make(chan struct{}, 1), gone: make(chan struct{})} }

func (p *peer) signalWake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}
