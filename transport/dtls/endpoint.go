package dtls

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/crowd"
	"github.com/foretick/foretick/transport/internal/hook"
	"github.com/foretick/foretick/transport/internal/inbox"
	"github.com/foretick/foretick/transport/internal/refused"
	"github.com/foretick/foretick/transport/internal/roster"
	"github.com/foretick/foretick/transport/internal/slot"
	"github.com/foretick/foretick/transport/ticket"
)

// Endpoint protects the datagrams of another endpoint. It implements transport.Endpoint. Any goroutine may call its
// methods, but only one at a time may call Recv. Listen, Dial, WrapServer and WrapClient create it.
type Endpoint struct {
	cfg     Config
	below   transport.Endpoint
	in      *inbox.Inbox  // guarded by mu, except Ready
	clock   atomic.Uint32 // counts ticks of tickTime while the process runs
	done    chan struct{}
	kick    chan struct{} // has room for one value: keys have arrived for early records
	running sync.WaitGroup
	asking  sync.Mutex // held during a call of the accept hook
	accept  hook.Accept
	certify hook.Other

	mu         sync.Mutex
	peers      slot.Table[*peer]
	links      map[transport.PeerID]*peer // peers by their id in the endpoint below
	named      roster.Roster[*peer]       // a server's open peers
	silent     crowd.Crowd[*peer]         // a server's peers that have not started a handshake
	shakes     []*peer                    // a server's handshakes, oldest first
	unreleased []*peer                    // peers for which the library still runs
	counters   Counters
	refusals   refused.Tally
	closed     bool
	dial       *peer          // a client's only peer; nil on a server
	ticket     *ticket.Ticket // a client's ticket
	buf        []byte         // buffer for the next datagram; only the goroutine of pump uses it
	sending    sync.Mutex     // guards the peers' writers, out and plain; locked after mu
	out        []byte         // buffer for a record
	plain      []byte         // buffer for a message
	handshake  time.Duration  // longest time of a handshake; tests change it
}

const (
	tickTime      = 50 * time.Millisecond
	bufferSize    = 1280
	askEvery      = 4                // in ticks: 200 ms
	handshakeTime = 10 * time.Second // five round trips of two seconds each
)

var (
	_ transport.Wrapper = (*Endpoint)(nil)
	_ transport.Counted = (*Endpoint)(nil)
)

func newEndpoint(below transport.Endpoint, cfg Config) *Endpoint {
	e := &Endpoint{cfg: cfg, accept: hook.Accept{Fn: cfg.Accept, Log: cfg.Logger}, certify: hook.Other{Reason: "certificate", Text: "panic in Config.GetCertificate: the client was refused", Log: cfg.Logger}, below: below, in: inbox.New(bufferSize, cfg.ReceiveQueue), done: make(chan struct{}),
		kick: make(chan struct{}, 1), links: make(map[transport.PeerID]*peer), handshake: handshakeTime}
	e.buf = e.in.Buffer()
	e.clock.Store(1)
	return e
}

func (e *Endpoint) startPumps() {
	e.running.Add(2)
	go func() {
		defer e.running.Done()
		e.pump()
	}()
	go func() {
		defer e.running.Done()
		e.tend()
	}()
}

// ticks returns d in ticks, rounded up, at least one.
func ticks(d time.Duration) uint32 { return uint32(max(1, (d+tickTime-1)/tickTime)) }

// Unwrap implements transport.Wrapper. For Listen and Dial it returns a *udp.Endpoint, with its Counters. Do
// not send or receive on it.
func (e *Endpoint) Unwrap() transport.Endpoint { return e.below }

// LocalAddr returns the address of the socket below; the zero AddrPort while a dial is still resolving a name, and for
// an endpoint below that has no address.
func (e *Endpoint) LocalAddr() netip.AddrPort {
	below, ok := transport.As[interface{ LocalAddr() netip.AddrPort }](e.below)
	if !ok {
		return netip.AddrPort{}
	}
	return below.LocalAddr()
}

// Recv implements transport.Endpoint.
func (e *Endpoint) Recv(ev []transport.Event) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return 0
	}
	return e.in.Recv(ev)
}

// Ready implements transport.Endpoint.
func (e *Endpoint) Ready() <-chan struct{} { return e.in.Ready() }

// Send implements transport.Endpoint.
func (e *Endpoint) Send(id transport.PeerID, b []byte) error {
	e.mu.Lock()
	p, ok := e.peers.Get(id)
	if !ok || p.state != open {
		closed := e.closed
		e.mu.Unlock()
		if closed {
			return transport.ErrClosed
		}
		return transport.ErrNoPeer
	}
	if len(b) > p.mtu {
		e.mu.Unlock()
		return &transport.TooBigError{Size: len(b), Limit: p.mtu}
	}
	p.sent = e.clock.Load()
	p.stats.Sent++
	p.stats.SentBytes += uint64(len(b))
	e.mu.Unlock()
	err := e.protect(p, msgData, b)
	if err == transport.ErrBacklog {
		e.mu.Lock()
		p.stats.SendDropped++
		p.stats.Sent--
		p.stats.SentBytes -= uint64(len(b))
		e.mu.Unlock()
		return err
	}
	if err == transport.ErrNoPeer {
		return err
	}
	return nil // other failures are reported as an event
}

// protect sends a message in a record. Call it without the lock.
func (e *Endpoint) protect(p *peer, kind byte, body []byte) error {
	e.sending.Lock()
	if kind != msgEnd && p.write.next > lastSequence-farewells {
		e.sending.Unlock()
		e.exhausted(p)
		return transport.ErrNoPeer
	}
	defer e.sending.Unlock()
	e.plain = append(append(e.plain[:0], kind), body...)
	out, err := p.write.appendRecord(e.out[:0], typeData, e.plain)
	if err != nil {
		return err
	}
	e.out = out
	return e.below.Send(p.below, out)
}

// exhausted ends a connection that has used up its sequence numbers: another record would reuse a nonce under the
// same keys. A new connection gets new keys.
func (e *Endpoint) exhausted(p *peer) {
	const reason = "the connection's sequence numbers are used up: connect again"
	e.mu.Lock()
	if e.closed || p.state != open && p.state != greeting {
		e.mu.Unlock()
		return
	}
	e.counters.Exhausted++
	e.reportEnd(p, transport.Gone, reason)
	e.dropPeer(p, transport.Gone, reason)
	e.mu.Unlock()
	e.farewell(p)
}

// Flush implements transport.Endpoint.
func (e *Endpoint) Flush() { e.below.Flush() }

// Disconnect implements transport.Endpoint. It notifies the peer three times within 300 ms.
func (e *Endpoint) Disconnect(id transport.PeerID, c transport.Code, reason string) {
	e.mu.Lock()
	p, ok := e.peers.Get(id)
	if !ok || p.state != open {
		e.mu.Unlock()
		return
	}
	e.in.Drop(p.q)
	e.dropPeer(p, c, reason)
	e.mu.Unlock()
	e.farewell(p)
}

// dropPeer marks a peer as dropped. Call farewell next, without the lock, to notify it.
func (e *Endpoint) dropPeer(p *peer, c transport.Code, reason string) {
	e.forgetPeer(p)
	now := e.clock.Load()
	p.state, p.code, p.reason = leaving, c, transport.CutReason(reason)
	p.again = [2]uint32{now + 2, now + 6}
	p.releaseLibrary()
}

func (e *Endpoint) farewell(p *peer) {
	b := appendEnd(make([]byte, 0, maxEnd), p.code, p.reason)
	_ = e.protect(p, b[0], b[1:])
}

// forgetPeer removes a peer from every table except links.
func (e *Endpoint) forgetPeer(p *peer) {
	if p.id != 0 {
		e.peers.Remove(p.id)
	}
	e.named.Remove(p.identity, p)
	e.silent.Remove(p)
	e.unshake(p)
}

// reportEnd reports to the caller of Recv that a peer is gone, if the caller knew the peer.
func (e *Endpoint) reportEnd(p *peer, c transport.Code, reason string) {
	if p.id != 0 && !e.closed && (p.state == open || e.dial != nil && p.state < leaving) {
		e.in.End(p.q, c, transport.CutReason(reason))
	}
}

// cut drops a peer at once, and disconnects it from the endpoint below.
func (e *Endpoint) cut(p *peer, c transport.Code, reason string) {
	if p.state == over {
		return
	}
	e.forgetPeer(p)
	p.state = over
	p.releaseLibrary()
	if p.cancel != nil {
		p.cancel()
	}
	delete(e.links, p.below)
	if p.below != 0 {
		e.below.Disconnect(p.below, c, reason)
	}
}

// Info implements transport.Endpoint.
func (e *Endpoint) Info(id transport.PeerID, out *transport.Info) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, ok := e.peers.Get(id)
	if !ok || p.state != open {
		return false
	}
	var below transport.Info
	if e.below.Info(p.below, &below) {
		p.name, p.stats.Migrations = below.Addr, below.Stats.Migrations
	}
	*out = transport.Info{Addr: p.name, Identity: p.identity, MTU: p.mtu, Secure: true, Stats: p.stats}
	return true
}

// Close implements transport.Endpoint. It takes a tenth of a second when there are peers to notify. The accept hook
// must not call it.
func (e *Endpoint) Close(c transport.Code, reason string) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return transport.ErrClosed
	}
	e.closed = true
	var told []*peer
	for _, p := range e.links {
		switch p.state {
		case open:
			e.dropPeer(p, c, reason)
			told = append(told, p)
		case leaving:
			told = append(told, p)
		case greeting: // a message saves the server a timeout
			e.dropPeer(p, c, reason)
			told = append(told, p)
		default:
			p.releaseLibrary()
			if p.cancel != nil {
				p.cancel()
			}
		}
	}
	e.mu.Unlock()
	for i := range 3 {
		if len(told) == 0 {
			break
		}
		if i > 0 {
			time.Sleep(tickTime)
		}
		for _, p := range told {
			e.farewell(p)
		}
	}
	close(e.done)
	e.below.Close(c, reason)
	e.running.Wait()
	return nil
}
