package main

import (
	"encoding/hex"
	"fmt"
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
	pin  string // what bots of other processes know the server by; empty without dtls
}

// seats is how many may play at once: all bots, or whoever comes.
func (o *options) seats() int { return max(64, o.clients) }

// listen opens a server by the transport that the options ask for.
func listen(o options, at string) (*network, error) {
	switch o.transport {
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

// reach dials a server that may be another process.
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

// listenPinned is a server for other processes, which know it by its
// certificate: there is no matchmaker here that they could ask for a ticket.
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
	return &network{Endpoint: e, addr: e.Below().(*udp.Endpoint).LocalAddr().String(), pin: hex.EncodeToString(pin[:])}, nil
}

// pinned is the server's pin, as it was typed.
func (o *options) pinned() (pin dtls.Pin, err error) {
	b, err := hex.DecodeString(o.pin)
	if err != nil || len(b) != len(pin) {
		return pin, fmt.Errorf("-pin %q: use the %d hexadecimal digits that the server printed", o.pin, 2*len(pin))
	}
	return dtls.Pin(b), nil
}

// listenDTLS is a server, and the matchmaker who issues a ticket for each dial.
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
	addr := e.Below().(*udp.Endpoint).LocalAddr().String()
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
