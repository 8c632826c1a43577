package dtls

import (
	"crypto/ecdsa"
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ticket"
)

// Config configures an endpoint. A server sets Gate or Certificate, a client Ticket or Pins, and the two ends the
// matching one; the rest may be zero.
type Config struct {
	// Gate decides which tickets a server lets in: the connection is keyed by the ticket's secret. A client ignores it.
	Gate *ticket.Gate

	// Certificate is what a server is known by, with an ECDSA key; see NewCertificate. Clients prove nothing but what
	// Accept makes of their token. A client ignores it.
	Certificate *tls.Certificate

	// Ticket is a client's: what the matchmaker's Ticket.MarshalBinary returned. It is good for one connection. A server
	// ignores it.
	Ticket []byte

	// Pins are the certificates that a client takes for the server's, whatever else they say. A server ignores it.
	Pins []Pin

	// Token is what a client of a server with a certificate shows to its accept hook, once nobody can listen. At most
	// MaxToken bytes. A server ignores it.
	Token []byte

	// Accept is asked about each client that proved who it is, or with a Certificate, showed its token: it returns the
	// identity that Info shall show, or an error to refuse. A *transport.CloseError chooses the code, any other error
	// refuses with transport.Refused; the client is told the error's text. token is the ticket's identity with a Gate,
	// and the client's Token with a Certificate; it is valid during the call. With a Gate a nil identity stands for the
	// ticket's. Calls are made one at a time, and so must not block. nil: everyone is accepted. A client ignores it.
	Accept func(addr netip.AddrPort, token []byte) (identity []byte, err error)

	// Same is what becomes of a second connection of one identity: the ticket's, or what Accept made of it. 0:
	// transport.ReplaceOld. A client ignores it.
	Same transport.Same

	// MaxPeers is how many clients a server takes; further ones are refused with transport.Full. 0: 64.
	// Negative: an error. At most 32768. A client ignores it.
	MaxPeers int

	// MaxHandshakes is how many handshakes a server has under way; each costs three goroutines and 64 kB at most, for
	// ten seconds at most. When there would be more, the oldest is broken off. As many connections may have begun none
	// yet; of those the oldest of the address that has the most is broken off. 0: 256. Negative: an error. At most
	// 1024. A client ignores it.
	MaxHandshakes int

	// MaxHandshakesPerAddr is how many of those may be of one address (IPv6: one /64). 0: 32, as many connections as a
	// server of the root package lets wait for an address. Negative: no limit for an address. At most MaxHandshakes. A
	// client ignores it.
	MaxHandshakesPerAddr int

	// HelloRate is how many hellos a second of one address are answered, as udp.Config has it. 0: 1000. Negative: no
	// limit for an address. At most 2^20. Wrap ignores it.
	HelloRate int

	// Timeout is how long a connection may be silent, or a dial unanswered, before it is given up; the handshake has ten
	// seconds more, enough for round trips of two. 0: 5 s. Negative: an error. 500 ms to 24 h.
	Timeout time.Duration

	// KeepAlive is how long an endpoint sends nothing to a peer, or hears nothing from it, before it sends a
	// keep-alive. 0: 1 s, or a fifth of Timeout if that is less. Negative: an error, as silent connections would time
	// out. At most half of Timeout.
	KeepAlive time.Duration

	// ReceiveQueue is how many datagrams of one peer wait for Recv before the oldest is dropped; each takes 1.3 kB.
	// 0: 160, which is 200 kB. Negative: an error. At most 65536.
	ReceiveQueue int

	// SendQueue is the size of the socket's send buffer in bytes, as udp.Config has it. 0 and negative: the system's
	// default. At most 2^30. Wrap ignores it.
	SendQueue int

	// SocketBuffer is the size of the socket's receive buffer in bytes, as udp.Config has it. 0: 1 MiB. Negative: the
	// system's default. At most 2^30. Wrap ignores it.
	SocketBuffer int
}

func (c Config) withDefaults() Config {
	set := func(v *int, to int) {
		if *v == 0 {
			*v = to
		}
	}
	set(&c.MaxPeers, 64)
	set(&c.MaxHandshakes, 256)
	set(&c.MaxHandshakesPerAddr, min(32, c.MaxHandshakes))
	set(&c.ReceiveQueue, 160)
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Second
	}
	if c.KeepAlive == 0 {
		c.KeepAlive = min(time.Second, c.Timeout/5)
	}
	c.Token = append([]byte(nil), c.Token...)
	c.Pins = append([]Pin(nil), c.Pins...)
	return c
}

// validate reports every fault of a config whose defaults are in.
func (c Config) validate(server bool) error {
	var errs []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("dtls: "+format, args...))
		}
	}
	fault(server && (c.Gate == nil) == (c.Certificate == nil), "a server needs Config.Gate or Config.Certificate, one of them")
	fault(!server && (c.Ticket == nil) == (c.Pins == nil), "a client needs Config.Ticket or Config.Pins, one of them")
	if server && c.Certificate != nil {
		_, ok := c.Certificate.PrivateKey.(*ecdsa.PrivateKey)
		fault(!ok || len(c.Certificate.Certificate) == 0, "Config.Certificate needs a certificate with an ECDSA key")
	}
	fault(c.Same > transport.AllowBoth, "Config.Same is %d; use transport.ReplaceOld, RefuseNew or AllowBoth", c.Same)
	fault(c.MaxPeers < 0 || c.MaxPeers > 1<<15, "Config.MaxPeers is %d; it may be 1 to 32768", c.MaxPeers)
	fault(c.MaxHandshakes < 0 || c.MaxHandshakes > 1024, "Config.MaxHandshakes is %d; it may be 1 to 1024", c.MaxHandshakes)
	fault(c.MaxHandshakesPerAddr > c.MaxHandshakes && c.MaxHandshakesPerAddr > 0,
		"Config.MaxHandshakesPerAddr is %d; it may be 1 to MaxHandshakes, %d, or negative for no limit", c.MaxHandshakesPerAddr, c.MaxHandshakes)
	fault(c.HelloRate > 1<<20, "Config.HelloRate is %d; it may be 1 to 1048576, or negative for no limit", c.HelloRate)
	fault(c.ReceiveQueue < 0 || c.ReceiveQueue > 1<<16, "Config.ReceiveQueue is %d; it may be 1 to 65536", c.ReceiveQueue)
	fault(c.SendQueue > 1<<30, "Config.SendQueue is %d; it may be at most 2^30", c.SendQueue)
	fault(c.SocketBuffer > 1<<30, "Config.SocketBuffer is %d; it may be at most 2^30", c.SocketBuffer)
	fault(c.Timeout < 500*time.Millisecond, "Config.Timeout is %v; it may not be under 500 ms", c.Timeout)
	fault(c.Timeout > 24*time.Hour, "Config.Timeout is %v; it may be at most 24 h", c.Timeout)
	fault(c.KeepAlive < 0 || c.KeepAlive > c.Timeout/2, "Config.KeepAlive is %v; it may be up to half of Timeout, %v, or 0 for the default",
		c.KeepAlive, c.Timeout/2)
	fault(len(c.Token) > MaxToken, "Config.Token has %d bytes; it may have %d", len(c.Token), MaxToken)
	return errors.Join(errs...)
}
