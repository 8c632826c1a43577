package foretick

import (
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
)

// outbox holds everything to be sent to a player.
type outbox struct {
	sender *snapshot.Sender
	long   longCounts // of the sender
	every  uint32     // ticks a snapshot
	sent   *netcode.SequenceBuffer[sentPacket]
	resent uint64 // of what this connection sent again, counted in the server's

	draft draft

	owed       bool          // a snapshot was due in an earlier tick of this Step: the packet of its last tick has one
	insisted   time.Duration // when a message last went beyond the rate; 0: never
	welcomed   bool          // the Welcome was delivered
	entered    bool          // the level's information was delivered
	epoch      uint8         // of the level that it is sent
	levels     int           // begun since it was known to be in one
	overflowed bool          // too many messages wait for it: to be dropped
}

// draft is the packet that is being built.
type draft struct {
	packet   *netcode.Packet // nil: none is
	carries  sentPacket
	due      bool // it carries a snapshot
	presses  bool // that goes beyond the rate
	snapshot []byte
	note     []byte // goes with the snapshot; empty: none
}

// noteSize returns the most bytes that the note takes of the packet.
func (d *draft) noteSize() int {
	if len(d.note) == 0 {
		return 0
	}
	return 3 + len(d.note)
}

// begin starts a packet.
func (d *draft) begin(pk *netcode.Packet, epoch uint8) {
	d.packet, d.due = pk, false
	d.carries.has, d.carries.welcome, d.carries.level, d.carries.epoch = false, false, false, epoch
}

// write puts the due snapshot into the packet, with its note.
func (d *draft) write() {
	if !d.due {
		return
	}
	if d.presses {
		d.packet.Press() // the player's own state does not wait for the rate
	}
	if len(d.note) > 0 {
		d.packet.Message(messageNote, d.note)
	}
	d.carries.has = d.packet.Message(netcode.MessageSnapshot, d.snapshot)
}

// insistEvery is the interval at which an urgent message may exceed the rate.
const insistEvery = 100 * time.Millisecond

// insist writes a message that the player needs in order to read snapshots. If the rate
// leaves no room, the message exceeds it, but not in every packet.
func (o *outbox) insist(now time.Duration, t netcode.MessageType, body []byte) bool {
	pk := o.draft.packet
	if pk.Message(t, body) {
		return true
	}
	if o.insisted != 0 && now-o.insisted < insistEvery {
		return false
	}
	o.insisted = now
	pk.Press()
	return pk.Message(t, body)
}

// reads reports whether the player can read a snapshot in the packet that is being built:
// it has the welcome and the level, or the packet carries them. Otherwise it would
// acknowledge a snapshot without reading it, and the server would use that as a baseline.
func (o *outbox) reads(level bool) bool {
	return (o.welcomed || o.draft.carries.welcome) && (!level || o.entered || o.draft.carries.level)
}

// sentPacket is the content of a packet to a client.
type sentPacket struct {
	snapshot snapshot.Sent
	has      bool
	welcome  bool
	level    bool
	epoch    uint8 // of the level that the snapshot is of
}
