package foretick

import (
	"errors"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

const (
	// unreadEvery is the least time between two reports of snapshots that could not be read.
	unreadEvery = time.Second
	// unreadMany is how many snapshots could not be read within unreadWithin before the client
	// reports it: a snapshot that somebody forged makes the next ones unreadable for a round
	// trip, which needs no report. An entity that was reported before is reported at once.
	unreadMany   = 5
	unreadWithin = 2 * time.Second
)

// clientUnread is the report of snapshots that the client refused as malformed. The server
// then sends all entities in full, without the one that is named. Until a report arrives it
// sends more snapshots that cannot be read, and the client reports one of those.
type clientUnread struct {
	due   bool
	wire  schema.WireID // the entity at fault; 0: not known
	named schema.WireID // the entity of the last report
	count int           // snapshots that could not be read since from
	from  time.Duration
	said  time.Duration // when the last report was sent
	any   bool          // there was one
}

// note takes the error of a snapshot.
func (u *clientUnread) note(c *Client, err error) {
	if !errors.Is(err, snapshot.ErrMalformed) {
		return
	}
	c.stats.SnapshotsUnread++
	c.view.Unread = true
	if u.count == 0 || c.now-u.from > unreadWithin {
		u.count, u.from = 0, c.now
	}
	u.count++
	wire := c.ghosts.receiver.Fault()
	again := u.any && wire != 0 && wire == u.named
	if u.due || u.count < unreadMany && !again {
		return
	}
	u.due, u.wire = true, wire
	if u.ready(c.now) {
		c.cfg.Logger.Warn("a snapshot could not be read, the server is told to leave the entity out", append(c.link.who(), "entity", u.wire, "err", err)...)
	}
}

// ready reports whether a report may be sent.
func (u *clientUnread) ready(now time.Duration) bool { return !u.any || now-u.said >= unreadEvery }

// write puts a due report into a packet.
func (u *clientUnread) write(l *link, pk *netcode.Packet) {
	if !u.due || !u.ready(l.now) {
		return
	}
	l.scratch = netcode.Unread{Epoch: l.level.epoch, Wire: uint16(u.wire)}.Append(l.scratch[:0])
	if pk.Message(netcode.MessageUnread, l.scratch) {
		u.due, u.any, u.said, u.named, u.count = false, true, l.now, u.wire, 0
	}
}

// read notes that a snapshot was read.
func (u *clientUnread) read(c *Client) { u.due, c.view.Unread = false, false }
