//go:build !js

package main

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
	"github.com/foretick/foretick/transport/ws"

	"net"
)

// defaultJoin returns "": a native game hosts a match unless -join names one.
func defaultJoin() string { return "" }

// dial connects to the host at addr.
func dial(addr string) (transport.Endpoint, error) {
	u, err := url.Parse(addr)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme == "udp":
		return udp.Dial(u.Host, udp.Config{})
	}
	return ws.Dial(addr, ws.Config{})
}

// listen opens a host's endpoint, and returns the address at which others can join. A host
// that browsers can join serves the page too.
func listen(at, web string) (transport.Endpoint, string, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, "", err
	}
	switch u.Scheme {
	case "udp":
		e, err := udp.Listen(u.Host, udp.Config{})
		if err != nil {
			return nil, "", err
		}
		return e, "udp://" + e.LocalAddr().String(), nil
	case "ws":
		srv, err := ws.NewServer(ws.Config{})
		if err != nil {
			return nil, "", err
		}
		l, err := net.Listen("tcp", u.Host)
		if err != nil {
			return nil, "", err
		}
		mux := http.NewServeMux()
		mux.Handle("/play", srv)
		mux.Handle("/", http.FileServer(http.Dir(web)))
		page := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10}
		go func() { _ = page.Serve(l) }()
		return srv, "ws://" + l.Addr().String() + "/play", nil
	}
	return nil, "", fmt.Errorf("scheme %q: use ws or udp", u.Scheme)
}
