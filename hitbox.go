package foretick

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
)

// hitbox builds hit volumes from an entity's public components.
type hitbox struct {
	comps []int // registry indices, in the order of the declaration
	ids   []ecs.ID
	mask  uint64
	build func(b *HitboxBuilder)
}

// Hitbox gives every entity that has the component a sphere to be hit in. The
// server remembers it for each tick, as others were shown it; a sphere of
// radius 0 or less cannot be hit.
func Hitbox[A any](p *Protocol, a *ecs.Component[A], fn func(*A) lagcomp.Sphere) {
	if !p.able("Hitbox", fn != nil) {
		return
	}
	p.hitbox([]ecs.Handle{a}, func(b *HitboxBuilder) { b.sphere(fn((*A)(b.at[0]))) })
}

// Hitbox2 is Hitbox for entities that have two components: a position, say,
// and the state that tells whether the body can be hit at all.
func Hitbox2[A, B any](p *Protocol, a *ecs.Component[A], b *ecs.Component[B], fn func(*A, *B) lagcomp.Sphere) {
	if !p.able("Hitbox2", fn != nil) {
		return
	}
	p.hitbox([]ecs.Handle{a, b}, func(body *HitboxBuilder) { body.sphere(fn((*A)(body.at[0]), (*B)(body.at[1]))) })
}

// Hitboxes gives every entity that has all of the components any number of hit
// volumes: fn reads them with [HitboxField] and adds the volumes with [Body.Add]. An
// entity that gets none cannot be hit; one that gets none for a tick has lost
// its past, as one that died. Where several declarations fit an entity, it has
// the volumes of all, in the order of the declarations.
//
// fn must give the same volumes for the same values, and keep their number,
// prefabs and order from tick to tick where it can: the past between two ticks is
// interpolated volume by volume.
func Hitboxes(p *Protocol, fn func(b *HitboxBuilder), hs ...ecs.Handle) {
	if p.late("Hitboxes") {
		return
	}
	if fn == nil || len(hs) == 0 {
		p.faultf("Hitboxes needs a function and the components that it reads")
		return
	}
	p.hitbox(hs, fn)
}

func (p *Protocol) hitbox(hs []ecs.Handle, build func(*HitboxBuilder)) {
	v := hitbox{build: build}
	for _, h := range hs {
		i := p.replicated("Hitbox", h)
		if i < 0 {
			return
		}
		v.comps = append(v.comps, i)
		v.ids = append(v.ids, h.ID())
		v.mask |= 1 << i
	}
	p.hitboxes = append(p.hitboxes, v)
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

// HitboxBuilder is what a function given to [Hitboxes] reads an entity's components from
// and adds its hit volumes to. It is valid for the call alone.
type HitboxBuilder struct {
	ids []ecs.ID
	at  []unsafe.Pointer // in the order of ids
	out []lagcomp.Hitbox
}

// Add adds volumes. Name what they are with [lagcomp.Hitbox.On].
func (b *HitboxBuilder) Add(vs ...lagcomp.Hitbox) { b.out = append(b.out, vs...) }

func (b *HitboxBuilder) sphere(s lagcomp.Sphere) {
	if s.R > 0 {
		b.out = append(b.out, lagcomp.SphereHitbox(s))
	}
}

// HitboxField is a component of the entity whose volumes are being built, as others
// are shown it: fields for its owner alone are zero. It must be among those
// that were given to [Hitboxes]; another is a *HitboxError, by panic. What it
// points to is for reading, and for the call alone.
func HitboxField[T any](b *HitboxBuilder, c *ecs.Component[T]) *T {
	id := c.ID()
	for i := range b.ids {
		if b.ids[i] == id {
			return (*T)(b.at[i])
		}
	}
	panic(&HitboxError{Component: typeName(reflect.TypeFor[T]())})
}

// HitboxError is what [HitboxField] panics with: a fault of the program.
type HitboxError struct{ Component string }

// Error names the component and the remedy.
func (e *HitboxError) Error() string {
	return fmt.Sprintf("foretick: From reads %s, which was not given to Hitboxes: name it there", e.Component)
}

// Shapes registers hit volumes of the game's own shape, for
// [lagcomp.CustomHitbox], which names one by its place among all registered.
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

// LifeID tells an entity's lives apart by a replicated counter of the game's:
// when fn answers another number than in the tick before, the entity has been
// teleported, or has died and stood up again. Nothing interpolates across it,
// on the screens of others or in the past that shots are judged in, and no shot
// reaches back before it. See [Frame.Teleport] for games without such a counter.
func LifeID[T any](p *Protocol, c *ecs.Component[T], fn func(*T) uint32) {
	if !p.able("LifeID", fn != nil) {
		return
	}
	if i := p.replicated("LifeID", c); i >= 0 {
		p.lives = append(p.lives, life{i, func(at unsafe.Pointer) uint32 { return fn((*T)(at)) }})
	}
}

// bodies builds the volumes of a world's entities, and holds the memory for it.
type bodies struct {
	p      *Protocol
	values []unsafe.Pointer // by registry index, for words to be decoded into; nil where nothing reads it
	table  []*hitbox        // those of the declarations that fit the table at hand
	need   []int            // registry indices of what is read of it
	body   HitboxBuilder

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
	for _, v := range p.hitboxes {
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
	for i := range b.p.hitboxes {
		if v := &b.p.hitboxes[i]; mask&v.mask == v.mask {
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
// volumes, its lives or [ComponentAt].
func (b *bodies) needs(mask uint64) (need uint64) {
	for i := range b.p.hitboxes {
		if v := &b.p.hitboxes[i]; mask&v.mask == v.mask {
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
func (b *bodies) build(at func(comp int) unsafe.Pointer) []lagcomp.Hitbox {
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
