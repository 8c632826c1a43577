package local

import (
	"bytes"
	"reflect"
	"sync"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/inbox"
	"github.com/foretick/foretick/transport/internal/slot"
)

// MaxClients is the most clients that Dial connects to one server at the same time.
const MaxClients = 16

// queued is the most datagrams per peer that wait for Recv.
const queued = 160

// Endpoint is a server's endpoint that clients of the same process dial. New makes it. Any
// goroutine may call its methods, but only one at a time may call Recv.
type Endpoint struct {
	outer   transport.Endpoint // nil without other peers
	ready   chan struct{}      // signals both kinds of peers; nil without outer
	done    chan struct{}
	running sync.WaitGroup

	mu     sync.Mutex // guards the clients too
	in     *inbox.Inbox
	peers  slot.Table[*conn]
	bans   map[string]ban
	closed bool
}

// conn is one client's connection.
type conn struct {
	host     *Endpoint
	client   *client
	id       transport.PeerID // the client's PeerID at the server
	identity []byte
	queue    *inbox.Queue    // datagrams that wait for the server
	stats    transport.Stats // the server's traffic with the client
}

type ban struct {
	until  time.Time // zero: until Unban
	reason string
}

var (
	_ transport.BanList = (*Endpoint)(nil)
	_ transport.Limited = (*Endpoint)(nil)
	_ transport.Wrapper = (*Endpoint)(nil)
)

// New returns a server's endpoint that has the peers of outer and those that Dial connects. With a nil outer it has
// only those that Dial connects. New takes outer over: nobody else may call its Recv or Close, and Close closes it.
// outer must allow calls from any goroutine, as all endpoints except package sim's do. The ids of its peers are
// changed.
func New(outer transport.Endpoint) *Endpoint {
	if v := reflect.ValueOf(outer); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		outer = nil
	}
	e := &Endpoint{outer: outer, in: inbox.New(transport.MaxDatagram, queued), bans: map[string]ban{}}
	if outer != nil {
		e.ready, e.done = make(chan struct{}, 1), make(chan struct{})
		e.running.Add(1)
		go e.forward()
	}
	return e
}

// Unwrap implements transport.Wrapper: it returns outer.
func (e *Endpoint) Unwrap() transport.Endpoint { return e.outer }

// forward passes on the ready signals of both kinds of peers until Close.
func (e *Endpoint) forward() {
	defer e.running.Done()
	for {
		select {
		case <-e.done:
			return
		case <-e.in.Ready():
		case <-e.outer.Ready():
		}
		select {
		case e.ready <- struct{}{}:
		default:
		}
	}
}

// Dial connects a client of this process and returns its endpoint. identity is the Info.Identity that the server sees
// for it, nil for none. With MaxClients connected, or a banned identity, the endpoint's first event is Disconnected.
func (e *Endpoint) Dial(identity []byte) transport.Endpoint {
	c := &client{in: inbox.New(transport.MaxDatagram, queued)}
	e.mu.Lock()
	defer e.mu.Unlock()
	c.conn = &conn{host: e, client: c, identity: bytes.Clone(identity)}
	b, banned := e.bans[string(identity)]
	banned = banned && len(identity) > 0 && (b.until.IsZero() || time.Now().Before(b.until))
	c.queue = c.in.Add(serverID, !e.closed && !banned && e.peers.Len() < MaxClients)
	switch {
	case e.closed:
		c.refused(transport.Unreachable, "nobody listens")
	case banned:
		c.refused(transport.Refused, b.reason)
	case e.peers.Len() == MaxClients:
		c.refused(transport.Full, "the most local clients are connected")
	default:
		c.open = true
		c.conn.id = e.peers.Add(c.conn)
		c.conn.queue = e.in.Add(c.conn.id, true)
	}
	return c
}

// local returns the connection of a client of this process, or nil.
func (e *Endpoint) local(p transport.PeerID) *conn {
	c, ok := e.peers.Get(p)
	if !ok {
		return nil
	}
	return c
}

// isOuter reports whether a PeerID belongs to a peer of outer. outerID and fromOuterID convert it to
// outer's PeerID, and back.
func isOuter(p transport.PeerID) bool                 { return p.Slot() >= MaxClients }
func outerID(p transport.PeerID) transport.PeerID     { return p - MaxClients }
func fromOuterID(p transport.PeerID) transport.PeerID { return p + MaxClients }

// Recv implements transport.Endpoint.
func (e *Endpoint) Recv(ev []transport.Event) int {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return 0
	}
	n := e.in.Recv(ev)
	e.mu.Unlock()
	if e.outer == nil || n == len(ev) {
		return n
	}
	m := e.outer.Recv(ev[n:])
	for i := range ev[n : n+m] {
		ev[n+i].Peer = fromOuterID(ev[n+i].Peer)
	}
	return n + m
}

// Ready implements transport.Endpoint.
func (e *Endpoint) Ready() <-chan struct{} {
	if e.outer != nil {
		return e.ready
	}
	return e.in.Ready()
}

// Send implements transport.Endpoint.
func (e *Endpoint) Send(p transport.PeerID, b []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return transport.ErrClosed
	}
	if e.outer != nil && isOuter(p) {
		return e.outer.Send(outerID(p), b)
	}
	c := e.local(p)
	if c == nil {
		return transport.ErrNoPeer
	}
	return pass(b, &c.stats, c.client.in, c.client.queue, &c.client.stats)
}

// pass copies a datagram into the receiver's queue and counts it at both ends.
func pass(b []byte, from *transport.Stats, in *inbox.Inbox, q *inbox.Queue, to *transport.Stats) error {
	if len(b) > transport.MaxDatagram {
		return &transport.TooBigError{Size: len(b), Limit: transport.MaxDatagram}
	}
	from.Sent++
	from.SentBytes += uint64(len(b))
	to.Received++
	to.ReceivedBytes += uint64(len(b))
	buf := in.Buffer()
	if in.Push(q, buf, buf[:copy(buf, b)]) {
		to.ReceiveDropped++
	}
	return nil
}

// Flush implements transport.Endpoint. Local datagrams arrive at once.
func (e *Endpoint) Flush() {
	if e.outer != nil {
		e.outer.Flush()
	}
}

// Disconnect implements transport.Endpoint.
func (e *Endpoint) Disconnect(p transport.PeerID, c transport.Code, reason string) {
	if e.outer != nil && isOuter(p) {
		e.outer.Disconnect(outerID(p), c, reason)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if k := e.local(p); k != nil {
		e.in.Drop(k.queue)
		k.freeConnection(c, reason)
	}
}

// freeConnection removes a connection and ends it at the client.
func (k *conn) freeConnection(c transport.Code, reason string) {
	k.host.peers.Remove(k.id)
	k.client.refused(c, reason)
}

// Info implements transport.Endpoint.
func (e *Endpoint) Info(p transport.PeerID, out *transport.Info) bool {
	if e.outer != nil && isOuter(p) {
		return e.outer.Info(outerID(p), out)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.local(p)
	if c == nil || e.closed {
		return false
	}
	*out = transport.Info{Addr: "local", Identity: c.identity, MTU: transport.MaxDatagram, Secure: true, Ordered: true, Stats: c.stats}
	return true
}

// MaxPeers returns the sum of MaxClients and the limit of outer. It returns 0 if outer has no known limit.
func (e *Endpoint) MaxPeers() int {
	if e.outer == nil {
		return MaxClients
	}
	if l, ok := transport.As[transport.Limited](e.outer); ok && l.MaxPeers() > 0 {
		return l.MaxPeers() + MaxClients
	}
	return 0
}

// DisconnectIdentity implements transport.BanList. It includes the peers of outer if outer is a BanList too.
func (e *Endpoint) DisconnectIdentity(identity []byte, c transport.Code, reason string) bool {
	if len(identity) == 0 {
		return false
	}
	found := false
	if l, ok := transport.As[transport.BanList](e.outer); ok {
		found = l.DisconnectIdentity(identity, c, reason)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.peers.Slots() {
		if k, ok := e.peers.At(i); ok && bytes.Equal(k.identity, identity) {
			found = true
			e.in.End(k.queue, c, transport.CutReason(reason))
			k.freeConnection(c, reason)
		}
	}
	return found
}

// Ban implements transport.BanList, like DisconnectIdentity.
func (e *Endpoint) Ban(identity []byte, until time.Time, reason string) {
	if len(identity) == 0 {
		return
	}
	if l, ok := transport.As[transport.BanList](e.outer); ok {
		l.Ban(identity, until, reason)
	}
	e.mu.Lock()
	e.bans[string(identity)] = ban{until, reason}
	e.mu.Unlock()
	e.DisconnectIdentity(identity, transport.Kicked, reason)
}

// Unban implements transport.BanList.
func (e *Endpoint) Unban(identity []byte) {
	if l, ok := transport.As[transport.BanList](e.outer); ok {
		l.Unban(identity)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.bans, string(identity))
}

// Close implements transport.Endpoint.
func (e *Endpoint) Close(c transport.Code, reason string) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return transport.ErrClosed
	}
	for i := range e.peers.Slots() {
		if k, ok := e.peers.At(i); ok {
			k.freeConnection(c, reason)
		}
	}
	e.closed = true
	e.mu.Unlock()
	if e.outer == nil {
		return nil
	}
	close(e.done)
	e.running.Wait()
	return e.outer.Close(c, reason)
}
