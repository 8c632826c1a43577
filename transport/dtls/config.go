package dtls

import (
	"crypto/ecdsa"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ticket"
)

// Config configures an endpoint. A server sets Gate, Certificate or GetCertificate. A client sets Ticket for a server with a Gate, or
// Pins for one with a Certificate. The rest may be zero.
type Config struct {
	// Gate decides which tickets a server accepts; the ticket's secret keys the connection. A client ignores it.
	Gate *ticket.Gate

	// Certificate identifies a server; it needs an ECDSA key, see NewCertificate. Clients prove nothing except
	// through their token, which Accept judges. A client ignores it.
	Certificate *tls.Certificate

	// GetCertificate returns the certificate for the next handshake, in place of Certificate, so that a running server
	// can change it. Give the new one's pin to the clients first. An error, a nil certificate or a panic refuses that
	// client. Calls are made one at a time with those of Accept, once a handshake, and so must not block. A client
	// ignores it.
	GetCertificate func() (*tls.Certificate, error)

	// Ticket is the client's ticket, as returned by the matchmaker's Ticket.MarshalBinary. It is valid for one
	// connection. A server ignores it.
	Ticket []byte

	// Pins are the server certificates that a client accepts, regardless of their other contents. A server ignores
	// it.
	Pins []Pin

	// Token is sent by a client to the accept hook of a server with a certificate, after encryption has started. At
	// most MaxToken bytes. A server ignores it.
	Token []byte

	// Accept decides on each client that has proved its identity or, with a Certificate, sent its token. token is
	// the ticket's identity with a Gate, and the client's Token with a Certificate. With a Gate, a nil identity
	// means the ticket's. nil: everyone is accepted. A client ignores it.
	Accept transport.Accept

	// Logger logs a panic in Accept or GetCertificate, which refuses the client: one an hour of each, with its stack. A
	// client ignores it. nil: standard error.
	Logger transport.Logger

	// Same decides on a second connection of one identity, the ticket's or the one that Accept returned. 0:
	// transport.ReplaceOld. A client ignores it.
	Same transport.Same

	// MaxPeers is the most clients that a server accepts; more are refused with transport.Full. 0: 64. Negative: an
	// error. At most 32768. A client ignores it.
	MaxPeers int

	// MaxHandshakes is the most handshakes in progress at a server. Each costs three goroutines and up
	// to 64 kB, for at most ten seconds. Beyond the limit the oldest handshake is aborted. The same
	// number of connections may wait without having started a handshake. Beyond that, the server drops
	// the oldest connection of the address that has the most of them. 0: 256. Negative: an error. At
	// most 1024. A client ignores it.
	MaxHandshakes int

	// MaxHandshakesPerAddr is the most handshakes in progress from one address (IPv6: one /64). 0: 32,
	// which is also the default of server.Config.MaxWaitingPerAddress. Negative: no limit per address.
	// At most MaxHandshakes. A client ignores it.
	MaxHandshakesPerAddr int

	// HelloRate is the most hellos a second that get a reply, per address, as in udp.Config. 0: 1000.
	// Negative: no limit per address. At most 2^20. Wrap ignores it.
	HelloRate int

	// Timeout is the longest silence of a connection, or wait for a reply to a dial, before the endpoint gives up.
	// The handshake has ten more seconds, enough for round trips of two seconds. 0: 5 s. Negative: an error. 500 ms
	// to 24 h.
	Timeout time.Duration

	// KeepAlive is the time without sending to a peer, or hearing from it, after which a keep-alive is sent. 0: 1 s,
	// or a fifth of Timeout if that is less. Negative: an error, since silent connections would time out. At most
	// half of Timeout.
	KeepAlive time.Duration

	// ReceiveQueue is the most datagrams of one peer that wait for Recv; beyond it the oldest is dropped. Each takes
	// 1.3 kB. 0: 160, which is 200 kB. Negative: an error. At most 65536.
	ReceiveQueue int

	// SendQueue is the size of the socket's send buffer in bytes, as in udp.Config. 0 and negative: the system's
	// default. At most 2^30. Wrap ignores it.
	SendQueue int

	// SocketBuffer is the size of the socket's receive buffer in bytes, as in udp.Config. 0: 1 MiB. Negative: the
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

// usable reports whether a server can use a certificate.
func usable(c *tls.Certificate) bool {
	if c == nil || len(c.Certificate) == 0 {
		return false
	}
	_, ok := c.PrivateKey.(*ecdsa.PrivateKey)
	return ok
}

// validate reports every fault of a config with defaults applied.
func (c Config) validate(server bool) error {
	var errs []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("dtls: "+format, args...))
		}
	}
	ways := 0
	for _, set := range []bool{c.Gate != nil, c.Certificate != nil, c.GetCertificate != nil} {
		if set {
			ways++
		}
	}
	fault(server && ways != 1, "a server needs exactly one of Config.Gate, Certificate and GetCertificate")
	fault(!server && (c.Ticket == nil) == (c.Pins == nil), "a client needs exactly one of Config.Ticket and Config.Pins")
	if server && c.Certificate != nil {
		fault(!usable(c.Certificate), "Config.Certificate needs a certificate with an ECDSA key")
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
