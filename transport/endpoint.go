package transport

import (
	"fmt"
	"strconv"
	"time"
)

// MaxDatagram is the largest UDP payload that Foretick's transports send, in bytes, with their own headers
// included. 1200 bytes pass nearly every internet path without fragmentation (RFC 9000, section 14).
const MaxDatagram = 1200

// MaxReason is the most bytes of a close's reason that are sent; longer ones are cut.
const MaxReason = 200

// PeerID identifies one connection of an endpoint. The low 32 bits are a slot, a small number usable as a
// slice index. The high 32 bits are the slot's generation, which distinguishes the connections that used
// it. Zero is no peer.
type PeerID uint64

// MakePeerID returns the id of the generation-th connection in a slot. Generations start at 1.
func MakePeerID(slot int, generation uint32) PeerID {
	return PeerID(uint32(slot)) | PeerID(generation)<<32
}

// Slot returns the slot of the id. It is less than the most peers that the endpoint ever had at the same
// time.
func (p PeerID) Slot() int { return int(uint32(p)) }

// Generation returns how many connections have used the slot, including this one.
func (p PeerID) Generation() uint32 { return uint32(p >> 32) }

// String returns the id as slot#generation.
func (p PeerID) String() string {
	return strconv.Itoa(p.Slot()) + "#" + strconv.FormatUint(uint64(p.Generation()), 10)
}

// EventKind is the type of an Event.
type EventKind uint8

const (
	// Connected: Send to the peer works from now on. It is the first event of a peer.
	Connected EventKind = iota + 1
	// Data: one datagram arrived from the peer.
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

// Event is one event at an endpoint.
type Event struct {
	Kind EventKind // what happened
	Peer PeerID    // the peer that it concerns
	Data []byte    // the datagram of a Data event, valid until the next Recv; the reader may overwrite it
	Code Code      // the reason of a Disconnected event
	// Reason is the reason of a Disconnected event in words, at most MaxReason bytes, possibly empty. A remote peer
	// chose it: print it quoted.
	Reason string
	// At is when the datagram of a Data event arrived, if it waited before Recv, as in package host.
	// Delays are measured to it. Most endpoints leave it zero, which means now.
	At time.Time
}

// Endpoint is one end of a network. The package documentation describes how its methods relate.
type Endpoint interface {
	// Recv fills ev with pending events and returns their number, 0 if there are none. It never blocks. It
	// invalidates all Data returned before. A closed endpoint returns 0.
	Recv(ev []Event) int

	// Ready returns a channel of capacity 1 that holds a signal when Recv may have something new. A signal
	// may be spurious. After a Recv that returned fewer events than requested, no signal is missed.
	Ready() <-chan struct{}

	// Send sends b to the peer as one datagram, which may be lost. It never blocks and does not keep b.
	// Errors: ErrTooBig (a *TooBigError; longer than Info.MTU), ErrBacklog, ErrNoPeer, ErrClosed.
	Send(p PeerID, b []byte) error

	// Flush marks the end of a tick's sends. A transport may hold datagrams back until then, but must send
	// them eventually even without it.
	Flush()

	// Disconnect drops the peer at once and notifies it, as far as the network permits. Received data that
	// Recv has not returned yet is discarded. Unknown peers are ignored.
	Disconnect(p PeerID, c Code, reason string)

	// Info fills out with the peer's data and reports whether the peer exists.
	Info(p PeerID, out *Info) bool

	// Close drops every peer like Disconnect and frees all resources; the endpoint's goroutines have ended
	// when it returns. It may take a fraction of a second, so that peers are notified even when datagrams
	// are lost. A second Close does nothing and returns ErrClosed.
	Close(c Code, reason string) error
}

// Info describes a peer and its connection.
type Info struct {
	Addr     string // the peer's current address, in the transport's format: datagrams for the peer are sent there
	Identity []byte // the peer's identity, as the accept hook returned it; nil when there is none; do not modify it
	MTU      int    // longest datagram that Send accepts, in bytes
	Secure   bool   // datagrams are encrypted and authenticated
	Ordered  bool   // datagrams arrive in order, so one may wait for another
	Stats    Stats  // traffic with the peer
}

// Stats counts the traffic between the endpoint and one peer. Bytes are those of the caller's datagrams,
// without headers.
type Stats struct {
	Sent, Received           uint64 // datagrams sent, and received
	SentBytes, ReceivedBytes uint64 // bytes of the datagrams sent, and received
	ReceiveDropped           uint64 // datagrams received, but dropped from a full queue before Recv
	SendDropped              uint64 // datagrams that a full queue had no room for: sends that failed with ErrBacklog, or older ones that they pushed out
	Replaced                 uint64 // datagrams not sent, because newer ones replaced them before the connection took them, as package ws does
	Migrations               uint64 // changes of the peer's address, and of a client's own
}

// String returns the counters as one line for a log; fault counters appear only when they are not zero.
func (s Stats) String() string {
	line := fmt.Sprintf("sent %d (%d B), received %d (%d B)", s.Sent, s.SentBytes, s.Received, s.ReceivedBytes)
	for _, f := range []struct {
		name string
		n    uint64
	}{{"receive dropped", s.ReceiveDropped}, {"send dropped", s.SendDropped}, {"replaced", s.Replaced}, {"migrations", s.Migrations}} {
		if f.n > 0 {
			line += fmt.Sprintf(", %s %d", f.name, f.n)
		}
	}
	return line
}
