package dtls

import (
	"fmt"
	"net/netip"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/udp"
)

// Listen returns a server's endpoint on a local address, such as ":27015", over package udp. With a Gate, clients
// without a valid ticket are refused before a handshake starts. It returns an error that lists all faults of the
// config, or one that says why the address is not available.
func Listen(addr string, cfg Config) (*Endpoint, error) {
	full := cfg.withDefaults()
	if err := full.validate(true); err != nil {
		return nil, err
	}
	low := full.udp()
	low.MaxPeers = full.MaxPeers + 3*full.MaxHandshakes // as many may be silent, or leaving
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

// Dial returns a client's endpoint that connects to a server over package udp. With a Ticket and an empty address, it
// dials the first server that the ticket names. It does not wait: a Connected or a Disconnected event follows. The code
// of a Disconnected event is Refused (or the code that the server's hook chose), Full, Timeout (no reply, or an
// unfinished handshake), or Unreachable (the network reports that nobody listens there). Dial returns an error for a
// faulty config, ticket or address format.
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

// WrapServer protects a server's endpoint and takes it over: the caller must not use below any more. Peers that are
// already connected must do a handshake too. below must prove its peers' addresses, as package udp does. It must also
// be sealed (udp.Config.Sealed); otherwise an attacker who reads its traffic can end connections. WrapServer returns an
// error that lists all faults of the config.
func WrapServer(below transport.Endpoint, cfg Config) (*Endpoint, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(true); err != nil {
		return nil, err
	}
	e := newEndpoint(below, cfg)
	e.startPumps()
	return e, nil
}

// WrapClient protects a client's endpoint that is dialling and has received nothing yet, and takes it over. It returns
// an error that lists all faults of the config, or one for a faulty ticket.
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
	e.startPumps()
	return e, nil
}
