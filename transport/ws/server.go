//go:build !js

package ws

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/coder/websocket"

	"github.com/foretick/foretick/transport"
)

// Server is a server's endpoint and the http.Handler whose requests become its connections. Paths, TLS and limits of
// the HTTP handshake are the http.Server's that it is given to.
type Server struct {
	Endpoint
	web  *http.Server // of Listen; nil otherwise
	addr netip.AddrPort
}

var (
	_ http.Handler         = (*Server)(nil)
	_ transport.Doorkeeper = (*Server)(nil)
)

// Listen returns a server's endpoint with an http.Server of its own, at every path of a local address such as ":8080",
// without TLS: for a network that is trusted, or behind a proxy that ends TLS. Errors: what is wrong with the config, all
// of it, or why the address cannot be had.
func Listen(addr string, cfg Config) (*Server, error) {
	s, err := NewServer(cfg)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		_ = s.Close(transport.Closed, "")
		return nil, fmt.Errorf("ws: cannot listen: %w", err)
	}
	s.addr = l.Addr().(*net.TCPAddr).AddrPort()
	s.web = &http.Server{Handler: s, ReadHeaderTimeout: s.cfg.Timeout, ErrorLog: log.New(io.Discard, "", 0)}
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		_ = s.web.Serve(l) // it ends with Close
	}()
	return s, nil
}

// LocalAddr returns the address of Listen; the zero AddrPort of NewServer.
func (s *Server) LocalAddr() netip.AddrPort {
	return netip.AddrPortFrom(s.addr.Addr().Unmap(), s.addr.Port())
}

// Close implements transport.Endpoint, and closes the http.Server of Listen. It waits half a second at most for peers to
// take note. It must not be called by the accept hook.
func (s *Server) Close(c transport.Code, detail string) error {
	if s.web != nil {
		_ = s.web.Close()
	}
	return s.Endpoint.Close(c, detail)
}

// NewServer returns a server's endpoint. Give it to an http.Server, whose ReadHeaderTimeout should be set; close the
// http.Server first, then the endpoint. Errors: what is wrong with the config, all of it.
func NewServer(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := &Server{}
	s.init(cfg)
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		s.tend()
	}()
	return s, nil
}

// ServeHTTP implements http.Handler: it makes a connection of a WebSocket handshake, and returns. It answers 403 to
// scripts of foreign origins, 426 or 400 to what is no handshake for Subprotocol, 429 to an address with too many
// connections that said no hello yet, and 503 when the endpoint is closed.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !offered(r) && r.Header.Get("Sec-WebSocket-Version") != "" {
		s.note(func() { s.counters.NotUpgraded++ })
		http.Error(w, "the subprotocol "+Subprotocol+" is required", http.StatusBadRequest)
		return
	}
	addr, _ := netip.ParseAddrPort(r.RemoteAddr)
	addr = netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
	p := newPeer()
	p.addr, p.name, p.secure = addr, r.RemoteAddr, r.TLS != nil
	if code := s.reserve(p); code != 0 {
		http.Error(w, http.StatusText(code), code)
		return
	}
	h := &hijacked{ResponseWriter: w}
	c, err := websocket.Accept(h, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol},
		OriginPatterns: s.cfg.Origins, InsecureSkipVerify: s.cfg.AnyOrigin})
	if err != nil {
		s.release(p)
		return
	}
	s.start(p, newSocket(c, h.conn))
}

func (s *Server) note(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
}

func offered(r *http.Request) bool {
	for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
		for _, name := range strings.Split(line, ",") {
			if strings.TrimSpace(name) == Subprotocol {
				return true
			}
		}
	}
	return false
}

// reserve makes room for a pending connection, or returns the HTTP status of the refusal.
func (s *Server) reserve(p *peer) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return http.StatusServiceUnavailable
	}
	same, key := 0, network(p.addr)
	for _, q := range s.pending {
		if network(q.addr) == key {
			same++
		}
	}
	if same >= s.cfg.MaxPendingPerAddr {
		s.counters.Limited++
		return http.StatusTooManyRequests
	}
	if len(s.pending) >= s.cfg.MaxPending {
		s.counters.Evicted++
		s.cut(s.pending[0])
	}
	p.until = s.clock.Load() + ticks(s.cfg.Timeout)
	s.pending = append(s.pending, p)
	s.conns[p] = struct{}{}
	return 0
}

// network is what one client can easily have many addresses of.
func network(a netip.AddrPort) netip.Addr {
	if a.Addr().Is6() {
		p, _ := a.Addr().Prefix(64)
		return p.Addr()
	}
	return a.Addr()
}

func (s *Server) release(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counters.NotUpgraded++
	s.settled(p)
	delete(s.conns, p)
}

func (s *Server) start(p *peer, sock socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || p.state == over {
		s.settled(p)
		delete(s.conns, p)
		sock.abort()
		sock.free()
		return
	}
	p.sock = sock
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		s.run(p)
	}()
}

// hijacked notes the connection below the WebSocket.
type hijacked struct {
	http.ResponseWriter
	conn net.Conn
}

// Hijack implements http.Hijacker.
func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.conn = c
	if err == nil {
		rw = lean(c, rw)
	}
	return c, rw, err
}

// lean replaces the buffers that an http.Server makes for pages, 4 kB each way, by ones for messages.
func lean(c net.Conn, rw *bufio.ReadWriter) *bufio.ReadWriter {
	n := rw.Reader.Buffered()
	if n > bufferSize {
		return rw
	}
	early, _ := rw.Reader.Peek(n)
	r := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(early)), c), bufferSize)
	_, _ = r.Peek(n) // it is kept there, whatever the reader is given to read from next
	return bufio.NewReadWriter(r, bufio.NewWriterSize(c, bufferSize))
}
