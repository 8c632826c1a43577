package ws

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/foretick/foretick/transport"
)

// MaxToken is the largest token, in bytes.
const MaxToken = 1024

// Config configures NewServer and Dial. The zero value is good.
type Config struct {
	// MaxPeers is how many clients a server takes; further ones are refused with transport.Full. 0: 64.
	// Negative: an error. At most 65536. A client ignores it.
	MaxPeers int

	// MaxPending is how many connections of a server may be open without having said who they are. When there are more,
	// the oldest of the address that has the most of them is cut off. Listen holds those apart, and as many, that have
	// sent no whole HTTP request. 0: 256. Negative: an error. At most 65536. A client ignores it.
	MaxPending int

	// MaxPendingPerAddr is how many of those may come from one address (IPv6: one /64); further ones are answered with
	// HTTP status 429. Behind a reverse proxy set ClientAddr, or all clients share one address. 0: 32, as many connections
	// as a server of the root package lets wait for an address. Negative: no limit for an address. At most MaxPending. A
	// client ignores it.
	MaxPendingPerAddr int

	// MaxConns is how many connections may be open at once, whatever they do: play, say nothing, or say goodbye; with
	// Listen also those that have sent no whole HTTP request. At the limit a new connection displaces one that is not
	// playing, or is turned away. 0: twice MaxPeers + MaxPending. Negative: no limit.
	// At least MaxPeers + 1, at most 2^20. A client ignores it.
	MaxConns int

	// ControlRate is how many pings, pongs and keep-alives a second a peer may send. A peer that sends more for longer
	// than two seconds' worth is dropped with transport.Protocol. An honest peer sends 30 at most, and most send one.
	// 0: 100. Negative: no limit. At most 2^20. A client applies it to its server; in a browser to keep-alives only.
	ControlRate int

	// ClientAddr returns the address of the client that sent a request, for servers behind a reverse proxy, where every
	// request comes from the proxy's. The limits by address, Accept and Info.Addr use it, and so do the server's logs.
	// It must believe a header only in requests that come from the proxy: anybody else can write what it likes into
	// one. An AddrPort that is not valid stands for http.Request.RemoteAddr; the port may be 0. It is called by many
	// goroutines at once. nil: RemoteAddr. A client ignores it.
	ClientAddr func(r *Request) netip.AddrPort

	// Accept is asked about each client once its token is there: it returns the identity that Info shall show, or an
	// error to refuse. A *transport.CloseError chooses the code, any other error refuses with transport.Refused; the
	// client is told the error's text. addr is what ClientAddr says, or http.Request.RemoteAddr; the zero AddrPort if that
	// is none. Calls are made one at a time, and so must not block; who waits for its call is pending. token is valid
	// during the call. nil: everyone is accepted. A client ignores it.
	Accept func(addr netip.AddrPort, token []byte) (identity []byte, err error)

	// Same is what becomes of a second connection of one identity, as Accept gave it. 0: transport.ReplaceOld. A client
	// ignores it.
	Same transport.Same

	// Origins are the host patterns (path.Match, in any case, "scheme://host" if the pattern has a scheme) of the pages
	// whose scripts may connect, besides pages of the server's own host. nil: those only. What is no browser sends no
	// origin and may connect always. A client ignores it.
	Origins []string

	// AnyOrigin lets the scripts of any page connect. As the token, not a cookie, says who a client is, that is safe
	// unless the accept hook trusts something else. A client ignores it.
	AnyOrigin bool

	// Token is what the client shows to the server's accept hook, at most MaxToken bytes. It travels inside the
	// connection, not in the URL. A server ignores it.
	Token []byte

	// Timeout is how long a connection may be silent, or may not take what it is sent, before it is given up. A dial has
	// twice that for TCP, TLS and HTTP, each of which takes a round trip, and Timeout for the server's answer to its
	// token. 0: 5 s. Negative: an error. 500 ms to 24 h.
	Timeout time.Duration

	// KeepAlive is how long an endpoint sends nothing to a peer, or hears nothing from it, before it sends a
	// keep-alive. 0: 1 s, or a fifth of Timeout if that is less. Negative: an error, as silent connections would time
	// out. At most half of Timeout.
	KeepAlive time.Duration

	// ReceiveQueue is how many datagrams of one peer wait for Recv before the oldest is dropped; each takes 1.3 kB.
	// 0: 160, which is 200 kB. Negative: an error. At most 65536.
	ReceiveQueue int

	// SendQueue is how many bytes of datagrams to one peer wait for the connection to take them before the oldest is
	// dropped. 0: 128 KiB. Negative: an error. 4 KiB to 1 GiB.
	SendQueue int
}

func (c Config) withDefaults() Config {
	set := func(v *int, to int) {
		if *v == 0 {
			*v = to
		}
	}
	set(&c.MaxPeers, 64)
	set(&c.MaxPending, 256)
	set(&c.MaxPendingPerAddr, min(32, c.MaxPending))
	set(&c.MaxConns, 2*(c.MaxPeers+c.MaxPending))
	set(&c.ControlRate, 100)
	set(&c.ReceiveQueue, 160)
	set(&c.SendQueue, 128<<10)
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Second
	}
	if c.KeepAlive == 0 {
		c.KeepAlive = min(time.Second, c.Timeout/5)
	}
	c.Token = append([]byte(nil), c.Token...)
	c.Origins = append([]string(nil), c.Origins...)
	return c
}

// validate reports every fault of a config whose defaults are in.
func (c Config) validate() error {
	var errs []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("ws: "+format, args...))
		}
	}
	fault(c.MaxPeers < 0 || c.MaxPeers > 1<<16, "Config.MaxPeers is %d; it may be 1 to 65536", c.MaxPeers)
	fault(c.MaxPending < 0 || c.MaxPending > 1<<16, "Config.MaxPending is %d; it may be 1 to 65536", c.MaxPending)
	fault(c.MaxPendingPerAddr > c.MaxPending && c.MaxPendingPerAddr > 0,
		"Config.MaxPendingPerAddr is %d; it may be 1 to MaxPending, %d, or negative for no limit", c.MaxPendingPerAddr, c.MaxPending)
	fault(c.MaxConns > 1<<20 || c.MaxConns > 0 && c.MaxConns <= c.MaxPeers,
		"Config.MaxConns is %d; it may be MaxPeers + 1, %d, to 2^20, or negative for no limit", c.MaxConns, c.MaxPeers+1)
	fault(c.ControlRate > 1<<20, "Config.ControlRate is %d; it may be 1 to 2^20, or negative for no limit", c.ControlRate)
	fault(c.Same > transport.AllowBoth, "Config.Same is %d; use transport.ReplaceOld, RefuseNew or AllowBoth", c.Same)
	fault(c.ReceiveQueue < 0 || c.ReceiveQueue > 1<<16, "Config.ReceiveQueue is %d; it may be 1 to 65536", c.ReceiveQueue)
	fault(c.SendQueue < 4<<10 || c.SendQueue > 1<<30, "Config.SendQueue is %d; it may be 4096 to 2^30", c.SendQueue)
	fault(c.Timeout < 500*time.Millisecond, "Config.Timeout is %v; it may not be under 500 ms", c.Timeout)
	fault(c.Timeout > 24*time.Hour, "Config.Timeout is %v; it may be at most 24 h", c.Timeout)
	fault(c.KeepAlive < 0 || c.KeepAlive > c.Timeout/2, "Config.KeepAlive is %v; it may be up to half of Timeout, %v, or 0 for the default",
		c.KeepAlive, c.Timeout/2)
	fault(len(c.Token) > MaxToken, "Config.Token has %d bytes; it may have %d", len(c.Token), MaxToken)
	return errors.Join(errs...)
}
