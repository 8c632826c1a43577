package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// rewindWorld gives rewinding access to the present.
type rewindWorld struct{ s *Server }

func (w rewindWorld) Entity(id lagcomp.ID) (rewind.Entity, bool) {
	e := ecs.Entity(id)
	n := w.s.p.identity.Find(w.s.sim.world, e)
	if n == nil {
		return rewind.Entity{}, false
	}
	return rewind.Entity{Net: snapshot.NetID(n.Net), Owner: uint32(w.s.sim.world.Owner(e)), Prefab: n.Prefab}, true
}

// Lives returns what the game counts of an entity's lives at the moment.
func (w rewindWorld) Lives(id lagcomp.ID) (uint32, bool) {
	e := ecs.Entity(id)
	return w.s.lifeOf(e), w.s.sim.world.Alive(e)
}

// Shown returns the client's id of a network id, and the tick since which it has it.
func (p *player) Shown(net snapshot.NetID) (schema.WireID, Tick, bool) {
	if p.local != nil {
		return p.local.knows(net)
	}
	if p.outbox.sender == nil {
		return 0, 0, false
	}
	return p.outbox.sender.Shown(net)
}

// Hidden reports whether the game hides an entity from the player.
func (p *player) Hidden(id lagcomp.ID) bool { return p.interest.hides[ecs.Entity(id)] }

// Every returns the number of ticks between two snapshots of the player's client.
func (p *player) Every() uint32 { return p.outbox.every }

// shot returns a command's statements about the moment that it was given in.
func shot(c *netcode.Command) rewind.Command {
	return rewind.Command{Tick: c.Tick, Early: int64(c.Early), Claim: lagcomp.Claim{Tick: c.Render, Fraction: float32(c.Fraction) / 256}, Offset: c.Offset}
}

// recordPast records what others can hit in the tick that was computed.
func (s *Server) recordPast() {
	s.past.Begin(s.sim.frame.Tick)
	table := 0
	for _, rows := range s.sim.entities.All(s.sim.world) {
		mask := s.senders.put.masks[table].has // as capture found it
		if table++; s.past.Fit(mask) {
			ids := s.p.identity.Slice(rows)
			for k := range ids {
				e := rewind.Entity{Net: snapshot.NetID(ids[k].Net), Owner: uint32(rows.Owner()), Prefab: ids[k].Prefab}
				s.past.Put(uint64(rows.Entity(k)), e, s.senders.source)
			}
		}
	}
	s.past.End()
}

// viewer returns the player whose view is asked for. It counts and logs a player that does
// not play, whose every query would silently miss.
func (s *Server) viewer(by PlayerID) *player {
	p := s.sessions.player(by)
	if p == nil {
		s.stats.ViewsOfNobody++
		if _, ok := s.logs.allow("view of nobody"); ok {
			s.logs.Logger.Warn("Frame.Rewind or RewindBehind was asked for who does not play: every query misses; use Frame.Present", "player", by, "tick", s.sim.frame.Tick)
		}
	}
	return p
}

// hitView is a view as a game asks it.
func (s *Server) hitView(v rewind.View) HitView {
	return HitView{seen: v, record: s.past, tracks: s.p.Tracks, tick: s.sim.frame.Tick, bare: len(s.p.Hitboxes) == 0, Reason: v.Reason, Claimed: v.Claimed, Used: v.Used}
}

// rewind is what Frame.Rewind returns for a player.
func (s *Server) rewind(by PlayerID) HitView {
	if p := s.viewer(by); p != nil {
		return s.hitView(p.shooter.View(s.sim.frame.Tick))
	}
	return s.hitView(rewind.View{})
}

// present is what Frame.Present returns.
func (s *Server) present() HitView {
	return s.hitView(s.past.Present(s.sim.frame.Tick))
}

// rewindBehind is what Frame.RewindBehind returns for a player.
func (s *Server) rewindBehind(by PlayerID, ticks float32) HitView {
	if p := s.viewer(by); p != nil {
		return s.hitView(p.shooter.ViewBehind(s.sim.frame.Tick, ticks))
	}
	return s.hitView(rewind.View{})
}

// remeasureLatency is expert.RemeasureLatency.
func (s *Server) remeasureLatency(player PlayerID) bool {
	s.outside(tape.Call{Op: tape.Remeasure, Player: uint16(player)})
	p := s.sessions.player(player)
	return p != nil && p.shooter.Remeasure()
}

// moment is what Frame.RewindTo returns without a player.
func (s *Server) moment(t Tick) HitView { return s.hitView(s.past.Moment(s.sim.frame.Tick, t)) }
