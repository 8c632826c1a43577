package netcode

import "time"

// beforePacket is the state of the acknowledgements before the datagram just
// received.
type beforePacket struct {
	set       bool
	line, far Seq
	hunt      bool
	lineAt    time.Duration
	lineKnown bool
}

// Refuse withdraws the acknowledgement of the datagram just received, once; the
// peer then counts that packet as lost. Call it when a message of the packet is
// of no use, so that the peer does not build on it: for example a snapshot
// without its baseline. Call it before the next Receive and the next Begin.
//
// The packet's messages, reliable messages and events can still be fetched. The
// peer sends reliable data again, and the repeats are dropped as duplicates. If
// the same packet arrives again, it is accepted again.
func (c *Conn) Refuse() {
	b := c.before
	if !b.set {
		return
	}
	c.before = beforePacket{}
	c.window.unmark(c.from)
	// The window's base stays: a number that has left the window is never
	// accepted again.
	c.window.line, c.window.far, c.window.hunt = b.line, b.far, b.hunt
	c.lineAt, c.lineKnown = b.lineAt, b.lineKnown
	c.stats.Refused++
}
