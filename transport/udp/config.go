package udp

import (
	"errors"
	"fmt"
	"time"

	"github.com/foretick/foretick/transport"
)

// MaxToken is the largest token, in bytes.
const MaxToken = 1024

// Config configures Listen and Dial. The zero value is ready to use.
type Config struct {
	// MaxPeers is the most clients that a server accepts; more are refused with transport.Full. 0: 64. Negative: an
	// error. At most 65536. A client ignores it.
	MaxPeers int

	// Accept decides on each client that has proved its address. The goroutine that reads the socket calls it. A
	// refused client that missed the refusal asks again. nil: everyone is accepted. A client ignores it.
	Accept transport.Accept

	// Logger logs a panic in Accept, which refuses the client: one an hour, with its stack. A client ignores it.
	// nil: standard error.
	Logger transport.Logger

	// Same decides on a second connection of one identity, as returned by Accept. 0: transport.ReplaceOld. A client
	// ignores it.
	Same transport.Same

	// HelloRate is the most hellos a second that get a reply, per address (IPv6: one /64); it also limits the calls
	// of the accept hook per address. 0: 1000. Negative: no limit per address. At most 2^20. Raise it if all clients
	// share an address, for example that of a proxy. Independent of the address, at most 10 000 a second that prove
	// nothing get a reply. A client ignores it.
	HelloRate int

	// Token is sent by the client to the server's accept hook, at most MaxToken bytes. It is not encrypted. A server
	// ignores it.
	Token []byte

	// Sealed says that a layer above authenticates datagrams and signals the end of connections itself. An attacker
	// who reads the traffic can forge a close or gone message. With Sealed, such a message ends a connection only
	// after a second of silence.
	Sealed bool

	// Timeout is the longest silence of a connection, or wait for a reply to a dial, before the endpoint gives up.
	// 0: 5 s. Negative: an error. 500 ms to 24 h.
	Timeout time.Duration

	// KeepAlive is the time without sending to a peer, or hearing from it, after which a keep-alive is sent. 0: 1 s,
	// or a fifth of Timeout if that is less. Negative: an error, since silent connections would time out. At most
	// half of Timeout.
	KeepAlive time.Duration

	// Linger is the longest time that Close takes to notify the peers, who confirm it. Close returns when all have
	// confirmed; it notifies the others three times within Linger. A peer that misses all three runs into its
	// timeout. 0: 100 ms. Negative: Close does not wait, and sends all three at once. At most Timeout.
	Linger time.Duration

	// ReceiveQueue is the most datagrams of one peer that wait for Recv; beyond it the oldest is dropped. Each takes
	// 1.3 kB. 0: 160, which is 200 kB. Negative: an error. At most 65536.
	ReceiveQueue int

	// SendQueue is the size of the socket's send buffer in bytes. It is the only queue between Send and the network:
	// when it is full, Send returns transport.ErrBacklog. 0 and negative: the system's default. At most 2^30.
	SendQueue int

	// Batch is the most datagrams that one system call of a server reads or sends, for a process with
	// hundreds of clients. Datagrams then wait until Flush, until Batch of them wait, or for 50 ms. The
	// reading goroutine pauses for a millisecond each time it has emptied the socket. If the send
	// buffer is full, the datagrams that wait are dropped and counted as Backlog. 0 and 1: each
	// datagram has a call of its own, at once. Negative: an error. At most 1024. It has an effect on
	// Linux on amd64 and arm64 only. A client ignores it.
	Batch int

	// SocketBuffer is the size of the socket's receive buffer in bytes. It holds datagrams until the reading
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

// validate reports every fault of a config with defaults applied.
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
	fault(c.Batch < 0 || c.Batch > mostBatch, "Config.Batch is %d; it may be 0 to %d", c.Batch, mostBatch)
	fault(c.SocketBuffer > 1<<30, "Config.SocketBuffer is %d; it may be at most 2^30", c.SocketBuffer)
	fault(c.Timeout < 500*time.Millisecond, "Config.Timeout is %v; it may not be under 500 ms", c.Timeout)
	fault(c.Timeout > 24*time.Hour, "Config.Timeout is %v; it may be at most 24 h", c.Timeout)
	fault(c.KeepAlive < 0 || c.KeepAlive > c.Timeout/2, "Config.KeepAlive is %v; it may be up to half of Timeout, %v, or 0 for the default",
		c.KeepAlive, c.Timeout/2)
	fault(c.Linger > c.Timeout, "Config.Linger is %v; it may be at most Timeout, %v, or negative for no wait", c.Linger, c.Timeout)
	fault(len(c.Token) > MaxToken, "Config.Token has %d bytes; it may have %d", len(c.Token), MaxToken)
	return errors.Join(errs...)
}
