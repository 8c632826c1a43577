package observe

import (
	"errors"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
)

const (
	// unreadMany is how many snapshots could not be read within unreadWithin before the
	// observer reports it: a forged one makes the next unreadable for a round trip.
	unreadMany   = 5
	unreadWithin = 2 * time.Second
)

// unread is the report of a snapshot that was refused as malformed, once a second at most.
type unread struct {
	due   bool
	wire  uint16 // the entity at fault; 0: not known
	named uint16 // the entity of the last report: it is reported at once
	count int    // snapshots that could not be read since from
	from  time.Duration
	next  time.Duration // no report before
}

// noteRead takes the result of reading a snapshot.
func (u *unread) noteRead(r *snapshot.Receiver, err error, now time.Duration) {
	switch {
	case err == nil:
		u.due = false
	case errors.Is(err, snapshot.ErrMalformed):
		if u.count == 0 || now-u.from > unreadWithin {
			u.count, u.from = 0, now
		}
		u.count++
		wire := uint16(r.Fault())
		if !u.due && (u.count >= unreadMany || wire != 0 && wire == u.named) {
			u.due, u.wire = true, wire
		}
	}
}

// writeReport puts a due report into a packet.
func (u *unread) writeReport(pk *netcode.Packet, epoch uint8, now time.Duration) {
	if u.due && now >= u.next && pk.Message(netcode.MessageUnread, netcode.Unread{Epoch: epoch, Wire: u.wire}.Append(nil)) {
		u.due, u.next, u.named, u.count = false, now+time.Second, u.wire, 0
	}
}
