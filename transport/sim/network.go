package sim

import (
	"time"

	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/calendar"
)

// Network is a queue of events, a clock, and the endpoints that exchange datagrams. NewNetwork creates it.
type Network struct {
	seed    uint64
	now     time.Duration
	due     *calendar.Queue[event]
	running bool
	links   uint64 // connections dialled
	ids     int    // endpoints made
	trace   func(now time.Duration, from, to int, b []byte)
}

type eventKind uint8

const (
	callback eventKind = iota + 1
	arrival            // a datagram of the game
	hello              // this and the following kinds are the transport's own datagrams
	accept
	alive
	ask // asks for an alive
	farewell
	upkeep // a side's timer
	repeat // repeats a farewell
)

type event struct {
	to     *side
	fn     func()  // function of a callback
	buf    *buffer // datagram of an arrival, in a buffer of the receiver's inbox
	length uint16
	kind   eventKind
}

type buffer [transport.MaxDatagram]byte

// NewNetwork returns an empty network whose clock is at 0. The seed determines all randomness in it.
func NewNetwork(seed uint64) *Network { return &Network{seed: seed, due: calendar.New[event]()} }

// Now returns the network's clock: the time of the running event, or the time that Run has reached.
func (n *Network) Now() time.Duration { return n.now }

// At calls fn when the clock reaches t, or as soon as Run continues if t is past. Events at the same time run
// in the order of their At calls.
func (n *Network) At(t time.Duration, fn func()) {
	n.pushEvent(t, callback, nil).fn = fn
}

// Next returns the time of the next event; ok is false when none is left.
func (n *Network) Next() (t time.Duration, ok bool) {
	t, ok = n.due.Next()
	return max(t, n.now), ok
}

// Run processes all events up to and including the time until, in order, and leaves the clock there. It panics
// with a foretick.UsageError when called from a callback.
func (n *Network) Run(until time.Duration) {
	if n.running {
		misuse.Panicf("sim: Network.Run called from a callback; put what shall follow in the queue with At")
	}
	n.running = true
	defer func() { n.running = false }()
	var ev event
	for {
		at, ok := n.due.Pop(until, &ev)
		if !ok {
			break
		}
		n.now = at
		n.process(&ev)
	}
	n.now = max(n.now, until)
}

// Trace calls fn with every datagram that Send accepts, before any loss or delay, with the Endpoint.ID of
// sender and receiver. b is valid during the call. nil ends the trace.
func (n *Network) Trace(fn func(now time.Duration, from, to int, b []byte)) { n.trace = fn }

// pushEvent adds an event; the caller fills in the rest.
func (n *Network) pushEvent(at time.Duration, kind eventKind, to *side) *event {
	ev := n.due.Push(max(at, n.now))
	ev.kind, ev.to = kind, to
	return ev
}

func (n *Network) process(ev *event) {
	switch ev.kind {
	case callback:
		ev.fn()
	case arrival:
		ev.to.arrived(ev.buf[:], int(ev.length))
	case hello:
		ev.to.greeted()
	case accept:
		ev.to.accepted()
	case alive, ask:
		ev.to.lives(ev.kind == ask)
	case farewell:
		ev.to.left(ev.to.far.code, ev.to.far.reason)
	case upkeep:
		ev.to.upkeep()
	case repeat:
		ev.to.control(farewell)
	}
}
