//go:build !js

package play

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/multi"
	"github.com/foretick/foretick/transport/udp"
	"github.com/foretick/foretick/transport/ws"
)

// Listen returns an endpoint for a relay and its address, HOST:PORT. Players come to it over UDP, and on the same
// port of TCP over WebSocket, to ws://HOST:PORT/play. page serves all other paths. nil serves none. With port 0 the
// system chooses one.
func Listen(addr string, page http.Handler) (transport.Endpoint, string, error) {
	for try := 1; ; try++ {
		datagrams, err := udp.Listen(addr, udp.Config{})
		if err != nil {
			return nil, "", err
		}
		at := datagrams.LocalAddr().String()
		tcp, err := net.Listen("tcp", at)
		if err == nil {
			e, err := listen(datagrams, tcp, page)
			return e, at, err
		}
		_ = datagrams.Close(transport.Closed, "")
		if _, port, _ := net.SplitHostPort(addr); port != "0" || try == tries {
			return nil, "", err
		}
	}
}

// tries is how many ports are tried where any will do: one that is free for UDP may be taken for TCP.
const tries = 20

func listen(datagrams *udp.Endpoint, tcp net.Listener, page http.Handler) (transport.Endpoint, error) {
	sockets, err := ws.NewServer(ws.Config{})
	if err != nil {
		return nil, err
	}
	both, err := multi.New(datagrams, sockets)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/play", sockets)
	if page != nil {
		mux.Handle("/", page)
	}
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10}
	go func() { _ = web.Serve(tcp) }()
	return closing{both, web}, nil
}

// closing closes the HTTP server with the endpoint.
type closing struct {
	*multi.Endpoint
	web *http.Server
}

// Unwrap implements transport.Wrapper.
func (c closing) Unwrap() transport.Endpoint { return c.Endpoint }

// Close implements transport.Endpoint.
func (c closing) Close(code transport.Code, reason string) error {
	_ = c.web.Close() // which ends no WebSocket: they are the endpoint's
	return c.Endpoint.Close(code, reason)
}

// Relay keeps two players in step until ctx ends, and then until the last of them has left. It logs players
// that come or leave. It closes the endpoint, and returns the counters of the relay.
func Relay(ctx context.Context, endpoint transport.Endpoint, log io.Writer) (relay.Stats, error) {
	r, err := relay.New(relay.Config{Transport: endpoint, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		return relay.Stats{}, err
	}
	stop := context.AfterFunc(ctx, func() { r.Drain("this relay closes") })
	defer stop()
	if err = r.Run(context.Background()); err != nil {
		err = fmt.Errorf("the relay ended: %w", err)
	}
	return r.Stats(), err
}
