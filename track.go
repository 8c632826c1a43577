package foretick

import (
	"math/bits"
	"unsafe"

	"github.com/foretick/foretick/ecs"
)

// trackType is a component that [ComponentAt] answers for.
type trackType struct {
	comp int
	id   ecs.ID
}

// TrackHistory has the server keep a component's value of each tick, as others were
// shown it, so that [ComponentAt] can answer what a player saw of it: a facing for a
// stab in the back, a stance, the progress of a capture.
func TrackHistory[T any](p *Protocol, c *ecs.Component[T]) {
	if i := p.replicated("TrackHistory", c); i >= 0 {
		p.tracks = append(p.tracks, trackType{i, c.ID()})
	}
}

// ComponentAt is a component's value as the view shows it: on a server the past one, of
// a component given to [TrackHistory], with references as none; on a client the one on
// the screen. False when the entity was not there, may not be touched, or has no
// such component.
func ComponentAt[T any](s HitView, c *ecs.Component[T], e ecs.Entity) (v T, ok bool) {
	if !s.valid {
		return v, false
	}
	if s.client != nil {
		if at := c.Find(s.client.world, e); at != nil && s.client.world.Owner(e) != s.client.view.Player {
			if s.client.shownThen(&s, e, c.ID(), unsafe.Pointer(&v)) {
				return v, true
			}
			return *at, true
		}
		return v, false
	}
	if s.filter.Visible != nil && !s.filter.Visible(uint64(e)) {
		return v, false
	}
	for _, t := range s.server.p.tracks {
		if t.id == c.ID() {
			return v, s.server.was(&s, e, t.comp, unsafe.Pointer(&v))
		}
	}
	return v, false
}

// was writes what a component of an entity was in a view; false when it had none.
func (s *Server) was(seen *HitView, e ecs.Entity, comp int, dst unsafe.Pointer) bool {
	if seen.ahead.a != 0 && s.aheadNow(seen.by, e) {
		return s.wasAhead(seen, e, comp, dst)
	}
	from, to, k, shown := s.ends(seen, e)
	if !shown {
		return false
	}
	i := from.find(uint64(e), 0)
	if i < 0 || from.items[i].mask>>comp&1 == 0 {
		return false
	}
	var hint, earlier int
	knots := s.knots(seen.by, &from.items[i], from, to, k, &hint, &earlier)
	for need := s.bodies.needs(from.items[i].mask) & (1<<comp - 1); need != 0; need &= need - 1 {
		skip(&knots, s.p.components[bits.TrailingZeros64(need)].schema.Words())
	}
	s.show(comp, knots, from.items[i].grid, dst)
	return true
}
