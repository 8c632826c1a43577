package ws

import (
	"context"
	"errors"
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
)

// Endpoint is a server's or a client's end of WebSocket connections. It implements transport.Endpoint. Any goroutine
// may call its methods, but only one at a time may call Recv. NewServer and Dial create it.
type Endpoint struct {
	cfg      Config
	in       *inbox.Inbox  // guarded by mu, except Ready
	clock    atomic.Uint32 // counts ticks of tickTime while the process runs
	batch    atomic.Uint64 // counts calls of Flush
	together time.Duration // the constant together; tests change it
	done     chan struct{}
	running  sync.WaitGroup
	asking   chan struct{} // has room for one value, which is in it during a call of the accept hook
	accept   hook.Accept

	mu       sync.Mutex
	peers    slot.Table[*peer]
	conns    map[*peer]struct{} // all connections, including pending and leaving ones
	pending  crowd.Crowd[*peer] // a server's connections before their hello is accepted
	named    roster.Roster[*peer]
	counters Counters
	refusals refused.Tally
	closed   bool

	dial   *peer // a client's only peer; nil on a server
	cancel context.CancelFunc
}

const (
	tickTime  = 50 * time.Millisecond
	closeTime = 500 * time.Millisecond // time for the other end to reply to a close frame
	askEvery  = 4                      // ticks: 200 ms
)

var _ transport.Counted = (*Endpoint)(nil)

func (e *Endpoint) init(cfg Config) {
	e.cfg, e.in, e.done = cfg, inbox.New(bufferSize, cfg.ReceiveQueue), make(chan struct{})
	e.accept, e.together = hook.Accept{Fn: cfg.Accept, Log: cfg.Logger}, together
	e.conns, e.asking = make(map[*peer]struct{}), make(chan struct{}, 1)
	e.clock.Store(1)
}

// ticks returns d in ticks, rounded up, at least one.
func ticks(d time.Duration) uint32 { return uint32(max(1, (d+tickTime-1)/tickTime)) }

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

// Send implements transport.Endpoint. It drops the datagrams to the peer that have waited since before
// the last Flush, because the connection has not taken them and this one is newer. They count in
// Stats.Replaced. When the queue is full, it also drops the oldest ones, which count in Stats.SendDropped.
// Send never returns ErrBacklog.
func (e *Endpoint) Send(id transport.PeerID, b []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, ok := e.peers.Get(id)
	if !ok || p.state != open {
		if e.closed {
			return transport.ErrClosed
		}
		return transport.ErrNoPeer
	}
	if len(b) > MTU {
		return &transport.TooBigError{Size: len(b), Limit: MTU}
	}
	replaced, dropped := p.out.pushDatagram(b, e.batchOf(p), e.cfg.SendQueue)
	p.signalWake()
	p.stats.Replaced += uint64(replaced)
	p.stats.SendDropped += uint64(dropped)
	e.counters.Replaced += uint64(replaced)
	e.counters.Backlog += uint64(dropped)
	return nil
}

// together is the time within which datagrams to one peer belong to one batch, whoever calls Flush: an
// endpoint may serve several matches, each with its own ticks. No tick is as short.
const together = 2 * time.Millisecond

// batchOf returns the batch of a datagram that is sent to a peer now. Only the first one after a Flush may begin a
// batch: those after it belong to the same.
func (e *Endpoint) batchOf(p *peer) uint64 {
	if flushed := e.batch.Load(); flushed != p.flushed {
		p.flushed = flushed
		if now := time.Now(); now.Sub(p.began) >= e.together {
			p.batch, p.began = flushed, now
		}
	}
	return p.batch
}

// Flush implements transport.Endpoint. Datagrams leave as soon as the connection takes them, even before Flush. Those
// that the connection has not taken by the next Send to the same peer are replaced by the datagrams sent from then on.
func (e *Endpoint) Flush() { e.batch.Add(1) }

// Disconnect implements transport.Endpoint. Data waiting to be sent to the peer is discarded.
func (e *Endpoint) Disconnect(id transport.PeerID, c transport.Code, reason string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p, ok := e.peers.Get(id); ok && p.state == open {
		e.forgetPeer(p)
		e.in.Drop(p.q)
		e.sendFarewell(p, c, reason)
	}
}

// lastQueued is the most queued bytes that are still sent to a peer before its farewell. A peer with
// more does not read.
const lastQueued = 16 << 10

// sendFarewell makes the writer send an end message to a peer, after the datagrams that wait for it.
func (e *Endpoint) sendFarewell(p *peer, c transport.Code, reason string) {
	e.leavePending(p)
	p.state, p.code, p.reason = leaving, c, transport.CutReason(reason)
	p.until = e.clock.Load() + ticks(closeTime)
	if p.out.n > lastQueued {
		p.out = queue{}
	}
	p.signalWake()
}

// reportEnd reports to the caller of Recv that a peer is gone, if the caller knew the peer.
func (e *Endpoint) reportEnd(p *peer, c transport.Code, reason string) {
	if p.id == 0 || e.closed {
		return
	}
	e.forgetPeer(p)
	e.in.End(p.q, c, transport.CutReason(reason))
}

// forgetPeer removes a peer from every table except the connections.
func (e *Endpoint) forgetPeer(p *peer) {
	e.peers.Remove(p.id)
	e.named.Remove(p.identity, p)
}

// Info implements transport.Endpoint.
func (e *Endpoint) Info(id transport.PeerID, out *transport.Info) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, ok := e.peers.Get(id)
	if !ok || p.state != open {
		return false
	}
	*out = transport.Info{Addr: p.name, Identity: p.identity, MTU: MTU, Secure: p.secure, Ordered: true, Stats: p.stats}
	return true
}

// Close implements transport.Endpoint. It waits at most half a second for the peers to reply. The accept hook must
// not call it.
func (e *Endpoint) Close(c transport.Code, reason string) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return transport.ErrClosed
	}
	e.closed = true
	for p := range e.conns {
		switch p.state {
		case open:
			e.forgetPeer(p)
			e.sendFarewell(p, c, reason)
		case greeting:
			e.cut(p)
		}
	}
	e.mu.Unlock()
	if e.cancel != nil {
		e.cancel()
	}
	t := time.AfterFunc(closeTime, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		for p := range e.conns {
			e.cut(p)
		}
	})
	close(e.done)
	e.running.Wait()
	t.Stop()
	return nil
}

// cut ends a connection at once. Its reader then finishes it.
func (e *Endpoint) cut(p *peer) {
	if p.state == greeting {
		e.leavePending(p)
		p.state = over
		close(p.gone)
	}
	p.aborted = true
	if p.sock != nil {
		p.sock.abort()
	}
	p.signalWake()
}

// servePeer serves a connection until its end: it reads, while another goroutine writes.
func (e *Endpoint) servePeer(p *peer) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		e.writeWaiting(p)
	}()
	e.mu.Lock()
	buf := e.in.Buffer()
	e.mu.Unlock()
	for {
		n, err := p.sock.readBytes(buf)
		if err != nil {
			e.hangUp(p, err)
			break
		}
		buf = e.takeMessage(p, buf, n)
	}
	p.sock.abort()
	<-written
	p.sock.freeSocket()
	e.mu.Lock()
	delete(e.conns, p)
	e.in.Release(buf)
	e.mu.Unlock()
}

// hangUp records that a connection has ended.
func (e *Endpoint) hangUp(p *peer, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p.state == greeting && e.dial == nil {
		e.counters.Unsaid++
		e.leavePending(p)
	}
	if p.state == greeting {
		close(p.gone)
	}
	if p.state == greeting || p.state == open {
		var gone *transport.DisconnectError
		if !errors.As(err, &gone) {
			gone = &transport.DisconnectError{Code: transport.Unreachable, Reason: err.Error()}
		}
		e.reportEnd(p, gone.Code, gone.Reason)
	}
	p.state = over
	p.signalWake()
}

// writeWaiting sends waiting messages until the connection is over.
func (e *Endpoint) writeWaiting(p *peer) {
	var buf [bufferSize]byte
	for {
		e.mu.Lock()
		b := e.nextMessage(p, buf[:0])
		state, code, reason := p.state, p.code, p.reason
		p.writing = 0
		if len(b) > 0 {
			p.writing = e.clock.Load()
			p.sent = p.writing
		}
		e.mu.Unlock()
		switch {
		case state == over:
			return
		case len(b) == 0:
			<-p.wake
			continue
		}
		if p.sock.writeMessage(b) != nil {
			p.sock.abort() // the reader reports why
			return
		}
		if state == leaving && b[0] == typeEnd {
			p.sock.closeSocket(status(code), closeReason(reason))
			p.sock.abort()
			return
		}
	}
}

// nextMessage appends the next message for a peer to b, if there is one.
func (e *Endpoint) nextMessage(p *peer, b []byte) []byte {
	switch {
	case p.state == leaving:
		if d, ok := p.out.pop(append(b, typeData)); ok {
			return d
		}
		return appendEnd(b, p.code, p.reason)
	case p.state != open && p.state != greeting:
		return b
	case p.greet:
		p.greet = false
		if e.dial != nil {
			return append(append(b, typeHello), e.cfg.Token...)
		}
		return append(b, typeAccept)
	case p.state != open:
		return b
	case p.alive:
		var value byte
		if p.ask {
			value = ask
		}
		p.alive, p.ask = false, false
		return append(b, typeAlive, value)
	}
	if d, ok := p.out.pop(append(b, typeData)); ok {
		p.stats.Sent++
		p.stats.SentBytes += uint64(len(d) - header)
		return d
	}
	return b
}
