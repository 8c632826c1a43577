package multi

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/slot"
)

// Part is an endpoint to join, with its name.
type Part struct {
	// Name is the part's name in Name and Counters. Empty means the package of the endpoint's type,
	// such as "udp", with a number if several parts would have the same name.
	Name string
	// Endpoint is a server's endpoint. Required.
	Endpoint transport.Endpoint
}

// Endpoint is several endpoints as one. New and NewNamed create it. Any goroutine may call its methods if the parts
// allow it, but only one at a time may call Recv.
type Endpoint struct {
	parts   []*part
	ready   chan struct{}
	done    chan struct{}
	running sync.WaitGroup
	turn    []*part // parts in the order in which Recv calls them

	mu     sync.Mutex
	peers  slot.Table[peer]
	closed bool
}

// part is a joined endpoint. ids and counters are guarded by the Endpoint's lock.
type part struct {
	transport.Endpoint
	brought int               // number of events of the newest Recv
	bans    transport.BanList // nil if the part supports no bans
	counts  transport.Counted // nil if the part has no counters
	most    int               // most peers that the part accepts; 0: not known
	// ids has the PeerIDs of the joined endpoint by those of the part.
	ids      map[transport.PeerID]transport.PeerID
	counters Counters
}

// peer is where a peer of the joined endpoint is connected.
type peer struct {
	part *part
	id   transport.PeerID
}

var (
	_ transport.BanList = (*Endpoint)(nil)
	_ transport.Limited = (*Endpoint)(nil)
	_ transport.Counted = (*Endpoint)(nil)
)

// New joins the endpoints of servers, and takes them over: nobody else may call their Recv or Close. Close closes
// them. The parts have the names of their packages. New fails when an endpoint is nil or given twice, or when there
// is none; the endpoints then stay the caller's.
func New(endpoints ...transport.Endpoint) (*Endpoint, error) {
	parts := make([]Part, len(endpoints))
	for i, e := range endpoints {
		parts[i].Endpoint = e
	}
	return NewNamed(parts...)
}

// NewNamed is New for parts with chosen names. It also fails when two parts have the same name.
func NewNamed(parts ...Part) (*Endpoint, error) {
	if len(parts) == 0 {
		return nil, errors.New("multi: nothing to join: pass at least one listening endpoint")
	}
	e := &Endpoint{ready: make(chan struct{}, 1), done: make(chan struct{})}
	names, seen := map[string]bool{}, map[transport.Endpoint]bool{}
	var errs []error
	for i, p := range parts {
		v := reflect.ValueOf(p.Endpoint)
		switch {
		case !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil():
			errs = append(errs, fmt.Errorf("multi: endpoint %d is nil: check the error of Listen first", i))
			continue
		case v.Comparable() && seen[p.Endpoint]:
			errs = append(errs, fmt.Errorf("multi: endpoint %d is given twice: its events would go to one of the two", i))
			continue
		case p.Name != "" && names[p.Name]:
			errs = append(errs, fmt.Errorf("multi: two parts are named %q: give each its own name", p.Name))
			continue
		}
		if v.Comparable() {
			seen[p.Endpoint] = true
		}
		name := p.Name
		for n := 1; name == "" || p.Name == "" && names[name]; n++ {
			name = packageName(p.Endpoint)
			if n > 1 {
				name = fmt.Sprint(name, n)
			}
		}
		names[name] = true
		e.parts = append(e.parts, newPart(name, p.Endpoint))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	e.turn = slices.Clone(e.parts)
	for _, p := range e.parts {
		e.running.Add(1)
		go e.forward(p.Ready())
	}
	return e, nil
}

func newPart(name string, inner transport.Endpoint) *part {
	p := &part{Endpoint: inner, ids: make(map[transport.PeerID]transport.PeerID)}
	p.bans, _ = transport.As[transport.BanList](inner)
	p.counts, _ = transport.As[transport.Counted](inner)
	if l, ok := transport.As[transport.Limited](inner); ok {
		p.most = max(l.MaxPeers(), 0)
	}
	p.counters = Counters{Name: name, MaxPeers: p.most}
	return p
}

// packageName returns the last element of the import path of an endpoint's type.
func packageName(e transport.Endpoint) string {
	t := reflect.TypeOf(e)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.PkgPath() == "" {
		return "part"
	}
	return path.Base(t.PkgPath())
}

// forward passes on a part's ready signals until Close.
func (e *Endpoint) forward(ready <-chan struct{}) {
	defer e.running.Done()
	for {
		select {
		case <-e.done:
			return
		case <-ready:
			e.signalReady()
		}
	}
}

func (e *Endpoint) signalReady() {
	select {
	case e.ready <- struct{}{}:
	default:
	}
}

// Ready implements transport.Endpoint.
func (e *Endpoint) Ready() <-chan struct{} { return e.ready }

// Recv implements transport.Endpoint. Every part gets a fair share of ev. It calls busy parts last, so
// that they get what quiet parts leave.
func (e *Endpoint) Recv(ev []transport.Event) int {
	slices.SortStableFunc(e.turn, func(a, b *part) int { return cmp.Compare(a.brought, b.brought) })
	n, more := 0, false
	for i, p := range e.turn {
		left := len(e.turn) - i
		share := ev[n:]
		share = share[:(len(share)+left-1)/left]
		p.brought = p.Recv(share)
		kept := e.takeEvents(p, share[:p.brought])
		more = more || p.brought == len(share)
		n += kept
	}
	if n < len(ev) && more {
		e.signalReady() // a part may have more, and will not signal it again
	}
	return n
}

// takeEvents gives a part's events the PeerIDs of the joined endpoint. It removes the events of peers
// that Disconnect has dropped meanwhile, and returns how many are left.
func (e *Endpoint) takeEvents(p *part, ev []transport.Event) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return 0
	}
	for i := range ev {
		in := &ev[i]
		id, known := p.ids[in.Peer]
		switch in.Kind {
		case transport.Connected:
			if known {
				continue
			}
			id = e.peers.Add(peer{p, in.Peer})
			p.ids[in.Peer] = id
			p.counters.Connected++
			p.counters.Peers++
		case transport.Disconnected:
			if !known {
				if in.Peer != 0 {
					continue
				}
			} else {
				e.forgetPeer(p, in.Peer, id)
			}
		default:
			if !known {
				continue
			}
			p.counters.Received++
			p.counters.ReceivedBytes += uint64(len(in.Data))
		}
		in.Peer = id
		if n != i {
			ev[n] = *in
		}
		n++
	}
	return n
}

// forgetPeer removes a peer that is gone.
func (e *Endpoint) forgetPeer(p *part, inner, id transport.PeerID) {
	e.peers.Remove(id)
	delete(p.ids, inner)
	p.counters.Peers--
}

// findPeer returns the part and the part's PeerID of a peer.
func (e *Endpoint) findPeer(id transport.PeerID) (peer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return peer{}, transport.ErrClosed
	}
	p, ok := e.peers.Get(id)
	if !ok {
		return peer{}, transport.ErrNoPeer
	}
	return p, nil
}

// Send implements transport.Endpoint.
func (e *Endpoint) Send(id transport.PeerID, b []byte) error {
	to, err := e.findPeer(id)
	if err != nil {
		return err
	}
	err = to.part.Send(to.id, b)
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := &to.part.counters; err != nil {
		c.SendFailed++
	} else {
		c.Sent++
		c.SentBytes += uint64(len(b))
	}
	return err
}

// Flush implements transport.Endpoint.
func (e *Endpoint) Flush() {
	for _, p := range e.parts {
		p.Flush()
	}
}

// Disconnect implements transport.Endpoint.
func (e *Endpoint) Disconnect(id transport.PeerID, c transport.Code, reason string) {
	e.mu.Lock()
	p, ok := e.peers.Get(id)
	if ok && !e.closed {
		e.forgetPeer(p.part, p.id, id)
	}
	ok = ok && !e.closed
	e.mu.Unlock()
	if ok {
		p.part.Disconnect(p.id, c, reason)
	}
}

// Info implements transport.Endpoint.
func (e *Endpoint) Info(id transport.PeerID, out *transport.Info) bool {
	p, err := e.findPeer(id)
	return err == nil && p.part.Info(p.id, out)
}

// Close implements transport.Endpoint. It closes one part after another, since parts in virtual time share
// a network.
func (e *Endpoint) Close(c transport.Code, reason string) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return transport.ErrClosed
	}
	e.closed = true
	e.mu.Unlock()
	close(e.done)
	e.running.Wait()
	errs := make([]error, len(e.parts))
	for i, p := range e.parts {
		errs[i] = p.Close(c, reason)
	}
	return errors.Join(errs...)
}

// MaxPeers implements transport.Limited. It is the sum of the parts' limits, or 0 when one of them has none.
func (e *Endpoint) MaxPeers() int {
	sum := 0
	for _, p := range e.parts {
		if p.most == 0 {
			return 0
		}
		sum += p.most
	}
	return sum
}

// DisconnectIdentity implements transport.BanList, for all parts that support bans.
func (e *Endpoint) DisconnectIdentity(identity []byte, c transport.Code, reason string) (found bool) {
	for _, p := range e.parts {
		if p.bans != nil && p.bans.DisconnectIdentity(identity, c, reason) {
			found = true
		}
	}
	return found
}

// Ban implements transport.BanList, for all parts that support bans.
func (e *Endpoint) Ban(identity []byte, until time.Time, reason string) {
	for _, p := range e.parts {
		if p.bans != nil {
			p.bans.Ban(identity, until, reason)
		}
	}
}

// Unban implements transport.BanList.
func (e *Endpoint) Unban(identity []byte) {
	for _, p := range e.parts {
		if p.bans != nil {
			p.bans.Unban(identity)
		}
	}
}

// Name returns the name of the part that a peer uses, and false when there is no such peer.
func (e *Endpoint) Name(id transport.PeerID) (string, bool) {
	p, err := e.findPeer(id)
	if err != nil {
		return "", false
	}
	return p.part.counters.Name, true
}

// Part returns the joined endpoint of a name, for its own methods such as counters, and nil when there is none. Do not
// call its Recv or Close.
func (e *Endpoint) Part(name string) transport.Endpoint {
	for _, p := range e.parts {
		if p.counters.Name == name {
			return p.Endpoint
		}
	}
	return nil
}
