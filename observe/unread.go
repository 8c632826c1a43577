package observe

import (
	"errors"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
)

// unread is the report of a snapshot that was refused as malformed, once a second at most.
type unread struct {
	due  bool
	wire uint16        // the entity at fault; 0: not known
	next time.Duration // no report before
}

// note takes the result of reading a snapshot.
func (u *unread) note(r *snapshot.Receiver, err error) {
	switch {
	case err == nil:
		u.due = false
	case errors.Is(err, snapshot.ErrMalformed) && !u.due:
		u.due, u.wire = true, uint16(r.Fault())
	}
}

// write puts a due report into a packet.
func (u *unread) write(pk *netcode.Packet, epoch uint8, now time.Duration) {
	if u.due && now >= u.next && pk.Message(netcode.MessageUnread, netcode.Unread{Epoch: epoch, Wire: u.wire}.Append(nil)) {
		u.due, u.next = false, now+time.Second
	}
}
