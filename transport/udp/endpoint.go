package udp

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/hook"
	"github.com/foretick/foretick/transport/internal/inbox"
	"github.com/foretick/foretick/transport/internal/refused"
	"github.com/foretick/foretick/transport/internal/roster"
	"github.com/foretick/foretick/transport/internal/slot"
)

// Endpoint is a server's or a client's socket. It implements transport.Endpoint. Any goroutine may call its
// methods, but only one at a time may call Recv. Listen and Dial create it.
type Endpoint struct {
	cfg     Config
	in      *inbox.Inbox // guarded by mu, except Ready
	out     sender
	reads   atomic.Uint64 // system calls that read the socket
	clock   atomic.Uint32 // counts ticks of tickTime while the process runs
	done    chan struct{}
	quiet   chan struct{} // signalled when a closing endpoint has notified all peers
	running sync.WaitGroup
	tells   bool        // the system reports which of its addresses a datagram was sent to
	failed  atomic.Bool // a send has failed since mind last looked

	mu       sync.Mutex
	conn     *net.UDPConn
	peers    slot.Table[*peer]
	byConn   map[uint64]*peer     // a server's peers by connection id
	byNonce  map[uint64]*peer     // a server's peers by nonce
	named    roster.Roster[*peer] // a server's peers by identity
	graves   *graves              // a server's ended connections
	leaving  []leaver             // dropped peers that are still notified
	post     []letter             // datagrams to send once mu is released
	counters Counters
	refusals refused.Tally
	closed   bool

	dial *dial // a client's state; nil on a server
	// Only the reading goroutine uses mint and the fields below.
	mint   *mint
	limits *limits
	accept hook.Accept
	note   [endSize + transport.MaxReason]byte // buffer for a reply
}

const (
	tickTime     = 50 * time.Millisecond
	ticksASecond = int(time.Second / tickTime)
	bufferSize   = 1280 // more than MaxDatagram, to detect larger datagrams
	replyLimit   = 500  // per tick: 10 000/s
	askEvery     = 4    // ticks: 200 ms
)

var (
	_ transport.Counted = (*Endpoint)(nil)

	errRefused = errors.New("udp: connection refused")
)

func newEndpoint(cfg Config) *Endpoint {
	e := &Endpoint{cfg: cfg, in: inbox.New(bufferSize, cfg.ReceiveQueue), done: make(chan struct{}),
		quiet: make(chan struct{}, 1)}
	e.clock.Store(1)
	return e
}

// attach makes c the endpoint's socket. When the endpoint is closed, it closes c and returns false.
func (e *Endpoint) attach(c *net.UDPConn, connected bool) (bool, error) {
	if e.cfg.SocketBuffer > 0 { // the system may grant less
		c.SetReadBuffer(e.cfg.SocketBuffer) // as far as the system permits
	}
	if e.cfg.SendQueue > 0 {
		c.SetWriteBuffer(e.cfg.SendQueue)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false, c.Close()
	}
	e.conn = c
	e.out.mu.Lock()
	defer e.out.mu.Unlock()
	tells := canAnswer && !connected && wild(c.LocalAddr().(*net.UDPAddr).AddrPort().Addr())
	if tells { // a client's other socket may be read at the same time
		e.tells = true
	}
	return true, e.out.attach(c, connected, tells)
}

// LocalAddr returns the address of the socket; the zero AddrPort while a dial is still resolving a name.
func (e *Endpoint) LocalAddr() netip.AddrPort {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.conn == nil {
		return netip.AddrPort{}
	}
	return plain(e.conn.LocalAddr().(*net.UDPAddr).AddrPort())
}

// plain converts an IPv4-mapped IPv6 address to IPv4.
func plain(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// ticks returns d in ticks, rounded up, at least one.
func ticks(d time.Duration) uint32 { return uint32(max(1, (d+tickTime-1)/tickTime)) }

// seconds returns the clock in seconds, which cookies use.
func (e *Endpoint) seconds() uint32 { return e.clock.Load() / uint32(time.Second/tickTime) }

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

// Send implements transport.Endpoint. If the system refuses to send for a reason other than a full buffer, the
// datagram counts as lost in transit (Counters.SendErrors).
func (e *Endpoint) Send(id transport.PeerID, b []byte) error {
	e.mu.Lock()
	p, ok := e.peers.Get(id)
	if !ok || p.conn == 0 {
		closed := e.closed
		e.mu.Unlock()
		if closed {
			return transport.ErrClosed
		}
		return transport.ErrNoPeer
	}
	if len(b) > MTU {
		e.mu.Unlock()
		return &transport.TooBigError{Size: len(b), Limit: MTU}
	}
	p.sent = e.clock.Load()
	p.stats.Sent++
	p.stats.SentBytes += uint64(len(b))
	to, conn, nonce := p.addr, p.conn, p.nonce
	try := p.trial.addr
	if size := downHeader + len(b); try.IsValid() && p.trial.left >= size {
		p.trial.left -= size
		e.counters.Tried++
	} else {
		try = route{}
	}
	e.mu.Unlock()
	var err error
	if e.dial != nil {
		err = e.out.up(conn, b, to)
	} else {
		err = e.out.down(nonce, b, to)
	}
	if try.IsValid() {
		_ = e.out.down(nonce, b, try) // this second copy may be lost
	}
	if err != nil {
		return e.notSent(id, len(b), err)
	}
	return nil
}

func (e *Endpoint) notSent(id transport.PeerID, size int, err error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, ok := e.peers.Get(id)
	switch {
	case err == transport.ErrBacklog:
		e.counters.Backlog++
		if ok {
			p.stats.SendDropped++
			p.stats.Sent--
			p.stats.SentBytes -= uint64(size)
		}
		return err
	case errors.Is(err, net.ErrClosed):
		return transport.ErrClosed
	case err == errRefused: // the error is about an earlier datagram; this one was sent
		if ok {
			p.refused = e.clock.Load()
		}
		return nil
	}
	e.counters.SendErrors++
	e.failed.Store(true)
	return nil
}

// Flush implements transport.Endpoint. Without Config.Batch it does nothing, since datagrams leave at once.
func (e *Endpoint) Flush() { e.out.flushHeld() }

// forgetPeer removes a peer that is gone.
func (e *Endpoint) forgetPeer(p *peer, c transport.Code, reason string) {
	e.peers.Remove(p.id)
	if e.dial == nil {
		delete(e.byConn, p.conn)
		delete(e.byNonce, p.nonce)
		e.named.Remove(p.identity, p)
		e.graves.bury(p, c, reason)
	}
}

// believed reports whether to accept at once a message that a connection has ended. Config.Sealed makes
// it wait for silence: then it stores the message instead.
func (e *Endpoint) believed(p *peer, c transport.Code, reason string) bool {
	now := e.clock.Load()
	if !e.cfg.Sealed || now-p.heard >= deadAfter {
		return true
	}
	e.counters.Unbelieved++
	if c == transport.Gone {
		c, reason = p.reason(c, reason)
	}
	p.rumour = rumour{now, c, reason}
	return false
}

// reason returns why a peer is gone. That is the reason in the peer's last message if nothing was
// received after it, else the given reason.
func (p *peer) reason(c transport.Code, reason string) (transport.Code, string) {
	if r := p.rumour; r.at != 0 && r.at >= p.heard {
		return r.code, r.reason
	}
	return c, reason
}

// confirmed reports whether a peer fell silent after a message that its connection has ended. Datagrams
// that were in transit do not count.
func (p *peer) confirmed(now uint32) bool {
	return p.rumour.at != 0 && p.heard <= p.rumour.at+askEvery && now-p.heard >= deadAfter
}

// endPeer removes a peer, and reports to the caller of Recv that it is gone.
func (e *Endpoint) endPeer(p *peer, c transport.Code, reason string) {
	e.forgetPeer(p, c, reason)
	e.in.End(p.q, c, reason)
}

// Info implements transport.Endpoint.
func (e *Endpoint) Info(id transport.PeerID, out *transport.Info) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, ok := e.peers.Get(id)
	if !ok || p.conn == 0 {
		return false
	}
	*out = transport.Info{Addr: p.name, Identity: p.identity, MTU: MTU, Stats: p.stats}
	return true
}

// readSocket reads the socket until it is closed. take handles a datagram and returns a buffer for the next one.
func (e *Endpoint) readSocket(c *net.UDPConn, take func(buf []byte, n int, from route) []byte) {
	e.mu.Lock()
	buf := e.in.Buffer()
	e.mu.Unlock()
	told := control{}
	for failed := 0; ; {
		var from route
		var n, said int
		var err error
		if e.tells {
			n, said, _, from.AddrPort, err = c.ReadMsgUDPAddrPort(buf, told.memory())
			from.local = told.local(said)
		} else {
			n, from.AddrPort, err = c.ReadFromUDPAddrPort(buf)
		}
		e.reads.Add(1)
		if err == nil {
			failed = 0
			from.AddrPort = plain(from.AddrPort)
			buf = take(buf, n, from)
			continue
		}
		if isRefused(err) {
			e.refused(c)
		}
		if failed++; e.failedRead(err, failed) {
			return
		}
	}
}

// failedRead counts an error of a read, the failed-th in a row. It reports whether the reader must end.
func (e *Endpoint) failedRead(err error, failed int) (end bool) {
	if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	e.mu.Lock()
	e.counters.ReadErrors++
	e.mu.Unlock()
	if failed > 16 { // a persistent error must not use up a processor
		select {
		case <-e.done:
			return true
		case <-time.After(tickTime):
		}
	}
	return false
}

// countInvalid counts an invalid datagram.
func (e *Endpoint) countInvalid(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch err {
	case errChecksum:
		e.counters.Checksum++
	case errMalformed:
		e.counters.Malformed++
	default:
		e.counters.Foreign++
	}
}
