package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/snapshot"
)

// trackType is a component that the server remembers for each tick.
type trackType struct {
	comp  int
	id    ecs.ID
	fresh func(s *Server) track
}

// track keeps the past values of a component.
type track interface {
	put(id lagcomp.ID, at unsafe.Pointer)
}

type trackOf[T any] struct {
	*lagcomp.Track[T]
	comp   *component
	server *Server
}

func (t trackOf[T]) put(id lagcomp.ID, at unsafe.Pointer) { t.Put(id, *(*T)(at)) }

// Remember has the server keep a component's value of each tick, as others were
// shown it, so that [At] can answer what a player saw of it: a facing for a
// stab in the back, a stance, the progress of a capture.
func Remember[T any](p *Protocol, c *ecs.Component[T]) {
	i := p.replicated("Remember", c)
	if i < 0 {
		return
	}
	p.tracks = append(p.tracks, trackType{i, c.ID(), func(s *Server) track {
		return trackOf[T]{lagcomp.NewTrack[T](s.history, nil), &s.p.components[i], s}
	}})
}

// between is the value that an entity was seen with, by a player whose picture lay
// between these ticks: as its client drew it.
func (t trackOf[T]) between(past lagcomp.Past, p *player, k keys, id lagcomp.ID) (v T, ok bool) {
	a, b, f, ok := t.Ends(past, id)
	if !ok || f == 0 || !t.comp.lerped {
		return a, ok
	}
	s := t.comp.schema
	n := s.Words()
	var room [48]int32
	words := room[:]
	if 3*n > len(words) {
		words = make([]int32, 3*n)
	}
	quantise := func(v *T, to []int32) []int32 {
		s.Quantise(unsafe.Pointer(v), snapshot.GridPublic, noRefs{}, to)
		return to[:n]
	}
	knots := snapshot.Knots{From: quantise(&a, words), To: quantise(&b, words[n:]), Span: float32(k.b - k.a), Rate: float32(t.server.p.tickRate), Fraction: f}
	if t.comp.curved && t.server.bent(p, ecs.Entity(id), k.before) {
		if o, _, g, ok := t.Ends(t.server.history.Between(k.before, k.a, 0.5), id); ok && g != 0 {
			knots.Before, knots.Lead = quantise(&o, words[2*n:]), float32(k.a-k.before)
		}
	}
	s.Interpolate(0, knots, snapshot.GridPublic, noRefs{}, unsafe.Pointer(&a))
	return a, true
}

// noRefs is for values that hold no references worth keeping.
type noRefs struct{}

// Net is 0 for every entity.
func (noRefs) Net(uint64) uint32 { return 0 }

// Entity is none for every reference.
func (noRefs) Entity(uint32) uint64 { return 0 }

// At is a component's value as the view shows it: on a server the past one, of
// a component given to [Remember]; on a client the one on the screen. False
// when the entity was not there, may not be touched, or has no such component.
func At[T any](s Seen, c *ecs.Component[T], e ecs.Entity) (v T, ok bool) {
	if !s.valid {
		return v, false
	}
	if s.client != nil {
		if at := c.Find(s.client.world, e); at != nil && s.client.world.Owner(e) != s.client.view.Me {
			return *at, true
		}
		return v, false
	}
	if s.filter.Visible != nil && !s.filter.Visible(uint64(e)) {
		return v, false
	}
	for i := range s.server.p.tracks {
		if s.server.p.tracks[i].id == c.ID() {
			t, ok := s.server.tracks[i].(trackOf[T])
			if !ok {
				return v, false
			}
			past, k := s.baseOf(e)
			return t.between(past, s.by, k, uint64(e))
		}
	}
	return v, false
}

// baseOf is the server's own history between the ticks that an entity was seen
// between, and those.
func (s Seen) baseOf(e ecs.Entity) (lagcomp.Past, keys) {
	if s.player == nil {
		return s.base, s.whole
	}
	k, ok := s.server.keysOf(s.player, s.Used, e, keys{})
	switch {
	case !ok:
		return lagcomp.Past{}, keys{}
	case k == keys{}:
		return s.base, s.whole
	}
	return s.server.history.Between(k.a, k.b, k.f), k
}
