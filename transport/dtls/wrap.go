package dtls

import (
	"fmt"
	"net/netip"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/udp"
)

// Listen returns a server's endpoint on a local address, such as ":27015", over package udp. With a Gate, who has no
// valid ticket is refused before a handshake begins. Errors: what is wrong with the config, all of it, or why the address
// cannot be had.
func Listen(addr string, cfg Config) (*Endpoint, error) {
	full := cfg.withDefaults()
	if err := full.validate(true); err != nil {
		return nil, err
	}
	low := full.udp()
	low.MaxPeers = full.MaxPeers + 3*full.MaxHandshakes // as many may be silent, and leave
	if g := full.Gate; g != nil {
		low.Accept = func(_ netip.AddrPort, token []byte) ([]byte, error) {
			_, _, err := g.Check(token)
			return nil, err
		}
	}
	below, err := udp.Listen(addr, low)
	if err != nil {
		return nil, err
	}
	return WrapServer(below, cfg)
}

// Dial returns a client's endpoint that connects to a server over package udp; with a Ticket and an empty address, to
// the first server that it names. It does not wait: Connected follows, or Disconnected with Refused (or the code that the
// server's hook chose), Full, Timeout when nobody answers or the handshake is not finished, or Unreachable when the
// network says that nobody is there. Errors: what is wrong with the config, the ticket or the form of the address.
func Dial(addr string, cfg Config) (*Endpoint, error) {
	full := cfg.withDefaults()
	if err := full.validate(false); err != nil {
		return nil, err
	}
	low := full.udp()
	if full.Ticket != nil {
		var t ticket.Ticket
		if err := t.UnmarshalBinary(full.Ticket); err != nil {
			return nil, fmt.Errorf("dtls: Config.Ticket: %w", err)
		}
		low.Token = t.Sealed
		if addr == "" {
			addr = t.Servers[0].String()
		}
	}
	below, err := udp.Dial(addr, low)
	if err != nil {
		return nil, err
	}
	return WrapClient(below, cfg)
}

func (c Config) udp() udp.Config {
	return udp.Config{Sealed: true, Timeout: c.Timeout, KeepAlive: c.KeepAlive, ReceiveQueue: c.ReceiveQueue,
		HelloRate: c.HelloRate, SendQueue: c.SendQueue, SocketBuffer: c.SocketBuffer, Linger: -1}
}

// WrapServer protects a server's endpoint, which is the returned one's from now on: also its peers that are connected
// already are expected to shake hands. It must prove its peers' addresses, as package udp does, and be sealed
// (udp.Config.Sealed), or who can read its traffic can end connections. Errors: what is wrong with the config, all of it.
func WrapServer(below transport.Endpoint, cfg Config) (*Endpoint, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(true); err != nil {
		return nil, err
	}
	e := newEndpoint(below, cfg)
	e.start()
	return e, nil
}

// WrapClient protects a client's endpoint that is dialling, and of which nothing was received yet. It is the returned
// one's from now on. Errors: what is wrong with the config, all of it, or with the ticket.
func WrapClient(below transport.Endpoint, cfg Config) (*Endpoint, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(false); err != nil {
		return nil, err
	}
	e := newEndpoint(below, cfg)
	if cfg.Ticket != nil {
		e.ticket = &ticket.Ticket{}
		if err := e.ticket.UnmarshalBinary(cfg.Ticket); err != nil {
			return nil, fmt.Errorf("dtls: Config.Ticket: %w", err)
		}
	}
	p := &peer{}
	p.id = e.peers.Add(p)
	p.q = e.in.Add(p.id, false)
	e.dial = p
	e.start()
	return e, nil
}
