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
	fresh func(h *lagcomp.History) track
}

// track keeps the past values of a component.
type track interface {
	put(id lagcomp.ID, at unsafe.Pointer)
}

type trackOf[T any] struct{ *lagcomp.Track[T] }

func (t trackOf[T]) put(id lagcomp.ID, at unsafe.Pointer) { t.Put(id, *(*T)(at)) }

// Remember has the server keep a component's value of each tick, as others were
// shown it, so that [At] can answer what a player saw of it: a facing for a
// stab in the back, a stance, the progress of a capture.
func Remember[T any](p *Protocol, c *ecs.Component[T]) {
	i := p.replicated("Remember", c)
	if i < 0 {
		return
	}
	schema := p.components[i].schema
	blend := func(a, b T, f float32) T {
		words := make([]int32, 2*schema.Words())
		wa, wb := words[:schema.Words()], words[schema.Words():]
		schema.Quantise(unsafe.Pointer(&a), snapshot.GridPublic, noRefs{}, wa)
		schema.Quantise(unsafe.Pointer(&b), snapshot.GridPublic, noRefs{}, wb)
		out := a
		schema.LerpMasked(wa, wb, f, snapshot.GridPublic, noRefs{}, unsafe.Pointer(&out))
		return out
	}
	p.tracks = append(p.tracks, trackType{i, c.ID(), func(h *lagcomp.History) track {
		return trackOf[T]{lagcomp.NewTrack(h, blend)}
	}})
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
			return t.At(s.baseOf(e), uint64(e))
		}
	}
	return v, false
}

// baseOf is the server's own history between the ticks that an entity was seen
// between.
func (s Seen) baseOf(e ecs.Entity) lagcomp.Past {
	if s.player == nil {
		return s.base
	}
	k, ok := s.server.keysOf(s.player, s.Used, e, keys{})
	switch {
	case !ok:
		return lagcomp.Past{}
	case k == keys{}:
		return s.base
	}
	return s.server.history.Between(k.a, k.b, k.f)
}
