package impair

import (
	"reflect"
	"sync"
	"time"

	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/inbox"
	"github.com/foretick/foretick/transport/sim"
)

// Endpoint wraps another endpoint in a bad network, and keeps its PeerIDs. Wrap creates it. Any goroutine may call
// its methods, but only one at a time may call Recv.
type Endpoint struct {
	inner   transport.Endpoint
	running sync.WaitGroup

	mu       sync.Mutex
	seed     uint64
	links    uint64
	up, down sim.Link
	in       *inbox.Inbox
	flows    map[transport.PeerID]*flow
	line     line[parcel]
	dark     time.Duration // everything is lost until this time
	events   [32]transport.Event
	closed   bool
}

var _ transport.Wrapper = (*Endpoint)(nil)

// flow is the traffic between the endpoint and one peer.
type flow struct {
	id       transport.PeerID
	q        *inbox.Queue
	up, down *sim.Path
	mtu      int
	newest   time.Duration // time at which the last received datagram is due
	overrun  uint64        // datagrams dropped from a full queue
	over     bool          // the peer is gone
}

// parcel is a datagram or event in transit.
type parcel struct {
	f      *flow
	way    way
	buf    []byte
	n      int
	code   transport.Code
	reason string
}

type way uint8

const (
	outward way = iota
	inward
	leaving
)

const (
	bufferSize = 1280
	queued     = 160 // datagrams per peer that wait for Recv
)

// Wrap puts a bad network around ep. The link up applies to datagrams that ep sends, down to those that it receives;
// each peer has its own generator derived from the seed. Wrap takes ep over: nobody else may call its Recv or Close,
// and Close closes it. ep must allow calls from any goroutine, as all endpoints except package sim's do. It panics
// with a foretick.UsageError when ep is nil.
func Wrap(ep transport.Endpoint, up, down sim.Link, seed uint64) *Endpoint {
	if v := reflect.ValueOf(ep); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		misuse.Panicf("impair: Wrap got a nil endpoint: check the error of Listen or Dial first")
	}
	e := &Endpoint{inner: ep, seed: seed, up: up, down: down, in: inbox.New(bufferSize, queued),
		flows: make(map[transport.PeerID]*flow), line: newLine[parcel]()}
	e.running.Add(1)
	go func() {
		defer e.running.Done()
		for ok := true; ok; ok = e.line.waitForDue(ep.Ready()) {
			e.mu.Lock()
			e.pump()
			e.line.arm()
			e.mu.Unlock()
		}
	}()
	return e
}

// Unwrap implements transport.Wrapper.
func (e *Endpoint) Unwrap() transport.Endpoint { return e.inner }

// SetLinks changes the links for future datagrams of current and later peers.
func (e *Endpoint) SetLinks(up, down sim.Link) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.up, e.down = up, down
	for _, f := range e.flows {
		f.up.SetLink(up)
		f.down.SetLink(down)
	}
}

// Blackhole drops everything in both directions for the time d from now, for current and later peers.
func (e *Endpoint) Blackhole(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.line.now()
	e.dark = now + d
	for _, f := range e.flows {
		f.up.Blackhole(now, e.dark)
		f.down.Blackhole(now, e.dark)
	}
}

// Stats returns the path statistics of the peer's datagrams; ok is false when there is no such peer.
func (e *Endpoint) Stats(p transport.PeerID) (up, down sim.PathStats, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.flows[p]
	if f == nil {
		return up, down, false
	}
	return f.up.Stats(), f.down.Stats(), true
}

// pump takes the events of the inner endpoint, and delivers the parcels that are due.
func (e *Endpoint) pump() {
	if e.closed {
		return
	}
	now := e.line.now()
	for k := len(e.events); k == len(e.events); {
		k = e.inner.Recv(e.events[:])
		for i := range e.events[:k] {
			e.came(now, &e.events[i])
		}
	}
	for {
		p, ok := e.line.nextDue(now)
		if !ok {
			return
		}
		e.arrive(&p)
	}
}

// came handles an event of the inner endpoint.
func (e *Endpoint) came(now time.Duration, ev *transport.Event) {
	f := e.flows[ev.Peer]
	if f == nil {
		f = &flow{id: ev.Peer, up: sim.NewPath(e.up, e.seed, 2*e.links), down: sim.NewPath(e.down, e.seed, 2*e.links+1)}
		f.up.Blackhole(0, e.dark)
		f.down.Blackhole(0, e.dark)
		e.links++
		f.q = e.in.Add(f.id, false)
		e.flows[ev.Peer] = f
	}
	switch ev.Kind {
	case transport.Connected:
		var info transport.Info
		e.inner.Info(f.id, &info)
		f.mtu = info.MTU
		e.in.Connect(f.q)
	case transport.Data:
		e.pass(now, f, f.down, inward, ev.Data)
	case transport.Disconnected:
		// The end comes last, and is never lost: the inner endpoint has ensured that.
		f.mtu = -1
		p := parcel{f: f, way: leaving, code: ev.Code, reason: ev.Reason}
		if at := max(f.newest, now+e.down.Latency); at <= now || !e.line.addItem(at, p) {
			e.arrive(&p)
		}
	}
}

// pass puts b in transit; a datagram that is due at once arrives at once.
func (e *Endpoint) pass(now time.Duration, f *flow, path *sim.Path, w way, b []byte) (err error) {
	fate := path.Send(now, len(b))
	for i := range fate.Copies {
		p := parcel{f: f, way: w, buf: e.buffer(len(b)), n: len(b)}
		copy(p.buf, b)
		fate.Damage(i, p.buf[:p.n])
		if w == inward {
			f.newest = max(f.newest, fate.At[i])
		}
		if fate.At[i] <= now {
			err = e.arrive(&p)
		} else if !e.line.addItem(fate.At[i], p) {
			e.in.Release(p.buf)
		}
	}
	return err
}

func (e *Endpoint) buffer(n int) []byte {
	if n > bufferSize {
		return make([]byte, n)
	}
	return e.in.Buffer()
}

// arrive delivers a parcel.
func (e *Endpoint) arrive(p *parcel) (err error) {
	switch {
	case p.f.over:
		if p.buf != nil {
			e.in.Release(p.buf)
		}
	case p.way == outward:
		err = e.inner.Send(p.f.id, p.buf[:p.n])
		e.in.Release(p.buf)
	case p.way == inward:
		if e.in.Push(p.f.q, p.buf, p.buf[:p.n]) {
			p.f.overrun++
		}
	case p.way == leaving:
		p.f.over = true
		delete(e.flows, p.f.id)
		e.in.End(p.f.q, p.code, p.reason)
	}
	return err
}

// Recv implements transport.Endpoint.
func (e *Endpoint) Recv(ev []transport.Event) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return 0
	}
	e.pump()
	return e.in.Recv(ev)
}

// Ready implements transport.Endpoint. It signals when a delayed datagram is due.
func (e *Endpoint) Ready() <-chan struct{} { return e.in.Ready() }

// Send implements transport.Endpoint. It returns the inner endpoint's ErrBacklog only when the link has no delay.
func (e *Endpoint) Send(p transport.PeerID, b []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return transport.ErrClosed
	}
	f := e.flows[p]
	if f == nil || f.mtu <= 0 {
		return transport.ErrNoPeer
	}
	if len(b) > f.mtu {
		return &transport.TooBigError{Size: len(b), Limit: f.mtu}
	}
	return e.pass(e.line.now(), f, f.up, outward, b)
}

// Flush implements transport.Endpoint.
func (e *Endpoint) Flush() { e.inner.Flush() }

// Disconnect implements transport.Endpoint. Datagrams in transit to and from the peer are lost.
func (e *Endpoint) Disconnect(p transport.PeerID, c transport.Code, reason string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.flows[p]
	if f == nil || f.mtu <= 0 {
		return
	}
	f.over = true
	delete(e.flows, p)
	e.in.Drop(f.q)
	e.inner.Disconnect(p, c, reason)
}

// Info implements transport.Endpoint: the inner endpoint's data, plus the datagrams dropped here.
func (e *Endpoint) Info(p transport.PeerID, out *transport.Info) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.flows[p]
	if f == nil || f.mtu <= 0 || !e.inner.Info(p, out) {
		return false
	}
	out.Stats.ReceiveDropped += f.overrun
	return true
}

// Close implements transport.Endpoint: datagrams in transit are lost, and the inner endpoint is closed.
func (e *Endpoint) Close(c transport.Code, reason string) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return transport.ErrClosed
	}
	e.closed = true
	e.mu.Unlock()
	close(e.line.done)
	e.running.Wait()
	return e.inner.Close(c, reason)
}
