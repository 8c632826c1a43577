package observe

import (
	"errors"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
)

const (
	// The observer reports unreadable snapshots once there are unreadMany of them within
	// unreadWithin. Fewer may follow from a single forged packet, which makes snapshots
	// unreadable for a round trip.
	unreadMany   = 5
	unreadWithin = 2 * time.Second
)

// unread is the report of a snapshot that was refused as malformed, once a second at most.
type unread struct {
	due   bool
	wire  uint16 // the entity that could not be read; 0: not known
	named uint16 // the entity of the last report; a further fault of it is reported at once
	count int    // snapshots that could not be read since from
	from  time.Duration
	next  time.Duration // earliest time of the next report
}

// noteRead records whether a snapshot could be read.
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

// writeReport writes a report into a packet if one is due.
func (u *unread) writeReport(pk *netcode.Packet, epoch uint8, now time.Duration) {
	if u.due && now >= u.next && pk.Message(netcode.MessageUnread, netcode.Unread{Epoch: epoch, Wire: u.wire}.Append(nil)) {
		u.due, u.next, u.named, u.count = false, now+time.Second, u.wire, 0
	}
}
