package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
)

// raise notes an event of the player's entities.
func (p *player) raise(t Tick, event int) {
	if p.session.state == playing { // else nobody is told, and nothing would ever be forgotten
		p.reasons.Raise(t, event)
	}
}

// writeNote makes the player's note for the packet that is being built. The note is written
// with the snapshot, and exceeds the rate if the snapshot does.
func (s *Server) writeNote(p *player) {
	p.reasons.Write(s.sim.frame.Tick, p.told(), &p.inputs.replaced, s.p.Remote.Predicts)
}

// beginTrails starts a tick's hashes on the server.
func (s *Server) beginTrails() {
	for _, p := range s.sessions.players {
		if p.session.state == playing {
			p.trail.Begin(s.sim.frame.Tick)
		}
	}
	s.noteTrails()
}

// settleTrails hashes the state after the last shared system. Components and entities that
// it added or removed are visible only after its commands were applied, which is after it
// ended.
func (s *Server) settleTrails() {
	if s.trails.due {
		s.trails.due = false
		s.noteTrails()
	}
}

// noteTrails hashes each player's current predicted state.
func (s *Server) noteTrails() {
	s.sim.row.take()
	for _, p := range s.sessions.players {
		if p.session.state != playing || !p.trail.Begun() {
			continue
		}
		sum := s.hashOwned(p, p.owner)
		if s.p.Common {
			sum += s.hashOwned(p, ecs.Nobody)
		}
		p.trail.Note(sum)
	}
}

func (s *Server) hashOwned(p *player, owner PlayerID) (sum uint32) {
	for _, rows := range s.sim.entities.Owned(s.sim.world, owner) {
		for i, id := range s.p.identity.Slice(rows) {
			if owner == ecs.Nobody && !s.p.Prefabs[id.Prefab].Common {
				continue
			}
			name := uint32(0)
			if id.maker == uint16(owner) { // else the client was never told it
				name = id.origin // known to the client before the entity is
			}
			if wire, ok := p.outbox.sender.Known(snapshot.NetID(id.Net)); ok && name == 0 {
				name = uint32(wire)
			}
			if name != 0 {
				sum += s.p.entityHash(s.sim.world, rows.Entity(i), name, s.trails.words)
			}
		}
	}
	return sum
}

// sendTrail sends the hashes of the ticks that the client has no snapshot of yet.
func (s *Server) sendTrail(p *player, pk *netcode.Packet) {
	b := p.trail.Append(s.senders.scratch[:0], s.sim.frame.Tick, p.shooter.Acked(), pk.Room()/2)
	pk.Message(messageTrail, b)
	s.senders.scratch = b[:0]
}
