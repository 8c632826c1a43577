package udp

import (
	"encoding/binary"
	"net/netip"
	"sync"

	"github.com/foretick/foretick/transport"
)

// sender writes to the socket and never waits. It has its own lock, so that sending and receiving do not block each
// other.
type sender struct {
	mu sync.Mutex
	socket
	buf [transport.MaxDatagram]byte
}

// up sends a client's datagram, down a server's.
func (s *sender) up(id uint64, b []byte, to netip.AddrPort) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf[0] = typeUp
	binary.BigEndian.PutUint64(s.buf[1:], id)
	return s.write(s.buf[:upHeader+copy(s.buf[upHeader:], b)], to)
}

func (s *sender) down(nonce uint64, b []byte, to netip.AddrPort) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf[0] = typeDown
	binary.BigEndian.PutUint32(s.buf[1:], uint32(nonce))
	return s.write(s.buf[:downHeader+copy(s.buf[downHeader:], b)], to)
}

// send sends a complete datagram.
func (s *sender) send(b []byte, to netip.AddrPort) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(b, to)
}

// letter is a small datagram to send after the endpoint's lock is released.
type letter struct {
	to netip.AddrPort
	n  int
	b  [endSize + transport.MaxDetail]byte
}
