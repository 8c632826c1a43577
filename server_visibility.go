package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

func (s *Server) setVisible(player PlayerID, e ecs.Entity, visible bool) bool {
	p, id := s.sessions.player(player), s.p.identity.Find(s.sim.world, e)
	if p == nil || id == nil {
		return false
	}
	if p.interest.hides[e] == !visible {
		return true
	}
	if p.interest.hides == nil {
		p.interest.hides = map[ecs.Entity]bool{}
	}
	if len(p.interest.hides) > 2*s.sim.world.Len()+16 {
		for old := range p.interest.hides {
			if !s.sim.world.Alive(old) {
				delete(p.interest.hides, old)
			}
		}
	}
	s.late.world.noteVisible(player, e, !visible)
	if p.interest.hides[e] = true; visible {
		delete(p.interest.hides, e)
	}
	if p.outbox.sender != nil {
		p.outbox.sender.SetVisible(snapshot.NetID(id.Net), visible)
	}
	s.showObservers(e)
	return true
}

// rehide tells a new connection's sender what is hidden from the player.
func (s *Server) rehide(p *player) {
	for e := range p.interest.hides {
		if id := s.p.identity.Find(s.sim.world, e); id != nil {
			p.outbox.sender.SetVisible(snapshot.NetID(id.Net), false)
		}
	}
}

func (s *Server) setTeam(player PlayerID, team uint8) bool {
	p := s.sessions.player(player)
	if p == nil {
		return false
	}
	s.late.world.noteTeam(player, p.interest.team)
	p.interest.team = team
	if p.outbox.sender != nil {
		p.outbox.sender.SetTeam(team)
	}
	for _, o := range s.sessions.observers {
		if o.observing.grant.Player == player {
			o.outbox.sender.SetTeam(team)
		}
	}
	s.showObserversAll(p)
	return true
}

func (s *Server) setEntityTeam(e ecs.Entity, team uint8) bool {
	if !s.sim.world.Alive(e) {
		return false
	}
	if s.interest.entityTeams == nil {
		s.interest.entityTeams = map[ecs.Entity]uint8{}
	}
	sweep(s.interest.entityTeams, s.sim.world)
	old, had := s.interest.entityTeams[e]
	s.late.world.noteEntityTeam(e, old, had)
	s.interest.entityTeams[e] = team
	return true
}

// sweep forgets entities that are gone, once they are the greater part.
func sweep[V any](m map[ecs.Entity]V, w *ecs.World) {
	if len(m) <= 2*w.Len()+16 {
		return
	}
	for old := range m {
		if !w.Alive(old) {
			delete(m, old)
		}
	}
}

func (s *Server) setAudience(player PlayerID, e ecs.Entity, a schema.Audience, member bool) bool {
	p := s.sessions.player(player)
	if p == nil || e != ecs.None && s.p.identity.Find(s.sim.world, e) == nil {
		return false
	}
	if p.interest.members == nil {
		p.interest.members = map[ecs.Entity]schema.Audience{}
	}
	sweep(p.interest.members, s.sim.world)
	s.late.world.noteAudience(player, e, p.interest.members[e])
	if m := p.interest.members[e]; member {
		p.interest.members[e] = m | a
	} else {
		p.interest.members[e] = m &^ a
	}
	if p.outbox.sender != nil {
		p.outbox.sender.SetAudience(s.sim.net(e), a, member)
	}
	for _, o := range s.sessions.observers {
		if o.observing.grant.Player == player {
			o.outbox.sender.SetAudience(s.sim.net(e), a, member)
		}
	}
	return true
}

func (s *Server) setEye(player PlayerID, x, y, z float32) bool {
	p := s.sessions.player(player)
	if p == nil || x-x != 0 || y-y != 0 || z-z != 0 { // of what is not finite the difference is NaN
		return false
	}
	s.late.world.noteEye(player, &p.interest)
	p.interest.eye, p.interest.hasEye = [3]float32{x, y, z}, true
	return true
}

func (s *Server) clearEye(player PlayerID) bool {
	p := s.sessions.player(player)
	if p != nil {
		s.late.world.noteEye(player, &p.interest)
		p.interest.hasEye = false
	}
	return p != nil
}

// reintroduce tells a new sender what the player is.
func (s *Server) reintroduce(p *player) {
	p.outbox.sender.SetTeam(p.interest.team)
	for e, a := range p.interest.members {
		if e == ecs.None || s.sim.world.Alive(e) {
			p.outbox.sender.SetAudience(s.sim.net(e), a, true)
		}
	}
}

// teamOf is an entity's team.
func (s *Server) teamOf(e ecs.Entity, owner PlayerID) uint8 {
	if len(s.interest.entityTeams) > 0 {
		if t, ok := s.interest.entityTeams[e]; ok {
			return t
		}
	}
	if p := s.sessions.player(owner); p != nil {
		return p.interest.team
	}
	return 0
}

// markHidden notes who does not see something of its own: it cannot predict what its
// entity, which the server runs on, does to the others of its own.
func (s *Server) markHidden() {
	for _, p := range s.sessions.players {
		if p.session.state != playing || len(p.interest.hides) == 0 && !p.interest.blind {
			continue
		}
		was := p.interest.blind // and in the tick in which it is shown again
		p.interest.blind = s.hidesOwn(p, p.owner) || s.p.Common && s.hidesOwn(p, ecs.Nobody)
		if p.interest.blind || was {
			p.reasons.Affected(s.sim.frame.Tick, s.p.hiddenCause(), Tick(s.p.TickRate/calmShare))
		}
	}
}

func (s *Server) hidesOwn(p *player, owner PlayerID) bool {
	for _, rows := range s.sim.entities.Owned(s.sim.world, owner) {
		for i, e := range rows.Entities() {
			k := &s.p.Prefabs[s.p.identity.Slice(rows)[i].Prefab]
			if p.interest.hides[e] && !k.ClientOnly() && (owner != ecs.Nobody || k.Common) {
				return true
			}
		}
	}
	return false
}

// newSender makes what codes a player's snapshots.
func (s *Server) newSender(p *player) *snapshot.Sender {
	cfg := snapshot.SenderConfig{Statistics: s.cfg.TrainCompression, Profile: s.profile()}
	if p.interest.near = nil; s.interest.survey != nil {
		p.interest.near = s.interest.survey.area.NewView()
		cfg.Relevant, cfg.Priority = true, p.interest.near.Priority
	}
	cfg.Everything = p.observing != nil && p.observing.grant.Everything
	return s.senders.source.NewSender(uint16(p.views()), cfg)
}
