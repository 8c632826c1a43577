package ws

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/foretick/foretick/transport"
)

// dialTimeouts is the time limit of a dial until the HTTP handshake is complete, in multiples of
// Config.Timeout.
const dialTimeouts = 2

// dialer opens a connection and returns its remote address. It calls tolerated for each incoming ping
// and pong, and replies to a ping only if tolerated returns true.
type dialer func(ctx context.Context, url string, tolerated func() bool) (s socket, remote string, err error)

// dialBy returns a client's endpoint that connects with open.
func dialBy(addr string, cfg Config, open dialer) (*Endpoint, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	u, err := url.Parse(addr)
	if err != nil {
		return nil, fmt.Errorf("ws: cannot dial: %w", err)
	}
	secure := u.Scheme == "wss"
	if !secure && u.Scheme != "ws" || u.Host == "" || u.Fragment != "" {
		return nil, fmt.Errorf("ws: cannot dial %q: a URL such as wss://play.example.com/path is needed", addr)
	}
	e := &Endpoint{}
	e.init(cfg)
	ctx, cancel := context.WithCancel(context.Background())
	e.cancel = cancel
	p := newPeer()
	p.name, p.secure, p.greet = u.Host, secure, true
	p.until = e.clock.Load() + ticks(dialTimeouts*cfg.Timeout)
	p.id = e.peers.Add(p)
	p.q = e.in.Add(p.id, false)
	e.dial = p
	e.conns[p] = struct{}{}
	e.running.Add(2)
	go func() {
		defer e.running.Done()
		e.connectTo(ctx, u.String(), open)
	}()
	go func() {
		defer e.running.Done()
		e.tend()
	}()
	return e, nil
}

// connectTo opens the connection and serves it until its end.
func (e *Endpoint) connectTo(ctx context.Context, addr string, open dialer) {
	p := e.dial
	sock, remote, err := open(ctx, addr, func() bool { return e.pinged(p) })
	e.mu.Lock()
	if err == nil && p.state != greeting { // the dial was given up or closed in the meantime
		sock.abort()
		sock.freeSocket()
	}
	if err != nil || p.state != greeting {
		if p.state == greeting {
			code, reason := transport.CloseCode(err), err.Error()
			var why *transport.DisconnectError
			if errors.As(err, &why) {
				reason = why.Reason
			}
			e.reportEnd(p, code, reason)
			p.state = over
		}
		delete(e.conns, p)
		e.mu.Unlock()
		return
	}
	p.sock = sock
	p.until = e.clock.Load() + ticks(e.cfg.Timeout)
	if remote != "" {
		p.name = remote
	}
	e.mu.Unlock()
	e.servePeer(p)
}
