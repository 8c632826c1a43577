package dtls

import (
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// shim is the net.Conn under the library's handshake.
type shim struct {
	send func(b []byte) // sends on the connection below
	wake chan struct{}  // has room for one value

	mu       sync.Mutex
	waiting  [][]byte
	deadline time.Time
	closed   bool
	flight   [][]byte  // datagrams sent since the last one received
	answered bool      // a datagram was received since the flight was sent
	written  time.Time // when the last datagram was sent
	repeats  int       // how often the flight was repeated
}

const (
	shimQueue  = 64                     // datagrams that wait for Read; more are lost, and sent again
	maxFlight  = 8                      // datagrams of a flight that are repeated
	maxRepeats = 200                    // repeats of one flight
	sameFlight = 100 * time.Millisecond // datagrams sent within this time belong to one flight
)

func newShim(send func(b []byte)) *shim { return &shim{send: send, wake: make(chan struct{}, 1)} }

func (s *shim) signalWake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// pushDatagram adds a datagram, which the shim now owns.
func (s *shim) pushDatagram(b []byte) {
	s.mu.Lock()
	if !s.closed && len(s.waiting) < shimQueue {
		s.waiting = append(s.waiting, b)
		s.answered = true
	}
	s.mu.Unlock()
	s.signalWake()
}

// Read implements net.Conn. Only one goroutine may call it, which holds for the
// library.
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
	defer s.mu.Unlock()
	if s.closed {
		return 0, net.ErrClosed
	}
	if !outward(b) {
		return len(b), nil
	}
	now := time.Now()
	if s.answered || now.Sub(s.written) > sameFlight {
		s.flight = nil
	}
	if s.answered {
		s.answered, s.repeats = false, 0
	}
	s.written = now
	if len(s.flight) < maxFlight {
		s.flight = append(s.flight, slices.Clone(b))
	}
	s.send(b)
	return len(b), nil
}

// repeat sends the last flight again, unchanged. It does so more often than the library, and without a
// cause, because the library at the other end does not reply to copies. It is called twice a tick.
func (s *shim) repeat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.repeats >= maxRepeats || time.Since(s.written) < tickTime/4 {
		return
	}
	s.repeats++
	for _, b := range s.flight {
		s.send(b)
	}
}

// Close implements net.Conn.
func (s *shim) Close() error {
	s.mu.Lock()
	s.closed, s.waiting = true, nil
	s.mu.Unlock()
	s.signalWake()
	return nil
}

// SetReadDeadline implements net.Conn.
func (s *shim) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	s.deadline = t
	s.mu.Unlock()
	s.signalWake()
	return nil
}

// SetWriteDeadline implements net.Conn. Writes never block.
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
