//go:build !js

package ws

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/foretick/foretick/internal/contain"
	"github.com/foretick/foretick/transport/internal/crowd"
	"github.com/foretick/foretick/transport/internal/hook"
)

// listener is the listener of Listen's http.Server. It limits the connections without a handshake,
// because the http.Server does not.
type listener struct {
	net.Listener
	srv    *Server
	closed chan struct{}
	close  sync.Once
	rarely contain.Rarely         // limits how often errors are logged
	half   crowd.Crowd[*halfOpen] // connections without a handshake; guarded by the endpoint's lock
}

// halfOpen is a connection of a listener before its handshake. After the handshake, its peer is counted
// instead.
type halfOpen struct {
	net.Conn
	from *listener
}

// NetConn returns the underlying connection, like the method of a TLS connection.
func (h *halfOpen) NetConn() net.Conn { return h.Conn }

// Close implements net.Conn.
func (h *halfOpen) Close() error {
	l := h.from
	l.srv.withLock(func() {
		if l.half.Remove(h) {
			l.srv.counters.Unfinished++
		}
	})
	return h.Conn.Close()
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.close.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// Accept implements net.Listener: it returns the next connection for which there is room. After an
// error that does not close the listener, such as no free file descriptors, it waits up to a second and
// tries again.
func (l *listener) Accept() (net.Conn, error) {
	for wait := acceptWait; ; {
		c, err := l.Listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil, err
		}
		if err != nil {
			l.failed(err)
			select {
			case <-l.closed:
				return nil, net.ErrClosed
			case <-time.After(wait):
			}
			wait = min(2*wait, mostAcceptWait)
			continue
		}
		wait = acceptWait
		h := &halfOpen{Conn: c, from: l}
		if l.admit(h) {
			return h, nil
		}
		c.Close()
	}
}

const (
	acceptWait     = 5 * time.Millisecond
	mostAcceptWait = time.Second
)

// failed counts an error of the listener, and logs one of them an hour.
func (l *listener) failed(err error) {
	l.srv.withLock(func() { l.srv.counters.AcceptErrors++ })
	if skipped, due := l.rarely.Due(time.Now()); due {
		hook.Line(l.srv.cfg.Logger, "no connection can be accepted for now: look at the limit of open files (ulimit -n)", "err", err, "skipped", skipped)
	}
}

// admit makes room for a connection. It returns false if it cannot.
func (l *listener) admit(h *halfOpen) bool {
	s := l.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if l.half.Len() >= s.cfg.MaxPending || l.half.Len() > 0 && s.connsFull() {
		l.evict()
	} else if s.connsFull() && !s.hurry() {
		s.counters.Crowded++
		return false
	}
	addr, _ := netip.ParseAddrPort(h.RemoteAddr().String())
	l.half.Add(h, addr.Addr())
	return true
}

// evict drops the oldest half-open connection of the address that has the most.
func (l *listener) evict() {
	h, _ := l.half.Oldest()
	l.half.Remove(h)
	l.srv.counters.Evicted++
	if tcp, ok := h.Conn.(*net.TCPConn); ok { // so that the system need not remember the connection
		_ = tcp.SetLinger(0) // the system need not remember it
	}
	h.Conn.Close()
}

// upgraded records that a connection's handshake is complete.
func (l *listener) upgraded(c net.Conn) {
	if h, ok := c.(*halfOpen); ok && l != nil {
		l.half.Remove(h)
	}
}

// connsFull reports whether MaxConns connections are open.
func (s *Server) connsFull() bool {
	n := len(s.conns)
	if s.listener != nil {
		n += s.listener.half.Len()
	}
	return s.cfg.MaxConns > 0 && n >= s.cfg.MaxConns
}

// hurry makes room: it drops the connection that has been closing for the longest time, or else a
// pending one. It returns false if there is neither.
func (s *Server) hurry() bool {
	var oldest *peer
	for p := range s.conns {
		if (p.state == leaving || p.state == ended) && !p.aborted && (oldest == nil || int32(p.until-oldest.until) < 0) {
			oldest = p
		}
	}
	if oldest == nil {
		if oldest, _ = s.pending.Oldest(); oldest == nil {
			return false
		}
		s.counters.Evicted++
	}
	s.cut(oldest)
	return true
}
