package main

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/multi"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/udp"
	"github.com/foretick/foretick/transport/ws"
)

// network is a server's endpoint, and a function for bots to dial it.
type network struct {
	transport.Endpoint
	addr string
	dial func() (transport.Endpoint, error)
	pin  string // the server's pin for bots in other processes; empty without dtls

	parts []*network // the parts of a server with several transports, in the order of kinds
}

// Unwrap implements transport.Wrapper.
func (n *network) Unwrap() transport.Endpoint { return n.Endpoint }

// kinds are the transports of -transport all. Bots take them in turn.
var kinds = []string{"udp", "dtls", "ws"}

// dialer returns the function with which the n-th bot dials the server.
func (n *network) dialer(bot int) func() (transport.Endpoint, error) {
	if len(n.parts) == 0 {
		return n.dial
	}
	return n.parts[bot%len(n.parts)].dial
}

// listenAll opens a server that takes players of every transport into one match.
func listenAll(o options) (*network, error) {
	all := &network{}
	var parts []transport.Endpoint
	for _, kind := range kinds {
		o.transport = kind
		n, err := listen(o, "127.0.0.1:0")
		if err != nil {
			for _, p := range parts {
				_ = p.Close(transport.Closed, "")
			}
			return nil, err
		}
		all.parts, parts = append(all.parts, n), append(parts, n.Endpoint)
	}
	var err error
	all.Endpoint, err = multi.New(parts...)
	return all, err
}

// seats returns the most clients at the same time.
func (o *options) seats() int { return max(64, o.clients) }

// listen opens a server with the transport chosen in the options.
func listen(o options, at string) (*network, error) {
	switch o.transport {
	case "all":
		return listenAll(o)
	case "dtls":
		if o.serve != "" {
			return listenPinned(o, at)
		}
		return listenDTLS(o, at)
	case "ws":
		return listenWS(o, at)
	}
	e, err := udp.Listen(at, udp.Config{MaxPeers: o.seats()})
	if err != nil {
		return nil, err
	}
	addr := e.LocalAddr().String()
	return &network{Endpoint: e, addr: addr, dial: func() (transport.Endpoint, error) { return reach(o, addr) }}, nil
}

// reach dials a server that may run in another process.
func reach(o options, addr string) (transport.Endpoint, error) {
	switch o.transport {
	case "ws":
		return ws.Dial("ws://"+addr+"/", ws.Config{})
	case "dtls":
		pin, err := o.pinned()
		if err != nil {
			return nil, err
		}
		return dtls.Dial(addr, dtls.Config{Pins: []dtls.Pin{pin}})
	}
	return udp.Dial(addr, udp.Config{})
}

// listenPinned opens a server for bots of other processes. They recognise it by its certificate,
// because this example has no separate matchmaker for tickets.
func listenPinned(o options, at string) (*network, error) {
	cert, err := dtls.NewCertificate()
	if err != nil {
		return nil, err
	}
	e, err := dtls.Listen(at, dtls.Config{Certificate: &cert, MaxPeers: o.seats()})
	if err != nil {
		return nil, err
	}
	pin := dtls.PinOf(cert)
	return &network{Endpoint: e, addr: e.LocalAddr().String(), pin: hex.EncodeToString(pin[:])}, nil
}

// pinned parses the server's pin of the command line.
func (o *options) pinned() (pin dtls.Pin, err error) {
	b, err := hex.DecodeString(o.pin)
	if err != nil || len(b) != len(pin) {
		return pin, fmt.Errorf("-pin %q: use the %d hexadecimal digits that the server printed", o.pin, 2*len(pin))
	}
	return dtls.Pin(b), nil
}

// listenDTLS opens a server, and acts as the matchmaker that issues a ticket
// for each dial.
func listenDTLS(o options, at string) (*network, error) {
	key, public := ticket.NewKey(), netip.MustParseAddrPort("127.0.0.1:27015")
	gate, err := ticket.NewGate(key, []netip.AddrPort{public}, nil)
	if err != nil {
		return nil, err
	}
	e, err := dtls.Listen(at, dtls.Config{Gate: gate, MaxPeers: o.seats()})
	if err != nil {
		return nil, err
	}
	addr := e.LocalAddr().String()
	return &network{Endpoint: e, addr: addr, dial: func() (transport.Endpoint, error) {
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

func listenWS(o options, at string) (*network, error) {
	e, err := ws.Listen(at, ws.Config{MaxPeers: o.seats()})
	if err != nil {
		return nil, err
	}
	addr := e.LocalAddr().String()
	return &network{Endpoint: e, addr: addr, dial: func() (transport.Endpoint, error) { return ws.Dial("ws://"+addr+"/", ws.Config{}) }}, nil
}
