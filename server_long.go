package foretick

import "github.com/foretick/foretick/snapshot"

// longCounts is what was counted so far of a sender's long records, and of the entities for
// which it had no wire id.
type longCounts struct{ inPieces, tooLong, notShown uint64 }

// countLong counts the records of the tick's snapshots that are longer than a packet, and names
// those that are too long to send. It counts the entities that are one too many for a player, too.
func (s *Server) countLong() {
	for _, p := range s.senders.encoding {
		sender := p.outbox.sender
		was, now := &p.outbox.long, sender.Counters()
		if now.NoWireID != was.notShown {
			s.stats.NotShown += now.NoWireID - was.notShown
			was.notShown = now.NoWireID
			s.nameCrowd(p)
		}
		if !sender.Cuts() {
			continue
		}
		s.stats.LongRecords += now.InPieces - was.inPieces
		s.stats.RecordsTooLong += now.TooLong - was.tooLong
		was.inPieces, was.tooLong = now.InPieces, now.TooLong
		for _, l := range sender.TakeTooLong() {
			s.nameLong(p, l)
		}
	}
}

// nameCrowd logs, once, that a player should be shown more entities than it can be.
func (s *Server) nameCrowd(p *player) {
	if s.senders.toldCrowd {
		return
	}
	s.senders.toldCrowd = true
	s.logs.Logger.Warn("too many entities for a player: it is shown 65 535 and no others: declare foretick.Interest, or hide some with Frame.SetVisible",
		append(p.who(), "tick", s.sim.frame.Tick)...)
}

// nameLong logs an entity that is too long to send, once for each component that takes most.
func (s *Server) nameLong(p *player, l snapshot.TooLong) {
	if s.senders.toldLong.Has(l.Component) {
		return
	}
	s.senders.toldLong.Set(l.Component)
	line := p.who()
	line = append(line, "tick", s.sim.frame.Tick, "entity", uint32(l.Entity), "prefab", s.prefabOfNet(l.Entity), "bytes", l.Bytes, "max", snapshot.MaxRecord,
		"component", s.p.Components[l.Component].Name, "component_bytes", l.Share)
	s.logs.Logger.Warn("the state of an entity is too long to send, so players do not see it: shorten the component's strings and slices, or move some to other entities", line...)
}

// prefabOfNet returns the name of an entity's prefab, or "" if it is gone.
func (s *Server) prefabOfNet(id snapshot.NetID) string {
	for _, rows := range s.sim.entities.All(s.sim.world) {
		for _, at := range s.p.identity.Slice(rows) {
			if at.Net == uint32(id) {
				return s.p.Prefabs[at.Prefab].ECS.Name()
			}
		}
	}
	return ""
}
