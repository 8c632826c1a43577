package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/transport"
)

// displaced is an entity that nobody owns, because the world has no table for it. owner is
// the player that should own it. The entity lasts until that player has left, so that the
// game's references to it stay valid.
type displaced struct {
	entity ecs.Entity
	owner  PlayerID
}

// noRoom is the world's OnFull: it drops the player whose entity needs one table too many.
func (s *Server) noRoom(e ecs.Entity, owner PlayerID) {
	p := s.sessions.player(owner)
	if p != nil || slices.Contains(s.sessions.leaving, owner) {
		s.sim.displaced = append(s.sim.displaced, displaced{e, owner})
	}
	switch {
	case p == nil: // the game's own number, or a player that is leaving
		if skipped, ok := s.logs.limits.allow("displaced", s.clock.now); ok {
			s.cfg.Logger.Error("the world has no table for an entity of this owner: nobody owns the entity now; see ecs.World.Used", "owner", owner, "skipped", skipped)
		}
	case !p.session.kicked:
		s.stats.Displaced++
		s.logs.abuse(s.clock.now, "dropped: the world has no room for its entities", p)
		s.sessions.kick(p, transport.Full, "the server's world is full")
	}
}

// ownerOf returns the player that owns an entity, or that should own it.
func (m *simulation) ownerOf(e ecs.Entity) (owner PlayerID, displaced bool) {
	for _, d := range m.displaced {
		if d.entity == e {
			return d.owner, true
		}
	}
	return m.world.Owner(e), false
}

// destroyDisplaced removes the displaced entities of a player who left.
func (m *simulation) destroyDisplaced(player PlayerID) {
	m.displaced = slices.DeleteFunc(m.displaced, func(d displaced) bool {
		if d.owner == player {
			m.world.Manager().Destroy(d.entity)
		}
		return d.owner == player
	})
}
