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
	"time"

	"github.com/coder/websocket"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/hook"
)

// maxHeader is the longest header of a request to Listen, in bytes. It has room for the cookies of a
// proxy and a browser.
const maxHeader = 16 << 10

// Server is a server's endpoint, and the http.Handler whose requests become its connections. The http.Server that
// uses it handles paths, TLS and limits of the HTTP handshake.
type Server struct {
	Endpoint
	// Only Listen sets web, listener and addr.
	web      *http.Server
	listener *listener
	addr     netip.AddrPort
	asks     hook.Other // calls Config.ClientAddr
}

var (
	_ http.Handler      = (*Server)(nil)
	_ transport.BanList = (*Server)(nil)
)

// Listen returns a server's endpoint with its own http.Server, for every path of a local address such as ":8080",
// without TLS. Use it in trusted networks, or with a proxy in front that ends TLS. It returns an error that lists all faults
// of the config, or one that says why the address is not available.
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
	s.acceptFrom(l)
	return s, nil
}

// acceptFrom begins to accept connections.
func (s *Server) acceptFrom(l net.Listener) {
	s.listener = &listener{Listener: l, srv: s, closed: make(chan struct{})}
	s.web = &http.Server{Handler: s, ReadHeaderTimeout: s.cfg.Timeout, ReadTimeout: s.cfg.Timeout, WriteTimeout: s.cfg.Timeout,
		IdleTimeout: s.cfg.Timeout, MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0)}
	s.web.SetKeepAlivesEnabled(false)
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		_ = s.web.Serve(s.listener) // it ends when Close closes web
	}()
}

// LocalAddr returns the address of Listen; the zero AddrPort for NewServer.
func (s *Server) LocalAddr() netip.AddrPort {
	return netip.AddrPortFrom(s.addr.Addr().Unmap(), s.addr.Port())
}

// Close implements transport.Endpoint, and closes the http.Server of Listen. It waits at most half a second for the
// peers to reply. The accept hook must not call it.
func (s *Server) Close(c transport.Code, reason string) error {
	if s.web != nil {
		_ = s.web.Close()
	}
	return s.Endpoint.Close(c, reason)
}

// NewServer returns a server's endpoint, to be given to an http.Server. The package documentation lists the limits that
// the http.Server needs. Close the http.Server first, then the endpoint. NewServer returns an error that lists all
// faults of the config.
func NewServer(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := &Server{asks: hook.Other{Text: "panic in Config.ClientAddr: the client was refused", Log: cfg.Logger}}
	s.init(cfg)
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		s.tend()
	}()
	return s, nil
}

// ServeHTTP implements http.Handler: it turns a WebSocket handshake into a connection, and returns. It responds with
// 403 to scripts of foreign origins, and with 426 or 400 to requests that are no handshake for Subprotocol. It
// responds with 429 to an address with too many connections without a hello, and with 503 when the endpoint is closed
// or MaxConns are open. The http.Server closes the connections that it refuses. The rest of the request, and the
// response, may take up to Config.Timeout.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := &hijacked{ResponseWriter: w}
	w = h
	h.hasten(time.Now().Add(s.cfg.Timeout))
	if !offered(r) && r.Header.Get("Sec-WebSocket-Version") != "" {
		s.withLock(func() { s.counters.NotUpgraded++ })
		http.Error(w, "the subprotocol "+Subprotocol+" is required", http.StatusBadRequest)
		return
	}
	p := newPeer()
	if err := s.locate(p, r); err != nil {
		s.withLock(func() { s.counters.AcceptPanics++ })
		http.Error(w, "the server failed at this request", http.StatusInternalServerError)
		return
	}
	p.secure = r.TLS != nil
	if code := s.reserve(p); code != 0 {
		http.Error(w, http.StatusText(code), code)
		return
	}
	tolerated := func() bool { return s.pinged(p) }
	c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol},
		OriginPatterns: s.cfg.Origins, InsecureSkipVerify: s.cfg.AnyOrigin,
		OnPingReceived: onPing(tolerated), OnPongReceived: onPong(tolerated)})
	if err != nil {
		s.releasePeer(p, h.status == http.StatusForbidden)
		return
	}
	s.withLock(func() { s.listener.upgraded(h.conn) })
	s.startPeer(p, newSocket(c, h.conn))
}

// locate sets a peer's address and name from its request. It returns an error if Config.ClientAddr
// fails.
func (s *Server) locate(p *peer, r *http.Request) error {
	a, _ := netip.ParseAddrPort(r.RemoteAddr)
	p.addr, p.name = netip.AddrPortFrom(a.Addr().Unmap(), a.Port()), r.RemoteAddr
	if s.cfg.ClientAddr == nil {
		return nil
	}
	return s.asks.Ask(p.addr, func() error {
		if a := s.cfg.ClientAddr(r); a.IsValid() {
			p.addr = netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
			p.name = p.addr.String()
		}
		return nil
	})
}

func (s *Server) withLock(fn func()) {
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

// reserve makes room for a pending connection and returns 0, or returns the HTTP status of the refusal.
func (s *Server) reserve(p *peer) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return http.StatusServiceUnavailable
	}
	if most := s.cfg.MaxPendingPerAddr; most > 0 && s.pending.From(p.addr.Addr()) >= most {
		s.counters.Limited++
		return http.StatusTooManyRequests
	}
	if s.listener == nil && s.connsFull() && !s.hurry() { // a listener has already made room
		s.counters.Crowded++
		return http.StatusServiceUnavailable
	}
	if s.pending.Len() >= s.cfg.MaxPending {
		s.counters.Evicted++
		oldest, _ := s.pending.Oldest()
		s.cut(oldest)
	}
	p.until = s.clock.Load() + ticks(s.cfg.Timeout)
	p.pending = true
	s.pending.Add(p, p.addr.Addr())
	s.conns[p] = struct{}{}
	return 0
}

func (s *Server) releasePeer(p *peer, foreign bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if foreign {
		s.counters.Foreign++
	} else {
		s.counters.NotUpgraded++
	}
	s.leavePending(p)
	delete(s.conns, p)
}

func (s *Server) startPeer(p *peer, sock socket) {
	s.mu.Lock()
	if s.closed || p.state == over {
		s.leavePending(p)
		delete(s.conns, p)
		s.mu.Unlock() // closing a listener's connection takes the lock
		sock.abort()
		sock.freeSocket()
		return
	}
	defer s.mu.Unlock()
	p.sock = sock
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		s.servePeer(p)
	}()
}

// hijacked records the connection under the WebSocket, and closes a connection that does not become a
// WebSocket. Otherwise a client could go on sending requests, or the rest of one, for as long as it
// likes.
type hijacked struct {
	http.ResponseWriter
	conn   net.Conn
	status int // HTTP status of the response; 0 before there is one
}

// hasten limits the time for the rest of the request and the response, if the http.Server supports that. The
// WebSocket itself has no deadline.
func (h *hijacked) hasten(at time.Time) {
	c := http.NewResponseController(h.ResponseWriter)
	_ = c.SetReadDeadline(at)
	_ = c.SetWriteDeadline(at)
}

// WriteHeader implements http.ResponseWriter.
func (h *hijacked) WriteHeader(status int) {
	h.status = status
	if status != http.StatusSwitchingProtocols {
		h.Header().Set("Connection", "close")
	}
	h.ResponseWriter.WriteHeader(status)
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

// lean replaces an http.Server's buffers for pages, 4 kB each way, with buffers for messages.
func lean(c net.Conn, rw *bufio.ReadWriter) *bufio.ReadWriter {
	n := rw.Reader.Buffered()
	if n > bufferSize {
		return rw
	}
	early, _ := rw.Peek(n)
	r := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(early)), c), bufferSize)
	_, _ = r.Peek(n) // the bytes stay in r, whatever it reads from next
	return bufio.NewReadWriter(r, bufio.NewWriterSize(c, bufferSize))
}
