package udp

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/foretick/foretick/transport"
)

// MaxToken is the largest token, in bytes.
const MaxToken = 1024

// Config configures Listen and Dial. The zero value is good.
type Config struct {
	// MaxPeers is how many clients a server takes; further ones are refused with transport.Full. 0: 64.
	// Negative: an error. At most 65536. A client ignores it.
	MaxPeers int

	// Accept is asked about each client that has proved its address: it returns the identity that Info shall show,
	// or an error to refuse. A *transport.CloseError chooses the code, any other error refuses with
	// transport.Refused; the client is told the error's text. It is called by the goroutine that reads the socket
	// and so must not block; it may call the endpoint. token is valid during the call. A client that was refused and
	// did not hear of it asks again. nil: everyone is accepted. A client ignores it.
	Accept func(addr netip.AddrPort, token []byte) (identity []byte, err error)

	// Same is what becomes of a second connection of one identity, as Accept gave it. 0: transport.ReplaceOld. A client
	// ignores it.
	Same transport.Same

	// HelloRate is how many hellos a second of one address (IPv6: one /64) a server answers, and how many of its accept
	// hook's answers one address gets. 0: 1000. Negative: no limit for an address. At most 2^20. Raise it where all clients share an address, as behind a proxy. Whatever
	// the address, 10 000 a second are answered that prove nothing. A client ignores it.
	HelloRate int

	// Token is what the client shows to the server's accept hook, at most MaxToken bytes. It travels in the clear.
	// A server ignores it.
	Token []byte

	// Sealed says that a layer above authenticates what is sent, and says farewell itself. A close or gone from the
	// network, which who reads the traffic can forge, is then believed of a connection only after a second of silence.
	Sealed bool

	// Timeout is how long a connection may be silent, or a dial unanswered, before it is given up. 0: 5 s. Negative: an
	// error. 500 ms to 24 h.
	Timeout time.Duration

	// KeepAlive is how long an endpoint sends nothing to a peer, or hears nothing from it, before it sends a
	// keep-alive. 0: 1 s, or a fifth of Timeout if that is less. Negative: an error, as silent connections would time
	// out. At most half of Timeout.
	KeepAlive time.Duration

	// Linger is how long Close may take to tell the peers, who confirm it: it returns when all have, and tells those
	// that have not three times within Linger. What loses all three leaves the peer to its timeout. 0: 100 ms. Negative:
	// Close does not wait, and the three leave together. At most Timeout.
	Linger time.Duration

	// ReceiveQueue is how many datagrams of one peer wait for Recv before the oldest is dropped; each takes 1.3 kB.
	// 0: 160, which is 200 kB. Negative: an error. At most 65536.
	ReceiveQueue int

	// SendQueue is the size of the socket's send buffer in bytes, the only queue there is between Send and the
	// network: when it is full, Send answers transport.ErrBacklog. 0 and negative: the system's default. At most
	// 2^30.
	SendQueue int

	// SocketBuffer is the size of the socket's receive buffer in bytes, which bridges the time until the reading
	// goroutine runs. The system may grant less. 0: 1 MiB. Negative: the system's default. At most 2^30.
	SocketBuffer int
}

func (c Config) withDefaults() Config {
	set := func(v *int, to int) {
		if *v == 0 {
			*v = to
		}
	}
	set(&c.MaxPeers, 64)
	set(&c.HelloRate, 1000)
	set(&c.ReceiveQueue, 160)
	set(&c.SocketBuffer, 1<<20)
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Second
	}
	if c.KeepAlive == 0 {
		c.KeepAlive = min(time.Second, c.Timeout/5)
	}
	if c.Linger == 0 {
		c.Linger = 100 * time.Millisecond
	}
	c.Token = append([]byte(nil), c.Token...)
	return c
}

// validate reports every fault of a config whose defaults are in.
func (c Config) validate() error {
	var errs []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("udp: "+format, args...))
		}
	}
	fault(c.MaxPeers < 0 || c.MaxPeers > 1<<16, "Config.MaxPeers is %d; it may be 1 to 65536", c.MaxPeers)
	fault(c.Same > transport.AllowBoth, "Config.Same is %d; use transport.ReplaceOld, RefuseNew or AllowBoth", c.Same)
	fault(c.HelloRate > 1<<20, "Config.HelloRate is %d; it may be 1 to 1048576, or negative for no limit", c.HelloRate)
	fault(c.ReceiveQueue < 0 || c.ReceiveQueue > 1<<16, "Config.ReceiveQueue is %d; it may be 1 to 65536", c.ReceiveQueue)
	fault(c.SendQueue > 1<<30, "Config.SendQueue is %d; it may be at most 2^30", c.SendQueue)
	fault(c.SocketBuffer > 1<<30, "Config.SocketBuffer is %d; it may be at most 2^30", c.SocketBuffer)
	fault(c.Timeout < 500*time.Millisecond, "Config.Timeout is %v; it may not be under 500 ms", c.Timeout)
	fault(c.Timeout > 24*time.Hour, "Config.Timeout is %v; it may be at most 24 h", c.Timeout)
	fault(c.KeepAlive < 0 || c.KeepAlive > c.Timeout/2, "Config.KeepAlive is %v; it may be up to half of Timeout, %v, or 0 for the default",
		c.KeepAlive, c.Timeout/2)
	fault(c.Linger > c.Timeout, "Config.Linger is %v; it may be at most Timeout, %v, or negative for no wait", c.Linger, c.Timeout)
	fault(len(c.Token) > MaxToken, "Config.Token has %d bytes; it may have %d", len(c.Token), MaxToken)
	return errors.Join(errs...)
}
