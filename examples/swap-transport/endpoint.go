package main

import (
	"net"
	"slices"
	"sync"

	"github.com/foretick/foretick/transport"
)

const (
	// MTU is the largest datagram. TCP could carry larger ones, but the game's packets need no more.
	MTU = transport.MaxDatagram
	// waiting is how many datagrams of a peer may wait for Recv, and how many may wait to be sent: 190
	// kB each.
	waiting = 160
)

// Endpoint is a server's or a client's end. It implements transport.Endpoint. Events wait in bounded
// queues for Recv, and outgoing datagrams wait in others for TCP, so no call blocks.
type Endpoint struct {
	ready   chan struct{}  // a value means that Recv may have events
	running sync.WaitGroup // counts the goroutines

	mu     sync.Mutex
	listen net.Listener // nil: this is a client's end
	limit  int          // how many peers a server accepts
	peers  []*peer      // peers that are connected or dialling, or whose end Recv has not returned yet
	turn   int          // whose turn it is in Recv: an index into peers
	used   []uint32     // how many peers each slot has had
	free   []int        // slots without a peer
	closed bool
}

var _ transport.Endpoint = (*Endpoint)(nil)

// peer is one connection. The endpoint's lock guards all but its channels.
type peer struct {
	id     transport.PeerID
	name   string         // the address
	conn   net.Conn       // nil while dialling
	up     bool           // it can be sent to
	opened bool           // Recv has yet to return Connected
	data   [][]byte       // datagrams that Recv has yet to return
	ended  bool           // Recv has yet to return Disconnected, after all others
	code   transport.Code // why it ended
	detail string
	stats  transport.Stats

	out   chan []byte   // frames to send
	leave chan struct{} // closed when this end leaves; then bye is the last frame
	left  bool          // leave is closed
	bye   []byte
	gone  chan struct{} // closed when nothing more can arrive
}

func newEndpoint(limit int) *Endpoint { return &Endpoint{ready: make(chan struct{}, 1), limit: limit} }

// add creates a peer with an id that was never used before.
func (e *Endpoint) add(name string) *peer {
	slot := len(e.used)
	if n := len(e.free); n > 0 {
		slot, e.free = e.free[n-1], e.free[:n-1]
	} else {
		e.used = append(e.used, 0)
	}
	e.used[slot]++
	p := &peer{id: transport.MakePeerID(slot, e.used[slot]), name: name, out: make(chan []byte, waiting),
		leave: make(chan struct{}), gone: make(chan struct{})}
	e.peers = append(e.peers, p)
	return p
}

func (e *Endpoint) remove(p *peer) {
	i := slices.Index(e.peers, p)
	e.peers = slices.Delete(e.peers, i, i+1)
	if e.turn > i {
		e.turn--
	}
	e.free = append(e.free, p.id.Slot())
}

// find returns the peer with an id, or nil if it cannot be sent to.
func (e *Endpoint) find(id transport.PeerID) *peer {
	for _, p := range e.peers {
		if p.id == id && p.up {
			return p
		}
	}
	return nil
}

func (e *Endpoint) signal() {
	select {
	case e.ready <- struct{}{}:
	default:
	}
}

// Ready implements transport.Endpoint.
func (e *Endpoint) Ready() <-chan struct{} { return e.ready }

// Recv implements transport.Endpoint. It returns one event of each peer in turn, so that many events
// of one peer do not delay those of others.
func (e *Endpoint) Recv(ev []transport.Event) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for idle := 0; !e.closed && n < len(ev) && idle < len(e.peers); {
		e.turn %= len(e.peers)
		p := e.peers[e.turn]
		e.turn++
		if e.tell(p, &ev[n]) {
			n, idle = n+1, 0
		} else {
			idle++
		}
	}
	if slices.ContainsFunc(e.peers, func(p *peer) bool { return p.opened || len(p.data) > 0 || p.ended }) {
		e.signal()
	}
	return n
}

// tell writes a peer's next event and reports whether it has one.
func (e *Endpoint) tell(p *peer, ev *transport.Event) bool {
	switch {
	case p.opened:
		p.opened = false
		*ev = transport.Event{Kind: transport.Connected, Peer: p.id}
	case len(p.data) > 0:
		*ev = transport.Event{Kind: transport.Data, Peer: p.id, Data: p.data[0]}
		p.data = p.data[1:]
	case p.ended:
		*ev = transport.Event{Kind: transport.Disconnected, Peer: p.id, Code: p.code, Reason: p.detail}
		e.remove(p)
	default:
		return false
	}
	return true
}

// Send implements transport.Endpoint.
func (e *Endpoint) Send(id transport.PeerID, b []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.find(id)
	switch {
	case e.closed:
		return transport.ErrClosed
	case p == nil:
		return transport.ErrNoPeer
	case len(b) > MTU:
		return &transport.TooBigError{Size: len(b), Limit: MTU}
	}
	select {
	case p.out <- frame(b):
	default:
		p.stats.SendDropped++
		return transport.ErrBacklog
	}
	p.stats.Sent++
	p.stats.SentBytes += uint64(len(b))
	return nil
}

// Flush implements transport.Endpoint. It does nothing, since frames are sent at once.
func (e *Endpoint) Flush() {}

// Disconnect implements transport.Endpoint.
func (e *Endpoint) Disconnect(id transport.PeerID, c transport.Code, reason string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.find(id); p != nil {
		e.dismiss(p, c, reason)
		e.remove(p)
	}
}

// dismiss makes the peer's writer send a farewell.
func (e *Endpoint) dismiss(p *peer, c transport.Code, detail string) {
	p.up = false
	if p.left {
		return
	}
	p.left, p.bye = true, farewell(c, detail)
	close(p.leave)
	if p.conn != nil {
		hurry(p.conn)
	}
}

// Info implements transport.Endpoint.
func (e *Endpoint) Info(id transport.PeerID, out *transport.Info) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.find(id)
	if p == nil || e.closed {
		return false
	}
	*out = transport.Info{Addr: p.name, MTU: MTU, Ordered: true, Stats: p.stats}
	return true
}

// Close implements transport.Endpoint.
func (e *Endpoint) Close(c transport.Code, reason string) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return transport.ErrClosed
	}
	e.closed = true
	for _, p := range e.peers {
		e.dismiss(p, c, reason)
	}
	if e.listen != nil {
		_ = e.listen.Close()
	}
	e.mu.Unlock()
	e.running.Wait()
	return nil
}

// connected records that a peer can be sent to.
func (e *Endpoint) connected(p *peer) {
	p.up, p.opened = true, true
	e.signal()
}

// received queues a datagram. If the queue is full, it drops the oldest one.
func (e *Endpoint) received(p *peer, b []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !p.up {
		return
	}
	if p.stats.Received++; len(p.data) == waiting {
		p.data = p.data[1:]
		p.stats.ReceiveDropped++
	}
	p.stats.ReceivedBytes += uint64(len(b))
	p.data = append(p.data, b)
	e.signal()
}

// over records that a peer's connection ended, unless this end has ended it.
func (e *Endpoint) over(p *peer, c transport.Code, detail string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p.left || p.ended {
		return
	}
	p.up, p.ended, p.code, p.detail = false, true, c, transport.CutReason(detail)
	e.signal()
}
