package main

import (
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/foretick/foretick/inspect"
	inspector "github.com/foretick/foretick/inspect/web"
	"github.com/foretick/foretick/server"
)

// inspectAt serves the page of an inspector at an address until stop is called.
func inspectAt(addr string, in *inspect.Inspector, out io.Writer) (stop func(), err error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%w: -inspect %q: use an address such as :8090", errUsage, addr)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	h := inspector.New(in, inspector.Config{AllowEdit: true, Logger: slog.New(slog.DiscardHandler)})
	page := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = page.Serve(l) }()
	fmt.Fprintf(out, "inspect at %s\n", h.URL("http://"+l.Addr().String()+"/"))
	return func() {
		h.Close()
		_ = page.Close()
	}, nil
}

// inspectServer serves the page of a server.
func inspectServer(o options, in *inspect.Inspector, srv *server.Server, out io.Writer) (stop func(), err error) {
	if err := in.AddServer("server", srv); err != nil {
		return nil, err
	}
	return inspectAt(o.inspect, in, out)
}

// inspectBots serves the page of this process's bots.
func (m *match) inspectBots(out io.Writer) (stop func(), err error) {
	start := time.Now()
	in := inspect.New(inspect.Config{Clock: func() time.Duration { return time.Since(start) }})
	for n, s := range m.seats {
		if err := in.AddClient(fmt.Sprint("bot ", n+1), s.client); err != nil {
			return nil, err
		}
	}
	return inspectAt(m.opt.inspect, in, out)
}
