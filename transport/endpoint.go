package transport

import (
	"fmt"
	"strconv"
)

// MaxDatagram is the largest UDP payload that Foretick's transports send, in bytes, headers of their own
// included. 1200 passes nearly every path on the internet without being fragmented (RFC 9000, section 14).
const MaxDatagram = 1200

// MaxDetail is how many bytes of a close's detail travel; what is longer is cut.
const MaxDetail = 200

// PeerID names one connection of an endpoint: a slot in the low 32 bits, which is small and may index a
// slice, and the slot's generation in the high 32, which tells the connections that used it apart. Zero is
// no peer.
type PeerID uint64

// MakePeerID returns the id of the generation-th connection in a slot. Generations begin at 1.
func MakePeerID(slot int, generation uint32) PeerID {
	return PeerID(uint32(slot)) | PeerID(generation)<<32
}

// Slot returns the slot of the id: less than the most peers the endpoint ever had at once.
func (p PeerID) Slot() int { return int(uint32(p)) }

// Generation returns how many connections have used the slot, this one included.
func (p PeerID) Generation() uint32 { return uint32(p >> 32) }

// String returns the id as slot#generation.
func (p PeerID) String() string {
	return strconv.Itoa(p.Slot()) + "#" + strconv.FormatUint(uint64(p.Generation()), 10)
}

// EventKind says what an Event tells.
type EventKind uint8

const (
	// Connected: the peer may be sent to. The first event of a peer.
	Connected EventKind = iota + 1
	// Data: one datagram came from the peer.
	Data
	// Disconnected: the peer is gone, or the dial failed. The last event of a peer.
	Disconnected
)

// String returns the kind's name in lower case.
func (k EventKind) String() string {
	switch k {
	case Connected:
		return "connected"
	case Data:
		return "data"
	case Disconnected:
		return "disconnected"
	}
	return "event " + strconv.Itoa(int(k))
}

// Event is one thing that happened at an endpoint.
type Event struct {
	Kind EventKind
	Peer PeerID
	Data []byte // of a Data event: the datagram, valid until the next Recv, and the reader's to overwrite
	Code Code   // of a Disconnected event: why
	// Detail, of a Disconnected event, is a human reason, at most MaxDetail bytes, possibly empty. A remote
	// peer chose it: print it quoted.
	Detail string
}

// Endpoint is one end of a network. See the package's documentation for what holds between its methods.
type Endpoint interface {
	// Recv fills ev with what has happened and returns how many events it wrote, 0 when there is nothing.
	// It never blocks. All Data handed out before becomes invalid. Of a closed endpoint it returns 0.
	Recv(ev []Event) int

	// Ready returns a channel of capacity 1 that holds a signal when Recv may have something new. A signal
	// may be spurious; after a Recv that returned fewer events than asked for, none is missed.
	Ready() <-chan struct{}

	// Send sends b to the peer as one datagram, or loses it. It never blocks and does not keep b.
	// Errors: ErrTooBig (a *TooBigError; larger than Info.MTU), ErrBacklog, ErrNoPeer, ErrClosed.
	Send(p PeerID, b []byte) error

	// Flush says that the tick's sends are done. A transport may hold datagrams back until then, but must
	// not rely on it for ever.
	Flush()

	// Disconnect drops the peer at once and lets it know, as far as the network permits. What was received
	// from it and not yet handed out is discarded. Unknown peers are ignored.
	Disconnect(p PeerID, c Code, detail string)

	// Info fills out with what is known of the peer and reports whether there is such a peer.
	Info(p PeerID, out *Info) bool

	// Close drops every peer as Disconnect does and frees all the endpoint holds; its goroutines have ended
	// when it returns. It may take a fraction of a second, so that a peer hears of it even when datagrams are lost.
	// A second Close does nothing and returns ErrClosed.
	Close(c Code, detail string) error
}

// Info describes a peer and its connection.
type Info struct {
	Addr     string // where its datagrams go now; in the transport's own form
	Identity []byte // what the accept hook made of its token; nil when there is none; not to be modified
	MTU      int    // the most bytes that Send takes
	Secure   bool   // datagrams are encrypted and authenticated
	Ordered  bool   // datagrams arrive in order (and so may wait for one another)
	Stats    Stats
}

// Stats counts what passed between the endpoint and one peer. Bytes are those of the caller's datagrams,
// without headers.
type Stats struct {
	Sent, Received           uint64 // datagrams
	SentBytes, ReceivedBytes uint64
	ReceiveDropped           uint64 // received, but overrun in the queue before Recv came for them
	SendDropped              uint64 // answered with ErrBacklog
	Migrations               uint64 // times that the peer's address changed
}

// String returns the counters as one line for a log; those of faults only if they are not zero.
func (s Stats) String() string {
	line := fmt.Sprintf("sent %d (%d B), received %d (%d B)", s.Sent, s.SentBytes, s.Received, s.ReceivedBytes)
	for _, f := range []struct {
		name string
		n    uint64
	}{{"receive dropped", s.ReceiveDropped}, {"send dropped", s.SendDropped}, {"migrations", s.Migrations}} {
		if f.n > 0 {
			line += fmt.Sprintf(", %s %d", f.name, f.n)
		}
	}
	return line
}
