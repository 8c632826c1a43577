package host

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ticket"
)

// port is the endpoint of one match: a view of the host's endpoint with the match's own peers. Its
// PeerIDs are those of the host's endpoint.
type port struct {
	host  *Host
	match *match
	ready chan struct{}
	// hurry makes the worker step the match before its next tick: a peer connected or left, an inbox is
	// half full, or the match wants each datagram at once.
	hurry atomic.Bool

	mu     sync.Mutex
	peers  map[transport.PeerID]*resident
	queue  []letter // letters before head have been read
	head   int
	empty  int      // unread letters whose peer is gone
	out    [][]byte // buffers that the caller of Recv may still read
	free   [][]byte // buffers to use again
	held   bool     // the match's step hangs: see hang.go
	atOnce bool     // each datagram makes the worker step the match: see StepAtOnce
	closed bool
}

// resident is a peer of a match.
type resident struct {
	id       transport.PeerID
	identity []byte // the peer's identity in the match
	whole    []byte // the peer's identity as the endpoint knows it
	inbox    inbox  // waiting datagrams; each has a letter in the queue
	told     bool   // the match has read that it connected
	gone     bool   // dropPeer or Close has removed it: its letters are skipped
}

// letter is an event that waits for the match. A letter of kind Data stands for the oldest datagram of
// the peer's inbox.
type letter struct {
	of     *resident
	kind   transport.EventKind
	code   transport.Code
	reason string
}

var (
	_ transport.BanList = (*port)(nil)
	_ transport.Limited = (*port)(nil)
)

func newPort(h *Host, m *match) *port {
	return &port{host: h, match: m, ready: make(chan struct{}, 1), peers: make(map[transport.PeerID]*resident)}
}

// addPeer adds a peer. It returns false if the match is closed or full.
func (p *port) addPeer(r *resident) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if most := p.host.cfg.PlayersPerMatch; p.closed || most > 0 && len(p.peers) >= 2*most {
		return false
	}
	p.peers[r.id] = r
	p.addLetter(letter{of: r, kind: transport.Connected})
	p.hurry.Store(true)
	return true
}

// data adds a datagram with its arrival time. dropped reports whether another datagram was dropped for
// it, hurry whether the match must be stepped before its next tick.
func (p *port) data(id transport.PeerID, b []byte, at time.Time) (dropped, hurry bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.peers[id]
	if r == nil || r.gone {
		return false, false
	}
	in := &r.inbox
	switch {
	case p.held && in.waiting > 0: // a match that hangs finds only the newest datagram when it goes on
		in.putForNewest(b, at)
		return true, false
	case in.waiting >= p.host.cfg.Inbox:
		in.putForOldest(b, at)
		dropped = true
	default:
		var buf []byte
		if n := len(p.free); n > 0 {
			buf, p.free = p.free[n-1], p.free[:n-1]
		}
		in.putDatagram(b, buf, at, p.host.cfg.Inbox)
		p.addLetter(letter{of: r, kind: transport.Data})
	}
	if hurry = (p.atOnce || 2*in.waiting > p.host.cfg.Inbox) && !p.hurry.Load(); hurry {
		p.hurry.Store(true)
	}
	return dropped, hurry
}

// dropPeer removes a peer and its waiting datagrams. It also removes dead letters, so that peers that
// come and go do not grow the queue of a match that hangs.
func (p *port) dropPeer(r *resident) {
	r.gone = true
	delete(p.peers, r.id)
	p.empty += r.inbox.waiting
	if !r.told {
		p.empty++
	}
	for r.inbox.waiting > 0 {
		p.free = append(p.free, r.inbox.takeOldest().buf)
	}
	if p.empty > 64+(len(p.queue)-p.head)/2 {
		p.queue = slices.DeleteFunc(slices.Delete(p.queue, 0, p.head), func(l letter) bool { return l.of.gone })
		p.head, p.empty = 0, 0
	}
}

// disconnect tells the match that a peer is gone. If the match has not read that the peer connected, it
// sees neither event.
func (p *port) disconnect(id transport.PeerID, code transport.Code, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch r := p.peers[id]; {
	case r == nil:
	case !r.told:
		p.dropPeer(r)
	default:
		delete(p.peers, id)
		p.addLetter(letter{of: r, kind: transport.Disconnected, code: code, reason: reason})
		p.hurry.Store(true)
	}
}

func (p *port) addLetter(l letter) {
	p.queue = append(p.queue, l)
	select {
	case p.ready <- struct{}{}:
	default:
	}
}

// Recv implements transport.Endpoint.
func (p *port) Recv(ev []transport.Event) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, p.out...)
	clear(p.out)
	p.out = p.out[:0]
	if p.closed {
		return 0
	}
	for n < len(ev) && p.head < len(p.queue) {
		l := &p.queue[p.head]
		p.head++
		if l.of.gone {
			p.empty--
			*l = letter{}
			continue
		}
		ev[n] = transport.Event{Kind: l.kind, Peer: l.of.id, Code: l.code, Reason: l.reason}
		switch l.kind {
		case transport.Connected:
			l.of.told = true
		case transport.Data:
			d := l.of.inbox.takeOldest()
			ev[n].Data, ev[n].At = d.buf, d.at
			p.out = append(p.out, d.buf)
		}
		n++
		*l = letter{}
	}
	if p.head == len(p.queue) {
		p.queue, p.head, p.empty = p.queue[:0], 0, 0
		p.hurry.Store(false)
	}
	return n
}

// Ready implements transport.Endpoint.
func (p *port) Ready() <-chan struct{} { return p.ready }

// Send implements transport.Endpoint.
func (p *port) Send(id transport.PeerID, b []byte) error {
	p.mu.Lock()
	_, ok := p.peers[id]
	closed := p.closed
	p.mu.Unlock()
	switch {
	case closed:
		return transport.ErrClosed
	case !ok:
		return transport.ErrNoPeer
	}
	return p.host.endpoint.Send(id, b)
}

// Flush implements transport.Endpoint. It does nothing: the worker flushes for all its matches.
func (p *port) Flush() {}

// Disconnect implements transport.Endpoint.
func (p *port) Disconnect(id transport.PeerID, c transport.Code, reason string) {
	p.mu.Lock()
	r := p.peers[id]
	if r != nil {
		p.dropPeer(r)
	}
	p.mu.Unlock()
	if r != nil {
		p.host.unroute(id)
		p.host.endpoint.Disconnect(id, c, reason)
	}
}

// Info implements transport.Endpoint.
func (p *port) Info(id transport.PeerID, out *transport.Info) bool {
	p.mu.Lock()
	r := p.peers[id]
	p.mu.Unlock()
	if r == nil || !p.host.endpoint.Info(id, out) {
		return false
	}
	out.Identity = r.identity
	return true
}

// Close implements transport.Endpoint. The host's endpoint stays open.
func (p *port) Close(c transport.Code, reason string) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return transport.ErrClosed
	}
	p.closed = true
	var all []transport.PeerID
	for id, r := range p.peers {
		r.gone = true
		all = append(all, id)
	}
	clear(p.peers)
	p.queue, p.head, p.out, p.free = nil, 0, nil, nil
	p.mu.Unlock()
	slices.Sort(all)
	for _, id := range all {
		p.host.unroute(id)
		p.host.endpoint.Disconnect(id, c, reason)
	}
	return nil
}

// hold makes the port keep only the newest datagram of each peer while a step of the match hangs.
// Further datagrams then cost no memory, until releaseHeld.
func (p *port) hold() { p.mu.Lock(); defer p.mu.Unlock(); p.held = true }

func (p *port) releaseHeld() { p.mu.Lock(); defer p.mu.Unlock(); p.held = false }

func (p *port) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// StepAtOnce makes each datagram step the match, before its next tick is due. Relays ask for it: a tick settles with
// the last input that it waits for, so every input that waits in an inbox would delay all players.
func (p *port) StepAtOnce() { p.mu.Lock(); defer p.mu.Unlock(); p.atOnce = true }

// Aside runs wait, with which a recorder of the match waits for its disk.
func (p *port) Aside(wait func()) { p.host.aside(wait) }

// MaxPeers implements transport.Limited.
func (p *port) MaxPeers() int { return p.host.cfg.PlayersPerMatch }

// peersOf returns the peers of an identity.
func (p *port) peersOf(identity []byte) (all []*resident) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.peers {
		if len(identity) > 0 && bytes.Equal(r.identity, identity) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *resident) int { return int(int64(a.id) - int64(b.id)) })
	return all
}

// whole returns the identity of a match's player as the endpoint knows it.
func (p *port) whole(identity []byte) []byte {
	if all := p.peersOf(identity); len(all) > 0 {
		return all[0].whole
	}
	return ticket.JoinIdentity(p.match.name, identity)
}

// DisconnectIdentity implements transport.BanList, for the peers of this match.
func (p *port) DisconnectIdentity(identity []byte, c transport.Code, reason string) bool {
	all := p.peersOf(identity)
	for _, r := range all {
		p.host.unroute(r.id)
		p.host.endpoint.Disconnect(r.id, c, reason)
		p.disconnect(r.id, c, reason)
	}
	return len(all) > 0
}

// Ban implements transport.BanList: an identity is banned from this match alone.
func (p *port) Ban(identity []byte, until time.Time, reason string) {
	if len(identity) == 0 {
		return
	}
	if bans, ok := transport.As[transport.BanList](p.host.endpoint); ok {
		bans.Ban(p.whole(identity), until, reason)
		return
	}
	p.DisconnectIdentity(identity, transport.Kicked, reason)
}

// Unban implements transport.BanList.
func (p *port) Unban(identity []byte) {
	if bans, ok := transport.As[transport.BanList](p.host.endpoint); ok && len(identity) > 0 {
		bans.Unban(p.whole(identity))
	}
}
