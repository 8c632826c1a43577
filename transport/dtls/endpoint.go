package dtls

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/crowd"
	"github.com/foretick/foretick/transport/internal/inbox"
	"github.com/foretick/foretick/transport/internal/roster"
	"github.com/foretick/foretick/transport/internal/slot"
	"github.com/foretick/foretick/transport/ticket"
)

// Endpoint protects the datagrams of another endpoint. It implements transport.Endpoint; its methods may be called from
// any goroutine, Recv from one at a time. Listen, Dial, WrapServer and WrapClient make one.
type Endpoint struct {
	cfg     Config
	below   transport.Endpoint
	in      *inbox.Inbox  // guarded by mu, but for Ready
	clock   atomic.Uint32 // ticks of tickTime, counted while the process runs
	done    chan struct{}
	kick    chan struct{} // capacity 1: there are keys for records that came early
	running sync.WaitGroup
	asking  sync.Mutex // held during a call of the accept hook

	mu        sync.Mutex
	peers     slot.Table[*peer]
	links     map[transport.PeerID]*peer // by the id below
	named     roster.Roster[*peer]       // a server's open ones
	silent    crowd.Crowd[*peer]         // a server's that have begun no handshake
	shakes    []*peer                    // a server's handshakes, oldest first
	unsettled []*peer                    // those for whom the library is still needed
	counters  Counters
	closed    bool
	dial      *peer          // a client's; nil: a server
	ticket    *ticket.Ticket // a client's
	buf       []byte         // the pumping goroutine's: the next datagram goes there
	sending   sync.Mutex     // guards the peers' writers and what follows; taken after mu
	out       []byte
	plain     []byte
	handshake time.Duration
}

const (
	tickTime      = 50 * time.Millisecond
	bufferSize    = 1280
	askEvery      = 4                // ticks: 200 ms
	handshakeTime = 10 * time.Second // five round trips of two seconds, had a client such a path
)

var _ transport.Endpoint = (*Endpoint)(nil)

func newEndpoint(below transport.Endpoint, cfg Config) *Endpoint {
	e := &Endpoint{cfg: cfg, below: below, in: inbox.New(bufferSize, cfg.ReceiveQueue), done: make(chan struct{}),
		kick: make(chan struct{}, 1), links: make(map[transport.PeerID]*peer), handshake: handshakeTime}
	e.buf = e.in.Buffer()
	e.clock.Store(1)
	return e
}

func (e *Endpoint) start() {
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

// ticks returns how many ticks make up d, at least one.
func ticks(d time.Duration) uint32 { return uint32(max(1, (d+tickTime-1)/tickTime)) }

// Below returns the endpoint that is wrapped: for Listen and Dial a *udp.Endpoint, whose LocalAddr and Counters may be
// of interest. It is this endpoint's to use.
func (e *Endpoint) Below() transport.Endpoint { return e.below }

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
	return nil // what else can be wrong is told as an event
}

// protect sends a message in a record of its own. It must be called without the lock.
func (e *Endpoint) protect(p *peer, kind byte, body []byte) error {
	e.sending.Lock()
	if kind != msgEnd && p.write.next > lastSequence-farewells {
		e.sending.Unlock()
		e.exhausted(p)
		return transport.ErrNoPeer
	}
	defer e.sending.Unlock()
	e.plain = append(append(e.plain[:0], kind), body...)
	out, err := p.write.record(e.out[:0], typeData, e.plain)
	if err != nil {
		return err
	}
	e.out = out
	return e.below.Send(p.below, out)
}

// exhausted ends a connection whose sequence numbers are used up: another record under its keys would give a nonce for the
// second time. A new connection has new keys.
func (e *Endpoint) exhausted(p *peer) {
	const detail = "the connection's sequence numbers are used up: connect again"
	e.mu.Lock()
	if e.closed || p.state != open && p.state != greeting {
		e.mu.Unlock()
		return
	}
	e.counters.Exhausted++
	e.end(p, transport.Gone, detail)
	e.leave(p, transport.Gone, detail)
	e.mu.Unlock()
	e.farewell(p)
}

// Flush implements transport.Endpoint.
func (e *Endpoint) Flush() { e.below.Flush() }

// Disconnect implements transport.Endpoint. The peer is told three times within 300 ms.
func (e *Endpoint) Disconnect(id transport.PeerID, c transport.Code, detail string) {
	e.mu.Lock()
	p, ok := e.peers.Get(id)
	if !ok || p.state != open {
		e.mu.Unlock()
		return
	}
	e.in.Drop(p.q)
	e.leave(p, c, detail)
	e.mu.Unlock()
	e.farewell(p)
}

// leave makes a peer one that is told that it is dropped. farewell must follow, without the lock.
func (e *Endpoint) leave(p *peer, c transport.Code, detail string) {
	e.forget(p)
	now := e.clock.Load()
	p.state, p.code, p.detail = leaving, c, transport.CutDetail(detail)
	p.again = [2]uint32{now + 2, now + 6}
	p.settle()
}

func (e *Endpoint) farewell(p *peer) {
	b := appendEnd(make([]byte, 0, maxEnd), p.code, p.detail)
	_ = e.protect(p, b[0], b[1:])
}

// forget removes a peer from all but the links.
func (e *Endpoint) forget(p *peer) {
	if p.id != 0 {
		e.peers.Remove(p.id)
	}
	e.named.Remove(p.identity, p)
	e.silent.Remove(p)
	e.unshake(p)
}

// end tells the caller that a peer is gone, if it ever heard of it.
func (e *Endpoint) end(p *peer, c transport.Code, detail string) {
	if p.id != 0 && !e.closed && (p.state == open || e.dial != nil && p.state < leaving) {
		e.in.End(p.q, c, transport.CutDetail(detail))
	}
}

// cut lets go of a peer at once; below, it is told so.
func (e *Endpoint) cut(p *peer, c transport.Code, detail string) {
	if p.state == over {
		return
	}
	e.forget(p)
	p.state = over
	p.settle()
	if p.cancel != nil {
		p.cancel()
	}
	delete(e.links, p.below)
	if p.below != 0 {
		e.below.Disconnect(p.below, c, detail)
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

// Close implements transport.Endpoint. It takes a tenth of a second when there are peers to be told. It must not be
// called by the accept hook.
func (e *Endpoint) Close(c transport.Code, detail string) error {
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
			e.leave(p, c, detail)
			told = append(told, p)
		case leaving:
			told = append(told, p)
		case greeting: // so that the server need not find out
			e.leave(p, c, detail)
			told = append(told, p)
		default:
			p.settle()
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
	e.below.Close(c, detail)
	e.running.Wait()
	return nil
}
