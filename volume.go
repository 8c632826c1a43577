package foretick

import (
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
)

// volume builds a hit volume from an entity's public components.
type volume struct {
	comps []int // registry indices, in the order build wants them
	mask  uint64
	types []reflect.Type
	build func(at []unsafe.Pointer) lagcomp.Sphere
}

// Volume gives every entity that has the component a sphere to be hit in. The
// server remembers it for each tick, as others were shown it; a sphere of
// radius 0 or less cannot be hit.
func Volume[A any](p *Protocol, a *ecs.Component[A], fn func(*A) lagcomp.Sphere) {
	p.volume([]ecs.Handle{a}, func(at []unsafe.Pointer) lagcomp.Sphere {
		return fn((*A)(at[0]))
	})
}

// Volume2 is Volume for entities that have two components: a position, say,
// and the state that tells whether the body can be hit at all.
func Volume2[A, B any](p *Protocol, a *ecs.Component[A], b *ecs.Component[B], fn func(*A, *B) lagcomp.Sphere) {
	p.volume([]ecs.Handle{a, b}, func(at []unsafe.Pointer) lagcomp.Sphere {
		return fn((*A)(at[0]), (*B)(at[1]))
	})
}

func (p *Protocol) volume(hs []ecs.Handle, build func([]unsafe.Pointer) lagcomp.Sphere) {
	v := volume{build: build}
	for _, h := range hs {
		i := -1
		if h.Registered() {
			i = p.index(h.ID())
		}
		if i < 0 {
			p.faultf("Volume needs a replicated component: declare %s with Component first", typeName(h.Type()))
			return
		}
		v.comps = append(v.comps, i)
		v.mask |= 1 << i
		v.types = append(v.types, h.Type())
	}
	p.volumes = append(p.volumes, v)
}

// volumeScratch holds one value of each component that a volume reads, decoded
// from its words.
type volumeScratch struct{ at [][]unsafe.Pointer }

func newVolumeScratch(p *Protocol) volumeScratch {
	s := volumeScratch{at: make([][]unsafe.Pointer, len(p.volumes))}
	for i, v := range p.volumes {
		for _, t := range v.types {
			s.at[i] = append(s.at[i], reflect.New(t).UnsafePointer())
		}
	}
	return s
}

// Hit is what a query into the world as a player saw it found.
type Hit struct {
	// Entity that was hit, as the world of the frame names it.
	Entity ecs.Entity
	lagcomp.Hit
}

// Seen answers queries against the world as a player saw it. It is valid
// within its frame. The player's own entities are left out.
type Seen struct {
	past   lagcomp.Past
	filter lagcomp.Filter
	valid  bool
	// Reason says how the server treated the time that the player claimed.
	Reason lagcomp.Reason
}

// Raycast finds the nearest volume along a ray.
func (s Seen) Raycast(r lagcomp.Ray) (Hit, bool) {
	if !s.valid {
		return Hit{}, false
	}
	h, ok := s.past.Raycast(r, s.filter)
	return Hit{Entity: ecs.Entity(h.ID), Hit: h}, ok
}

// Past is the history behind the queries, for those that Seen has no method
// for; false when nothing was recorded yet.
func (s Seen) Past() (lagcomp.Past, bool) { return s.past, s.valid }
