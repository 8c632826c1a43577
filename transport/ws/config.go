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

// Config configures NewServer and Dial. The zero value is ready to use.
type Config struct {
	// MaxPeers is the most clients that a server accepts; more are refused with transport.Full. 0: 64. Negative: an
	// error. At most 65536. A client ignores it.
	MaxPeers int

	// MaxPending is the most open connections of a server that have not sent their hello. Beyond it,
	// the server drops the oldest connection of the address that has the most of them. Listen limits
	// connections without a complete HTTP request to the same number, and counts them separately. 0:
	// 256. Negative: an error. At most 65536. A client ignores it.
	MaxPending int

	// MaxPendingPerAddr is the most connections without a hello from one address (IPv6: one /64). More
	// are refused with HTTP status 429. Behind a reverse proxy set ClientAddr, or all clients share one
	// address. 0: 32, which is also the default of server.Config.MaxWaitingPerAddress. Negative: no
	// limit per address. At most MaxPending. A client ignores it.
	MaxPendingPerAddr int

	// MaxConns is the most open connections in any state: playing, silent or closing; with Listen also
	// those without a complete HTTP request. At the limit, a new connection takes the place of one that
	// is not playing, or is refused. 0: twice MaxPeers + MaxPending. Negative: no limit. At least
	// MaxPeers + 1, at most 2^20. A client ignores it.
	MaxConns int

	// ControlRate is the most pings, pongs and keep-alives a second from a peer. A peer that exceeds it by more than
	// two seconds' worth is dropped with transport.Protocol. An honest peer sends at most 30, and most send one. 0:
	// 100. Negative: no limit. At most 2^20. A client applies it to its server; in a browser only to keep-alives.
	ControlRate int

	// ClientAddr returns the address of the client that sent a request. Use it for servers behind a reverse proxy,
	// where every request comes from the proxy's address. The limits per address, Accept, Info.Addr and the server's
	// logs use the result. Trust a header only in requests from the proxy, since anybody else can write anything into
	// one. For an invalid AddrPort, http.Request.RemoteAddr is used instead; the port may be 0. Many goroutines call
	// it concurrently. nil: RemoteAddr. A client ignores it.
	ClientAddr func(r *Request) netip.AddrPort

	// Accept decides on each client that has sent its token. addr is the result of ClientAddr, or
	// http.Request.RemoteAddr; the zero AddrPort if neither is an address. A client that waits for its call is
	// pending. nil: everyone is accepted. A client ignores it.
	Accept transport.Accept

	// Logger logs a panic in Accept, which refuses the client, and errors with which Listen cannot
	// accept connections: one line an hour of each. A client ignores it. nil: standard error.
	Logger transport.Logger

	// Same decides on a second connection of one identity, as returned by Accept. 0: transport.ReplaceOld. A client
	// ignores it.
	Same transport.Same

	// Origins lists the host patterns of pages whose scripts may connect, besides pages of the server's own host.
	// Patterns are as in path.Match, case-insensitive, and "scheme://host" if they include a scheme. nil: only the
	// server's own host. Clients that are not browsers send no origin and may always connect. A client ignores it.
	Origins []string

	// AnyOrigin lets the scripts of any page connect. That is safe because the token, not a cookie, identifies a
	// client, unless the accept hook trusts something else. A client ignores it.
	AnyOrigin bool

	// Token is sent by the client to the server's accept hook, at most MaxToken bytes. It is sent inside the
	// connection, not in the URL. A server ignores it.
	Token []byte

	// Timeout is the longest silence of a connection, or the longest time that it takes no data, before it is
	// dropped. A dial has twice that for TCP, TLS and HTTP, which take a round trip each, and then Timeout for the
	// server's reply to its token. 0: 5 s. Negative: an error. 500 ms to 24 h.
	Timeout time.Duration

	// KeepAlive is the time without sending to a peer, or hearing from it, after which a keep-alive is sent. 0: 1 s,
	// or a fifth of Timeout if that is less. Negative: an error, since silent connections would time out. At most
	// half of Timeout.
	KeepAlive time.Duration

	// ReceiveQueue is the most datagrams of one peer that wait for Recv; beyond it the oldest is dropped. Each takes
	// 1.3 kB. 0: 160, which is 200 kB. Negative: an error. At most 65536.
	ReceiveQueue int

	// SendQueue is the most bytes of datagrams to one peer that wait for the connection; beyond it the oldest
	// datagram is dropped. Only datagrams sent between two calls of Flush wait together. 0: 128 KiB. Negative: an
	// error. 4 KiB to 1 GiB.
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

// validate reports every fault of a config with defaults applied.
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
