package transporttest

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
)

const step = 2 * time.Millisecond

// limit is a time that the suite's own tests shorten while calls that hung in
// one of them may still run.
type limit struct{ d atomic.Int64 }

func (l *limit) get() time.Duration       { return time.Duration(l.d.Load()) }
func (l *limit) setLimit(d time.Duration) { l.d.Store(int64(d)) }

func newLimit(d time.Duration) *limit {
	l := &limit{}
	l.setLimit(d)
	return l
}

var (
	// patience is how long to wait for something that must happen.
	patience = newLimit(10 * time.Second)
	// stuck is the longest time for a case.
	stuck = newLimit(time.Minute)
)

// suite is one subtest, with its endpoints and all their events.
type suite struct {
	testing.TB
	net  Net
	ends []*end
}

// end is an endpoint and a copy of all its events.
type end struct {
	s      *suite
	raw    transport.Endpoint // as Net created it
	ep     transport.Endpoint // the same, with its calls timed
	seen   []transport.Event
	phase  map[transport.PeerID]transport.EventKind
	client bool
	closed bool
}

func (s *suite) addEnd(ep transport.Endpoint, client bool) *end {
	e := &end{s: s, raw: ep, ep: &timed{ep, s}, client: client, phase: make(map[transport.PeerID]transport.EventKind)}
	s.ends = append(s.ends, e)
	return e
}

func (s *suite) server() *end       { return s.addEnd(s.net.Server(), false) }
func (s *suite) dial(srv *end) *end { return s.addEnd(s.net.Client(srv.raw), true) }
func (s *suite) closeAll() {
	for _, e := range s.ends {
		if !e.closed {
			e.ep.Close(transport.Closed, "the test is over")
		}
	}
	s.net.Release()
}

// link is a connection as both ends see it.
type link struct {
	srv, cli           *end
	toClient, toServer transport.PeerID
}

// connectTo dials and waits until both ends report the connection.
func (s *suite) connectTo(srv *end) *link {
	s.Helper()
	from := len(srv.seen)
	cli := s.dial(srv)
	l := &link{srv: srv, cli: cli}
	s.until("the client is connected", func() bool {
		l.toServer = cli.peerOf(0, transport.Connected)
		return l.toServer != 0
	})
	s.until("the server knows the client", func() bool {
		l.toClient = srv.peerOf(from, transport.Connected)
		return l.toClient != 0
	})
	return l
}

func (s *suite) pair() *link { s.Helper(); return s.connectTo(s.server()) }

// peerOf returns the peer of the first event of a kind, from index i on.
func (e *end) peerOf(i int, k transport.EventKind) transport.PeerID {
	for ; i < len(e.seen); i++ {
		if e.seen[i].Kind == k {
			return e.seen[i].Peer
		}
	}
	return 0
}

// pump receives all events of every endpoint.
func (s *suite) pump() {
	for _, e := range s.ends {
		e.pump()
	}
}

func (e *end) pump() {
	if e.closed {
		return
	}
	var ev [16]transport.Event
	for range 1 << 16 {
		k := e.ep.Recv(ev[:])
		for i := range ev[:k] {
			e.noteEvent(ev[i])
		}
		if k < len(ev) {
			return
		}
	}
	e.s.Fatal("Recv never returns fewer events than requested")
}

// noteEvent copies an event, and checks the order of its peer's events.
func (e *end) noteEvent(ev transport.Event) {
	before := e.phase[ev.Peer]
	ok := false
	switch ev.Kind {
	case transport.Connected:
		ok = before == 0
	case transport.Data:
		ok = before == transport.Connected || before == transport.Data
	case transport.Disconnected:
		ok = before == transport.Connected || before == transport.Data || before == 0 && e.client
	}
	if !ok || ev.Peer == 0 {
		e.s.Errorf("%v of peer %v came after %v", ev.Kind, ev.Peer, before)
	}
	if ev.Kind != transport.Data && ev.Data != nil {
		e.s.Errorf("a %v event carries data", ev.Kind)
	}
	if ev.Kind != transport.Disconnected && (ev.Code != transport.None || ev.Reason != "") {
		e.s.Errorf("a %v event carries a code", ev.Kind)
	}
	e.phase[ev.Peer] = ev.Kind
	ev.Data = bytes.Clone(ev.Data)
	e.seen = append(e.seen, ev)
}

// until waits for cond and receives events in the meantime.
func (s *suite) until(what string, cond func() bool) {
	s.Helper()
	for t := time.Duration(0); t < patience.get(); t += step {
		s.pump()
		if cond() {
			return
		}
		s.net.Wait(step)
	}
	s.Fatalf("timed out waiting until %s", what)
}

// waitForArrivals waits until datagrams in transit have arrived.
func (s *suite) waitForArrivals() {
	for range 25 {
		s.net.Wait(step)
		s.pump()
	}
}

// mustSend calls Send and expects no error.
func (e *end) mustSend(p transport.PeerID, b []byte) {
	e.s.Helper()
	if err := e.ep.Send(p, b); err != nil {
		e.s.Fatalf("Send of %d bytes: %v", len(b), err)
	}
}

// data returns the datagrams received from a peer, in order.
func (e *end) data(p transport.PeerID) (d [][]byte) {
	for _, ev := range e.seen {
		if ev.Kind == transport.Data && ev.Peer == p {
			d = append(d, ev.Data)
		}
	}
	return d
}

// endOf returns the Disconnected event of a peer, or nil.
func (e *end) endOf(p transport.PeerID) *transport.Event {
	for i := range e.seen {
		if e.seen[i].Kind == transport.Disconnected && e.seen[i].Peer == p {
			return &e.seen[i]
		}
	}
	return nil
}

func (e *end) info(p transport.PeerID) (info transport.Info) {
	e.s.Helper()
	if !e.ep.Info(p, &info) {
		e.s.Fatalf("no Info for peer %v", p)
	}
	return info
}

func (e *end) mustClose(c transport.Code, reason string) {
	e.s.Helper()
	e.closed = true
	if err := e.ep.Close(c, reason); err != nil {
		e.s.Fatalf("Close: %v", err)
	}
}

// datagram creates a datagram of n bytes, at least 8, that its number
// identifies.
func datagram(number uint64, n int) []byte {
	b := make([]byte, max(n, 8))
	binary.BigEndian.PutUint64(b, number)
	for i := 8; i < len(b); i++ {
		b[i] = byte(uint64(i) * (number*2 + 1))
	}
	return b
}

// number returns the datagram's number, if it equals what datagram creates.
func number(b []byte) (uint64, bool) {
	if len(b) < 8 {
		return 0, false
	}
	n := binary.BigEndian.Uint64(b)
	return n, bytes.Equal(b, datagram(n, len(b)))
}
