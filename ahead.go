package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
)

// isAhead tells whether a player's client shows an entity where it will be, not where
// it was: what is everybody's, and what is foreseen of others.
func (s *Server) isAhead(p *player, owner ecs.Owner, kind uint16) bool {
	k := &s.p.kinds[kind]
	switch {
	case p.ahead == 0 || owner == p.owner:
		return false
	case owner == ecs.Nobody:
		return k.island
	}
	return k.foreseen
}

// aheadNow is isAhead for an entity as it is now.
func (s *Server) aheadNow(p *player, e ecs.Entity) bool {
	id := s.p.identity.Find(s.world, e)
	return id != nil && s.isAhead(p, s.world.Owner(e), id.Kind)
}

// tookAhead notes how far the picture that a command was given on lay behind it, in
// what is shown ahead.
func (p *player) tookAhead(t Tick, offset uint8) {
	if p.ahead = 0; offset != 0 {
		p.ahead = int64(t)*offsetSteps - int64(offset)
	}
}

// aheadAt is the moment at which a player saw what is shown ahead, as two ticks in a
// row and how far between them: never later than what is complete, nor earlier than
// it saw the others, so that to say another gains nothing.
func (s *Server) aheadAt(p *player, used lagcomp.Claim) keys {
	at := max(p.ahead, int64(used.Tick)*offsetSteps+int64(used.Fraction*offsetSteps))
	at = min(at, int64(s.newest())*offsetSteps)
	t := Tick(at / offsetSteps)
	return keys{a: t, b: t + 1, f: float32(at%offsetSteps) / offsetSteps}
}
