package dtls

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// shim is the net.Conn that the library shakes hands over.
type shim struct {
	send func(b []byte) // of the connection below
	wake chan struct{}  // capacity 1

	mu       sync.Mutex
	waiting  [][]byte
	deadline time.Time
	closed   bool
}

const shimQueue = 64 // datagrams; what more comes is lost, and sent again

func newShim(send func(b []byte)) *shim { return &shim{send: send, wake: make(chan struct{}, 1)} }

func (s *shim) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// push adds a datagram, which is the shim's from now on.
func (s *shim) push(b []byte) {
	s.mu.Lock()
	if !s.closed && len(s.waiting) < shimQueue {
		s.waiting = append(s.waiting, b)
	}
	s.mu.Unlock()
	s.signal()
}

// Read implements net.Conn. It has one caller at a time, as the library has.
func (s *shim) Read(b []byte) (int, error) {
	for {
		s.mu.Lock()
		deadline, closed := s.deadline, s.closed
		if !closed && len(s.waiting) > 0 && (deadline.IsZero() || time.Now().Before(deadline)) {
			n := copy(b, s.waiting[0])
			s.waiting = s.waiting[1:]
			s.mu.Unlock()
			return n, nil
		}
		s.mu.Unlock()
		if closed {
			return 0, io.EOF
		}
		if deadline.IsZero() {
			<-s.wake
			continue
		}
		left := time.Until(deadline)
		if left <= 0 {
			return 0, os.ErrDeadlineExceeded
		}
		t := time.NewTimer(left)
		select {
		case <-s.wake:
		case <-t.C:
		}
		t.Stop()
	}
}

// Write implements net.Conn.
func (s *shim) Write(b []byte) (int, error) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return 0, net.ErrClosed
	}
	if outward(b) {
		s.send(b)
	}
	return len(b), nil
}

// Close implements net.Conn.
func (s *shim) Close() error {
	s.mu.Lock()
	s.closed, s.waiting = true, nil
	s.mu.Unlock()
	s.signal()
	return nil
}

// SetReadDeadline implements net.Conn.
func (s *shim) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	s.deadline = t
	s.mu.Unlock()
	s.signal()
	return nil
}

// SetWriteDeadline implements net.Conn: no write waits.
func (s *shim) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline implements net.Conn.
func (s *shim) SetDeadline(t time.Time) error { return s.SetReadDeadline(t) }

// LocalAddr implements net.Conn.
func (s *shim) LocalAddr() net.Addr { return nowhere{} }

// RemoteAddr implements net.Conn.
func (s *shim) RemoteAddr() net.Addr { return nowhere{} }

type nowhere struct{}

func (nowhere) Network() string { return "dtls" }
func (nowhere) String() string  { return "dtls" }
