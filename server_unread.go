package foretick

import (
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
)

// takeUnread takes a player's report of a snapshot that it refused as malformed. All
// entities are sent in full, without the one that the report names, which is tried again
// after 1, 2, 4 s and so on. A report that is not true gains nothing: see playerUnread.
func (s *Server) takeUnread(p *player, body []byte, b []byte) error {
	var u netcode.Unread
	err := s.decode(p, b, func() (err error) { u, err = netcode.ParseUnread(body); return err })
	if err != nil || p.session.poisoned {
		return err
	}
	t, rate, sender := s.sim.frame.Tick, s.p.TickRate, p.outbox.sender
	if p.session.state != playing && p.session.state != watching || sender == nil || u.Epoch != s.level.epoch || p.unread.early(t, rate) {
		return nil
	}
	s.stats.SnapshotsUnread++
	p.stats.SnapshotsUnread++
	p.unread.last = t
	line := p.who()
	line, again := append(line, "tick", t), false
	if id, ok := sender.Named(schema.WireID(u.Wire)); ok {
		seconds, first := p.unread.leaveOut(id, sender, t, rate)
		line, again = append(line, "entity", uint32(id), "left_out_s", seconds), !first
	}
	if !again { // else nothing but the entity that was tried again is at fault
		p.unread.restart(sender)
	}
	s.logs.Logger.Warn("a client could not read a snapshot", line...)
	return nil
}
