package foretick

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
)

// volume builds hit volumes from an entity's public components.
type volume struct {
	comps []int // registry indices, in the order of the declaration
	ids   []ecs.ID
	mask  uint64
	build func(b *Body)
}

// Volume gives every entity that has the component a sphere to be hit in. The
// server remembers it for each tick, as others were shown it; a sphere of
// radius 0 or less cannot be hit.
func Volume[A any](p *Protocol, a *ecs.Component[A], fn func(*A) lagcomp.Sphere) {
	if !p.able("Volume", fn != nil) {
		return
	}
	p.volume([]ecs.Handle{a}, func(b *Body) { b.sphere(fn((*A)(b.at[0]))) })
}

// Volume2 is Volume for entities that have two components: a position, say,
// and the state that tells whether the body can be hit at all.
func Volume2[A, B any](p *Protocol, a *ecs.Component[A], b *ecs.Component[B], fn func(*A, *B) lagcomp.Sphere) {
	if !p.able("Volume2", fn != nil) {
		return
	}
	p.volume([]ecs.Handle{a, b}, func(body *Body) { body.sphere(fn((*A)(body.at[0]), (*B)(body.at[1]))) })
}

// Volumes gives every entity that has all of the components any number of hit
// volumes: fn reads them with [From] and adds the volumes with [Body.Add]. An
// entity that gets none cannot be hit; one that gets none for a tick has lost
// its past, as one that died. Where several declarations fit an entity, it has
// the volumes of all, in the order of the declarations.
//
// fn must give the same volumes for the same values, and keep their number,
// kinds and order from tick to tick where it can: the past between two ticks is
// interpolated volume by volume.
func Volumes(p *Protocol, fn func(b *Body), hs ...ecs.Handle) {
	if p.late("Volumes") {
		return
	}
	if fn == nil || len(hs) == 0 {
		p.faultf("Volumes needs a function and the components that it reads")
		return
	}
	p.volume(hs, fn)
}

func (p *Protocol) volume(hs []ecs.Handle, build func(*Body)) {
	v := volume{build: build}
	for _, h := range hs {
		i := p.replicated("Volume", h)
		if i < 0 {
			return
		}
		v.comps = append(v.comps, i)
		v.ids = append(v.ids, h.ID())
		v.mask |= 1 << i
	}
	p.volumes = append(p.volumes, v)
}

// replicated is the registry index of a declared component, or −1 with a fault.
func (p *Protocol) replicated(call string, h ecs.Handle) int {
	if !p.given(call, h) {
		return -1
	}
	i := -1
	if p.types.Has(h) {
		i = p.index(h.ID())
	}
	if i < 0 && !p.spoils(h) {
		p.faultf("%s needs a replicated component: declare %s with Component first", call, typeName(h.Type()))
	}
	return i
}

// Body is what a function given to [Volumes] reads an entity's components from
// and adds its hit volumes to. It is valid for the call alone.
type Body struct {
	ids []ecs.ID
	at  []unsafe.Pointer // in the order of ids
	out []lagcomp.Volume
}

// Add adds volumes. Name what they are with [lagcomp.Volume.On].
func (b *Body) Add(vs ...lagcomp.Volume) { b.out = append(b.out, vs...) }

func (b *Body) sphere(s lagcomp.Sphere) {
	if s.R > 0 {
		b.out = append(b.out, lagcomp.SphereVolume(s))
	}
}

// From is a component of the entity whose volumes are being built, as others
// are shown it: fields for its owner alone are zero. It must be among those
// that were given to [Volumes]; another is a *BodyError, by panic. What it
// points to is for reading, and for the call alone.
func From[T any](b *Body, c *ecs.Component[T]) *T {
	id := c.ID()
	for i := range b.ids {
		if b.ids[i] == id {
			return (*T)(b.at[i])
		}
	}
	panic(&BodyError{Component: typeName(reflect.TypeFor[T]())})
}

// BodyError is what [From] panics with: a fault of the program.
type BodyError struct{ Component string }

// Error names the component and the remedy.
func (e *BodyError) Error() string {
	return fmt.Sprintf("foretick: From reads %s, which was not given to Volumes: name it there", e.Component)
}

// Shapes registers hit volumes of the game's own shape, for
// [lagcomp.CustomVolume], which names one by its place among all registered.
func (p *Protocol) Shapes(shapes ...lagcomp.Shape) {
	if p.late("Shapes") {
		return
	}
	for _, s := range shapes {
		if missing(s) {
			p.faultf("Shapes is given a nil shape: leave it out")
			return
		}
	}
	p.shapes = append(p.shapes, shapes...)
}

// life tells an entity's lives apart by a component that both ends have.
type life struct {
	comp  int
	epoch func(at unsafe.Pointer) uint32
}

// Epoch tells an entity's lives apart by a replicated counter of the game's:
// when fn answers another number than in the tick before, the entity has been
// teleported, or has died and stood up again. Nothing interpolates across it,
// on the screens of others or in the past that shots are judged in, and no shot
// reaches back before it. See [Frame.Cut] for games without such a counter.
func Epoch[T any](p *Protocol, c *ecs.Component[T], fn func(*T) uint32) {
	if !p.able("Epoch", fn != nil) {
		return
	}
	if i := p.replicated("Epoch", c); i >= 0 {
		p.lives = append(p.lives, life{i, func(at unsafe.Pointer) uint32 { return fn((*T)(at)) }})
	}
}

// bodies builds the volumes of a world's entities, and holds the memory for it.
type bodies struct {
	p      *Protocol
	values []unsafe.Pointer // by registry index, for words to be decoded into; nil where nothing reads it
	table  []*volume        // those of the declarations that fit the table at hand
	need   []int            // registry indices of what is read of it
	body   Body

	unpredicted bool // something that is read is not predicted
}

func newBodies(p *Protocol) bodies {
	b := bodies{p: p, values: make([]unsafe.Pointer, len(p.components))}
	use := func(i int) {
		if b.values[i] == nil {
			b.values[i] = reflect.New(p.components[i].handle.Type()).UnsafePointer()
			b.unpredicted = b.unpredicted || !p.components[i].predicted
		}
	}
	for _, v := range p.volumes {
		for _, i := range v.comps {
			use(i)
		}
	}
	for _, l := range p.lives {
		use(l.comp)
	}
	for _, t := range p.tracks {
		use(t.comp)
	}
	return b
}

// fit finds the declarations for entities with the components of mask.
func (b *bodies) fit(mask uint64) {
	b.table, b.need = b.table[:0], b.need[:0]
	for i := range b.p.volumes {
		if v := &b.p.volumes[i]; mask&v.mask == v.mask {
			b.table = append(b.table, v)
		}
	}
	need := b.needs(mask)
	for i := range b.values {
		if need>>i&1 != 0 {
			b.need = append(b.need, i)
		}
	}
}

// needs is which components are read of an entity with those of mask, for its
// volumes, its lives or [At].
func (b *bodies) needs(mask uint64) (need uint64) {
	for i := range b.p.volumes {
		if v := &b.p.volumes[i]; mask&v.mask == v.mask {
			need |= v.mask
		}
	}
	for _, t := range b.p.tracks {
		need |= mask & (1 << t.comp)
	}
	if need != 0 {
		for _, l := range b.p.lives {
			need |= mask & (1 << l.comp)
		}
	}
	return need
}

// value is the place of a component's own value.
func (b *bodies) value(comp int) unsafe.Pointer { return b.values[comp] }

// build answers the volumes of one entity, whose components lie at the places
// that at answers. They are valid until the next call.
func (b *bodies) build(at func(comp int) unsafe.Pointer) []lagcomp.Volume {
	b.body.out = b.body.out[:0]
	for _, v := range b.table {
		b.body.ids, b.body.at = v.ids, b.body.at[:0]
		for _, comp := range v.comps {
			b.body.at = append(b.body.at, at(comp))
		}
		v.build(&b.body)
	}
	return b.body.out
}
