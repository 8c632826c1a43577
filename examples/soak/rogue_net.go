package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport"
)

// socketNet is the network between rogues and a server: sockets on loopback. Time
// is real, and the server's time runs faster by a factor.
type socketNet struct {
	ways
	server  transport.Endpoint
	now     time.Duration
	next    time.Time
	slow    float64                         // slowdown of the server's time while the machine is busy
	open    map[transport.Endpoint]struct{} // endpoints of rogues
	dials   int
	ending  sync.WaitGroup // endpoints that are being closed
	honests []*patient
	loose   []func() // functions that close abandoned connections; the oldest first
}

// ways are the operations of one transport.
type ways interface {
	// honest dials like a game.
	honest() (transport.Endpoint, error)
	// rogue dials in a way that Abandon can end.
	rogue() (rogueEnd, error)
	// breaks breaks rules over a separate connection, and returns a function that closes the
	// connection.
	breaks(draw func(n int) int) (end func())
}

// rogueEnd is a rogue's endpoint.
type rogueEnd interface {
	transport.Endpoint
	// mute stops all sending, even of a farewell.
	mute()
	// misuse breaks the transport's rules over an open connection.
	misuse(draw func(n int) int)
}

const (
	busySpeed  = 6  // speed of the server's time while rogues play
	idleSpeed  = 12 // speed at other times
	looseEnds  = 64 // most connections that stay open after an abandoned peer
	honestSign = "honest"
	socketRoom = 1024 // most peers of a server's transport
	rogueDial  = 2 * time.Second
	silence    = 3 * time.Second // the transports' timeout
	tooLate    = 5 * time.Millisecond
	breath     = time.Millisecond / 2 // pause in each step for the goroutines of sockets
	slowest    = 3                    // most that the server's time is slowed down
)

func newSocketNet(w ways, server transport.Endpoint) *socketNet {
	return &socketNet{ways: w, server: server, next: time.Now(), open: map[transport.Endpoint]struct{}{}}
}

// overSockets returns a function that creates a network over a transport.
func overSockets(transport string) (func() (campaign.RogueNet, error), error) {
	open := map[string]func() (*socketNet, error){"udp": overUDP, "dtls": overDTLS, "ws": overWS}[transport]
	if open == nil {
		return nil, fmt.Errorf("-transport %q: use udp, dtls or ws, or nothing for a simulated network", transport)
	}
	return func() (campaign.RogueNet, error) {
		n, err := open()
		if err != nil {
			return nil, err
		}
		return n, nil
	}, nil
}

func (n *socketNet) Listen() transport.Endpoint { return n.server }

// Dial implements campaign.RogueNet. A failed dial looks like a failure of the
// network.
func (n *socketNet) Dial(honest bool) transport.Endpoint {
	if honest {
		e, err := n.honest()
		if err != nil {
			return broken{err}
		}
		p := &patient{Endpoint: e, ending: &n.ending}
		n.honests = append(slices.DeleteFunc(n.honests, func(p *patient) bool { return p.closed }), p)
		return p
	}
	n.dials++
	e, err := n.rogue()
	if err != nil {
		return broken{err}
	}
	n.open[e] = struct{}{}
	return e
}

// Abandon implements campaign.RogueNet: every second peer ends like a process that ends, the others like
// a machine that is lost.
func (n *socketNet) Abandon(e transport.Endpoint) {
	r, ok := transport.As[rogueEnd](e)
	if !ok {
		return
	}
	r.mute()
	end := func() { n.HangUp(e, transport.Closed) }
	if n.dials%2 == 0 {
		end()
		return
	}
	n.leave(end)
}

// leave keeps a connection open. It closes the oldest one when there are too many.
func (n *socketNet) leave(end func()) {
	if n.loose = append(n.loose, end); len(n.loose) > looseEnds {
		n.loose[0]()
		n.loose = n.loose[1:]
	}
}

func (n *socketNet) HangUp(e transport.Endpoint, code transport.Code) {
	delete(n.open, e)
	n.ending.Go(func() { _ = e.Close(code, "") })
}

func (n *socketNet) Break(e transport.Endpoint, draw func(int) int) {
	if r, ok := transport.As[rogueEnd](e); ok {
		r.misuse(draw)
		return
	}
	n.leave(n.breaks(draw))
}

// Pass implements campaign.RogueNet. Delays of the machine do not count.
func (n *socketNet) Pass(now time.Duration, busy bool) (late time.Duration) {
	if now == n.now {
		return 0
	}
	speed, slow := float64(idleSpeed), n.slow
	if busy {
		speed = busySpeed
	}
	n.next = n.next.Add(time.Duration(float64(now-n.now) * max(slow, 1) / speed))
	n.now = now
	if begun := time.Now(); begun.After(n.next) { // the work took longer than allowed: slow down
		late = begun.Sub(n.next)
		n.next = begun.Add(breath)
	}
	time.Sleep(time.Until(n.next))
	over := time.Since(n.next)
	if n.slow *= 0.99; over > tooLate { // the machine is busy with other work: slow down
		n.next, n.slow = n.next.Add(over), min(1.5*max(n.slow, 1), slowest)
	}
	return late + over
}

// Held closes all abandoned connections, and counts goroutines and sockets.
func (n *socketNet) Held() int {
	for _, end := range n.loose {
		end()
	}
	n.loose = nil
	n.ending.Wait()
	held := runtime.NumGoroutine()
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		held += len(files)
	}
	return held
}

func (n *socketNet) Close() {
	for e := range n.open {
		n.HangUp(e, transport.Closed)
	}
	n.Held()
	for _, p := range n.honests {
		_ = p.Close(transport.Closed, "") // may be closed already
	}
	n.ending.Wait()
	_ = n.server.Close(transport.Closed, "")
	n.ending.Wait()
}

// patient is an endpoint that others can wait for after its Close.
type patient struct {
	transport.Endpoint
	ending *sync.WaitGroup
	closed bool
}

// Unwrap implements transport.Wrapper.
func (p *patient) Unwrap() transport.Endpoint { return p.Endpoint }

func (p *patient) Close(c transport.Code, reason string) error {
	p.closed = true
	p.ending.Go(func() { _ = p.Endpoint.Close(c, reason) })
	return nil
}

// broken is an endpoint that could not be dialled.
type broken struct{ err error }

func (b broken) Recv(ev []transport.Event) int {
	ev[0] = transport.Event{Kind: transport.Disconnected, Peer: 1, Code: transport.Unreachable, Reason: b.err.Error()}
	return 1
}

func (b broken) Ready() <-chan struct{} { return nil }

func (b broken) Send(transport.PeerID, []byte) error { return transport.ErrNoPeer }

func (b broken) Flush() {}

func (b broken) Disconnect(transport.PeerID, transport.Code, string) {}

func (b broken) Info(transport.PeerID, *transport.Info) bool { return false }

func (b broken) Close(transport.Code, string) error { return nil }

// junk appends n random bytes.
func junk(b []byte, n int, draw func(int) int) []byte {
	for range n {
		b = append(b, byte(draw(256)))
	}
	return b
}

var loopback = &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}
