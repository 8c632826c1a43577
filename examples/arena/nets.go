package main

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/udp"
	"github.com/foretick/foretick/transport/ws"
)

// network is a server's endpoint, and how a bot dials it.
type network struct {
	transport.Endpoint
	addr string
	dial func() (transport.Endpoint, error)
}

// listen opens a server by the transport that the options ask for.
func listen(o options, at string) (*network, error) {
	switch o.transport {
	case "dtls":
		return listenDTLS(at)
	case "ws":
		return listenWS(at)
	}
	e, err := udp.Listen(at, udp.Config{})
	if err != nil {
		return nil, err
	}
	addr := e.LocalAddr().String()
	return &network{e, addr, func() (transport.Endpoint, error) { return reach(o, addr) }}, nil
}

// reach dials a server that may be another process.
func reach(o options, addr string) (transport.Endpoint, error) {
	if o.transport == "ws" {
		return ws.Dial("ws://"+addr+"/", ws.Config{})
	}
	return udp.Dial(addr, udp.Config{})
}

// listenDTLS is a server, and the matchmaker who issues a ticket for each dial.
func listenDTLS(at string) (*network, error) {
	key, public := ticket.NewKey(), netip.MustParseAddrPort("127.0.0.1:27015")
	gate, err := ticket.NewGate(key, []netip.AddrPort{public}, nil)
	if err != nil {
		return nil, err
	}
	e, err := dtls.Listen(at, dtls.Config{Gate: gate})
	if err != nil {
		return nil, err
	}
	addr := e.Below().(*udp.Endpoint).LocalAddr().String()
	return &network{e, addr, func() (transport.Endpoint, error) {
		t, err := ticket.Issue(key, ticket.Claims{Expires: time.Now().Add(time.Minute), Servers: []netip.AddrPort{public}})
		if err != nil {
			return nil, err
		}
		b, err := t.MarshalBinary()
		if err != nil {
			return nil, err
		}
		return dtls.Dial(addr, dtls.Config{Ticket: b})
	}}, nil
}

// site is an endpoint whose connections come by way of a web server.
type site struct {
	*ws.Server
	web *http.Server
}

// Close implements transport.Endpoint.
func (s *site) Close(c transport.Code, detail string) error {
	_ = s.web.Close()
	return s.Server.Close(c, detail)
}

func listenWS(at string) (*network, error) {
	e, err := ws.NewServer(ws.Config{})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		_ = e.Close(transport.Closed, "")
		return nil, fmt.Errorf("ws: cannot listen: %w", err)
	}
	s := &site{e, &http.Server{Handler: e, ReadHeaderTimeout: 5 * time.Second}}
	go func() { _ = s.web.Serve(l) }()
	addr := l.Addr().String()
	return &network{s, addr, func() (transport.Endpoint, error) { return ws.Dial("ws://"+addr+"/", ws.Config{}) }}, nil
}
