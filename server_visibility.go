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
	sweep(s, p.interest.hides, &p.interest.swept)
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

// appears tells the senders what they have to know of an entity that they do not have. With
// late inputs one may come back that had been destroyed.
func (s *Server) appears(e ecs.Entity, net snapshot.NetID) {
	delete(s.interest.dead, e)
	hidden := false
	for _, p := range s.sessions.players {
		if p.interest.hides[e] {
			hidden = true
			if p.outbox.sender != nil {
				p.outbox.sender.SetVisible(net, false)
			}
		}
		if a := p.interest.members[e]; a != 0 && p.outbox.sender != nil {
			p.outbox.sender.SetAudience(net, a, true)
			for _, o := range s.sessions.observers {
				if o.observing.grant.Player == p.owner {
					o.outbox.sender.SetAudience(net, a, true)
				}
			}
		}
	}
	if hidden {
		s.showObservers(e)
	}
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
	sweep(s, s.interest.entityTeams, &s.interest.swept)
	old, had := s.interest.entityTeams[e]
	s.late.world.noteEntityTeam(e, old, had)
	s.interest.entityTeams[e] = team
	return true
}

// sweep forgets entities that are gone, once they are the greater part. With late inputs it
// forgets those that were gone two windows ago, and have not come back: a tick that runs
// again within a window may let them die later.
func sweep[V any](s *Server, m map[ecs.Entity]V, last *Tick) {
	now, window := s.sim.frame.Tick, s.late.window
	if len(m) <= 2*s.sim.world.Len()+16 || window > 0 && now-*last <= window {
		return
	}
	*last = now
	for old := range m {
		if s.sim.world.Alive(old) {
			continue
		}
		if window > 0 {
			since, ok := s.interest.dead[old]
			if !ok {
				if s.interest.dead == nil {
					s.interest.dead = map[ecs.Entity]Tick{}
				}
				s.interest.dead[old] = now
			}
			if !ok || now-since <= 2*window {
				continue
			}
		}
		delete(m, old)
	}
	for old, since := range s.interest.dead { // no map has it any more
		if now-since > 16*window {
			delete(s.interest.dead, old)
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
	sweep(s, p.interest.members, &p.interest.sweptMembers)
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
		if p.session.state != playing || len(p.interest.hides) == 0 && !p.interest.blind && !p.interest.veiled {
			continue
		}
		veiled := p.interest.veiled
		if p.interest.veiled = s.hidesRead(p); p.interest.veiled || veiled {
			p.reasons.Conceal(s.sim.frame.Tick, p.told())
		}
		was := p.interest.blind // and in the tick in which it is shown again
		p.interest.blind = s.hidesOwn(p, p.owner) || s.p.Common && s.hidesOwn(p, ecs.Nobody)
		if p.interest.blind || was {
			p.reasons.Affected(s.sim.frame.Tick, s.p.hiddenCause(), Tick(s.p.TickRate/calmShare))
		}
	}
}

// hidesRead reports whether an entity is hidden from the player that has a component which
// shared systems read of others.
func (s *Server) hidesRead(p *player) bool {
	if s.p.ReadsOthers == (ecs.Mask{}) {
		return false
	}
	for e := range p.interest.hides {
		if s.sim.world.Mask(e).Overlaps(s.p.ReadsOthers) {
			return true
		}
	}
	return false
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
	p.unread.forgetLevel()
	p.reasons.ForgetConcealed()
	p.outbox.long = longCounts{}
	cfg := snapshot.SenderConfig{Statistics: s.cfg.TrainCompression, Profile: s.profile()}
	if p.interest.near = nil; s.interest.survey != nil {
		p.interest.near = s.interest.survey.area.NewView()
		cfg.Relevant, cfg.Priority = true, p.interest.near.Priority
	}
	cfg.Everything = p.observing != nil && p.observing.grant.Everything
	return s.senders.source.NewSender(uint16(p.views()), cfg)
}
