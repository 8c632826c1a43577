package sim

import (
	"errors"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/inbox"
)

type state uint8

const (
	dialling state = iota // a client's side before the accept, or a server's before the hello
	open
	ended
)

const (
	timeout      = 5 * time.Second
	retry        = 50 * time.Millisecond
	again        = 100 * time.Millisecond // minimum time between copies of a farewell
	upkeepEvery  = 250 * time.Millisecond
	aliveAfter   = time.Second
	controlBytes = 17 // size of hello, accept and the like
	headerBytes  = 9  // size of a datagram in addition to the game's bytes: the same as package udp's
)

// side is one end of a connection.
type side struct {
	ep       *Endpoint
	far      *side
	path     *Path // the link from this side to far
	state    state
	client   bool
	silent   bool // the side's process was killed: it replies to nothing
	id       transport.PeerID
	q        *inbox.Queue
	begun    time.Duration // when the dial began
	heard    time.Duration // when something was last received
	sent     time.Duration // when something was last sent
	told     time.Duration // when the farewell was last sent again
	code     transport.Code
	reason   string
	identity []byte
	stats    transport.Stats
}

// control sends one of the transport's own datagrams. A damaged one counts as
// lost.
func (s *side) control(kind eventKind) {
	if s.silent {
		return
	}
	n := s.ep.net
	size := controlBytes
	if kind == hello {
		size = transport.MaxDatagram
	}
	s.sent = n.now
	f := s.path.Send(n.now, size)
	for i := range f.Copies {
		if f.Flip[i] < 0 {
			n.pushEvent(f.At[i], kind, s.far)
		}
	}
}

// startDial starts the dial of a client.
func (s *side) startDial() {
	s.begun = s.ep.net.now
	s.control(hello)
	s.ep.net.pushEvent(s.begun+retry, upkeep, s)
}

// greeted handles a hello at the server's side.
func (s *side) greeted() {
	if s.state == dialling {
		s.ep = s.ep.current()
	}
	if s.state == dialling && !s.ep.closed && !s.admitted() {
		s.state = ended
		s.control(farewell)
		return
	}
	switch { // the hook may have closed the endpoint
	case s.state == dialling && s.ep.killed:
	case s.state == dialling && s.ep.closed:
		s.state, s.code, s.reason = ended, transport.Unreachable, "nobody listens"
		s.control(farewell)
	case s.state == dialling:
		s.state, s.heard = open, s.ep.net.now
		s.id = s.ep.peers.Add(s)
		s.q = s.ep.in.Add(s.id, true)
		s.control(accept)
		s.ep.net.pushEvent(s.ep.net.now+upkeepEvery, upkeep, s)
	case s.state == open:
		s.control(accept)
	default:
		s.remind()
	}
}

// admitted calls the server's accept hook, and reports whether the client may connect.
func (s *side) admitted() bool {
	if s.ep.accept == nil {
		return true
	}
	identity, err := s.ep.accept(s.far.ep.addr)
	if err == nil {
		s.identity = identity
		return true
	}
	s.code, s.reason = transport.Refused, transport.CutReason(err.Error())
	var why *transport.DisconnectError
	if errors.As(err, &why) {
		s.code, s.reason = why.Code, transport.CutReason(why.Reason)
	}
	return false
}

// accepted handles the server's accept at the client's side.
func (s *side) accepted() {
	if s.state == ended {
		s.remind()
		return
	}
	s.heard = s.ep.net.now
	if s.state == dialling {
		s.state = open
		s.ep.in.Connect(s.q)
	}
}

// lives handles a keep-alive, or a request for one.
func (s *side) lives(asked bool) {
	switch s.state {
	case open:
		s.heard = s.ep.net.now
		if asked {
			s.control(alive)
		}
	case ended:
		s.remind()
	}
}

// arrived handles a datagram of the game.
func (s *side) arrived(buf []byte, length int) {
	if s.state != open {
		s.ep.in.Release(buf)
		if s.state == ended {
			s.remind()
		}
		return
	}
	s.heard = s.ep.net.now
	s.stats.Received++
	s.stats.ReceivedBytes += uint64(length)
	if s.ep.in.Push(s.q, buf, buf[:length]) {
		s.stats.ReceiveDropped++
	}
}

// remind sends the farewell again, because the far end does not know that the connection is over.
func (s *side) remind() {
	if now := s.ep.net.now; now-s.told >= again {
		s.told = now
		s.control(farewell)
	}
}

// left handles an end of the connection that the caller did not cause.
func (s *side) left(c transport.Code, reason string) {
	if s.state == ended {
		return
	}
	if s.id == 0 { // the server's side of an abandoned dial: the hello may still arrive
		s.state, s.code, s.reason = ended, c, reason
		return
	}
	s.state, s.code, s.reason = ended, c, reason
	s.ep.peers.Remove(s.id)
	s.ep.in.End(s.q, c, reason)
}

// dropConnection ends the connection for the caller and notifies the far end, three times
// because datagrams may be lost.
func (s *side) dropConnection(c transport.Code, reason string) {
	s.state, s.code, s.reason = ended, c, transport.CutReason(reason)
	s.ep.peers.Remove(s.id)
	s.ep.in.Drop(s.q)
	n := s.ep.net
	s.control(farewell)
	n.pushEvent(n.now+again, repeat, s)
	n.pushEvent(n.now+3*again, repeat, s)
}

// upkeep is the side's timer: hellos, keep-alives, timeouts.
func (s *side) upkeep() {
	n := s.ep.net
	switch s.state {
	case dialling:
		if n.now-s.begun >= timeout {
			s.left(transport.Timeout, "no answer")
			return
		}
		s.control(hello)
		n.pushEvent(n.now+retry, upkeep, s)
	case open:
		if n.now-s.heard >= timeout {
			s.left(transport.Timeout, "nothing heard")
			s.control(farewell)
			return
		}
		if n.now-s.heard >= 2*aliveAfter { // keep-alives were lost: ask instead of waiting for the next
			s.control(ask)
		} else if n.now-s.sent >= aliveAfter {
			s.control(alive)
		}
		n.pushEvent(n.now+upkeepEvery, upkeep, s)
	}
}
