package netcode

import "time"

// beforePacket is what the acknowledgements stood at before the datagram just
// received.
type beforePacket struct {
	set       bool
	line, far Seq
	hunt      bool
	lineAt    time.Duration
	lineKnown bool
}

// Refuse takes back the acknowledgement of the datagram just received, once:
// the peer then counts that packet as lost. Call it when a message of the packet
// is of no use, so that the peer does not build on it: a snapshot without its
// baseline, for example. Call it before the next Receive and the next Begin.
//
// The packet's messages, reliable messages and events can still be fetched. The
// peer repeats what must arrive, and the repetition is dropped as a duplicate. The
// same packet, received again, is taken again.
func (c *Conn) Refuse() {
	b := c.before
	if !b.set {
		return
	}
	c.before = beforePacket{}
	c.window.unmark(c.from)
	// The window's base stays: a number that has left it is never accepted again.
	c.window.line, c.window.far, c.window.hunt = b.line, b.far, b.hunt
	c.lineAt, c.lineKnown = b.lineAt, b.lineKnown
	c.stats.Refused++
}
