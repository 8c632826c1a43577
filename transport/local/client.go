package local

import (
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/inbox"
)

// serverID is the server's PeerID at every client.
var serverID = transport.MakePeerID(0, 1)

// client is the endpoint that Dial returns. The host's lock guards it.
type client struct {
	conn   *conn
	in     *inbox.Inbox
	queue  *inbox.Queue
	stats  transport.Stats
	open   bool
	closed bool
}

// refused ends the connection, or the dial, from the server's side.
func (c *client) refused(code transport.Code, reason string) {
	c.open = false
	c.in.End(c.queue, code, transport.CutReason(reason))
}

func (c *client) Recv(ev []transport.Event) int {
	c.conn.host.mu.Lock()
	defer c.conn.host.mu.Unlock()
	if c.closed {
		return 0
	}
	return c.in.Recv(ev)
}

func (c *client) Ready() <-chan struct{} { return c.in.Ready() }

func (c *client) Send(p transport.PeerID, b []byte) error {
	c.conn.host.mu.Lock()
	defer c.conn.host.mu.Unlock()
	switch {
	case c.closed:
		return transport.ErrClosed
	case !c.open || p != serverID:
		return transport.ErrNoPeer
	}
	return pass(b, &c.stats, c.conn.host.in, c.conn.queue, &c.conn.stats)
}

func (c *client) Flush() {}

func (c *client) Disconnect(p transport.PeerID, code transport.Code, reason string) {
	c.conn.host.mu.Lock()
	defer c.conn.host.mu.Unlock()
	if p == serverID {
		c.endConnection(code, reason)
	}
}

// endConnection ends the connection from the client's side.
func (c *client) endConnection(code transport.Code, reason string) {
	if !c.open {
		return
	}
	h := c.conn.host
	c.open = false
	c.in.Drop(c.queue)
	h.peers.Remove(c.conn.id)
	h.in.End(c.conn.queue, code, transport.CutReason(reason))
}

func (c *client) Info(p transport.PeerID, out *transport.Info) bool {
	c.conn.host.mu.Lock()
	defer c.conn.host.mu.Unlock()
	if !c.open || p != serverID {
		return false
	}
	*out = transport.Info{Addr: "local", MTU: transport.MaxDatagram, Secure: true, Ordered: true, Stats: c.stats}
	return true
}

func (c *client) Close(code transport.Code, reason string) error {
	c.conn.host.mu.Lock()
	defer c.conn.host.mu.Unlock()
	if c.closed {
		return transport.ErrClosed
	}
	c.endConnection(code, reason)
	c.closed = true
	return nil
}
