package foretick

import (
	"errors"
	"time"

	"github.com/foretick/foretick/netcode"
)

// Limits for a client. An honest client stays within them on any network: lost, doubled,
// delayed and damaged packets never count against a peer.
const (
	faultWindow   = time.Second
	maxFaults     = 8   // in a window; more end the connection
	mostMessages  = 16  // in a packet; an honest one has six at most
	packetsTick   = 4   // for each tick of a window …
	packetsSpare  = 64  // … and beyond
	farPerTick    = 100 // commands too far in the future in a window, for each tick of a second
	commandBodies = 1   // in a packet

	mostBlank = 16          // snapshots in a row lost, while packets without one arrive, by a network
	distant   = time.Minute // a command so far ahead is no honest one, unless the server stood still
)

// peerFaults counts a peer's recent faults.
type peerFaults struct {
	window  time.Duration // when it began
	faults  int
	packets int
	far     uint64        // commands, as of the window's beginning
	news    time.Duration // when an acknowledgement last told something new
	why     string        // the last fault
	blank   blank
}

// blank counts packets since a snapshot was last acknowledged.
type blank struct {
	since time.Duration // when that was
	lost  int           // snapshots lost since
	plain int           // packets without one acknowledged since
}

// note counts the fate of a packet to the peer.
func (b *blank) note(t time.Duration, snapshot, delivered bool) {
	switch {
	case snapshot && delivered:
		*b = blank{since: t}
	case snapshot:
		b.lost++
	case delivered:
		b.plain++
	}
}

// on reports whether a peer deliberately acknowledges packets, but none with a snapshot. A
// network loses 16 snapshots in a row only together with the packets around them.
func (b *blank) on(t, timeout time.Duration, every uint32) bool {
	return t-b.since > timeout && b.lost >= mostBlank && b.plain >= mostBlank+4*int(every)
}

// roll begins a new window when the old one is over. The window begins at the server's Step
// before, since the packets that arrived since then waited for this Step.
func (c *peerFaults) roll(t, before time.Duration, far uint64) {
	if t-c.window >= faultWindow {
		c.window, c.faults, c.packets, c.far = before, 0, 0, far
	}
}

func (c *peerFaults) fault(why string) { c.faults, c.why = c.faults+1, why }

// received judges a datagram by the connection's error.
func (c *peerFaults) received(err error) {
	switch {
	case err == nil, errors.Is(err, netcode.ErrGap): // a flood of either costs the same
		c.packets++
	case errors.Is(err, netcode.ErrChecksum), errors.Is(err, netcode.ErrDuplicate):
		// Caused by the network, or by another peer.
	case errors.Is(err, netcode.ErrStale):
		c.fault("a sequence number that is far away")
	case errors.Is(err, netcode.ErrBacklog):
		c.fault("fragments beyond the window")
	default:
		c.fault(err.Error())
	}
}

// far returns the number of the player's commands that were for too far in the future.
func (p *player) far() uint64 {
	if p.inputs.buffer == nil {
		return 0
	}
	_, _, far, _ := p.inputs.buffer.Stats()
	return far
}
