package udp

import (
	"encoding/binary"
	"sync"

	"github.com/foretick/foretick/transport"
)

// sender writes to the socket and never waits. It has its own lock, so that sending and receiving do not block each
// other.
type sender struct {
	mu sync.Mutex
	socket
	buf    [transport.MaxDatagram]byte
	held   *held  // datagrams that wait for Flush; nil without Config.Batch
	writes uint64 // system calls that wrote to the socket
}

// up sends a client's datagram. down sends a server's.
func (s *sender) up(id uint64, b []byte, to route) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf[0] = typeUp
	binary.BigEndian.PutUint64(s.buf[1:], id)
	s.writes++
	return s.writeDatagram(s.buf[:upHeader+copy(s.buf[upHeader:], b)], to)
}

func (s *sender) down(nonce uint64, b []byte, to route) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	buf := &s.buf
	if s.held != nil {
		buf = s.held.nextBuffer()
	}
	buf[0] = typeDown
	binary.BigEndian.PutUint32(buf[1:], uint32(nonce))
	n := downHeader + copy(buf[downHeader:], b)
	if s.held == nil {
		s.writes++
		return s.writeDatagram(buf[:n], to)
	}
	if s.held.addDatagram(n, to, &s.socket) {
		return s.held.sendHeld(&s.socket)
	}
	return nil
}

// sendDatagram sends a complete datagram, after those in held.
func (s *sender) sendDatagram(b []byte, to route) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil && s.held.n > 0 {
		_ = s.held.sendHeld(&s.socket) // datagrams that it drops are counted
	}
	s.writes++
	return s.writeDatagram(b, to)
}

// flushHeld sends the datagrams in held.
func (s *sender) flushHeld() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil && s.held.n > 0 {
		_ = s.held.sendHeld(&s.socket) // datagrams that it drops are counted
	}
}

// addCounts adds the sender's counts to those of an endpoint.
func (s *sender) addCounts(c *Counters) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Writes = s.writes
	if s.held != nil {
		c.Writes += s.held.tell.calls
		c.Backlog += s.held.tell.backlog
		c.SendErrors += s.held.tell.errors
	}
}

// letter is a small datagram to send after the endpoint's lock is released.
type letter struct {
	to route
	n  int
	b  [endSize + transport.MaxReason]byte
}
