package foretick

import (
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/lagcomp"
)

// HitboxBuilder is the argument of a function given to [Hitboxes], for one entity. The
// function reads the entity's components with [HitboxField] and adds hitboxes with Add. It
// is valid during the call only.
type HitboxBuilder struct {
	ids []ecs.ID
	at  []unsafe.Pointer // at has the entity's component for each of ids.
	out []lagcomp.Hitbox
}

// Add adds hitboxes. Give them a part and a layer with [lagcomp.Hitbox.On]. One of radius 0
// is a point that can be hit, unlike in [Hitbox]. An entity has at most 65 535; more panic.
func (b *HitboxBuilder) Add(vs ...lagcomp.Hitbox) { b.out = append(b.out, vs...) }

func (b *HitboxBuilder) sphere(s lagcomp.Sphere) {
	if s.R > 0 {
		b.out = append(b.out, lagcomp.SphereHitbox(s))
	}
}

// HitboxField returns a component of the entity whose hitboxes are being built, with the
// values that other players receive: fields for its owner only are zero. It panics with a
// [UsageError] if the component was not given to [Hitboxes]. The pointer is for reading,
// and valid during the call only.
func HitboxField[T any](b *HitboxBuilder, c *ecs.Component[T]) *T {
	id := c.ID()
	for i := range b.ids {
		if b.ids[i] == id {
			return (*T)(b.at[i])
		}
	}
	misuse.Panicf("foretick: HitboxField reads %s, which was not given to Hitboxes: name it there", game.TypeName(reflect.TypeFor[T]()))
	return nil
}

// hitboxRunner runs the declarations of a protocol for one set of hitboxes.
type hitboxRunner struct {
	of    []layout.Hitbox
	build []func(*HitboxBuilder) // build has the functions, by their numbers in this build.
	body  HitboxBuilder
}

// Build appends the hitboxes of one declaration to out.
func (r *hitboxRunner) Build(declaration int, at []unsafe.Pointer, out []lagcomp.Hitbox) []lagcomp.Hitbox {
	d := &r.of[declaration]
	r.body = HitboxBuilder{ids: d.IDs, at: at, out: out}
	r.build[d.Own](&r.body)
	return r.body.out
}

// Hitbox gives every entity that has the component a spherical hitbox. fn returns it in
// world coordinates. The server records it for each tick, as it was shown to other players.
// A sphere of radius 0 or less cannot be hit, and neither can the entity's past. So a late
// shot at a player that just died misses, though it hit on its shooter's screen. To judge
// such shots, keep the radius until the entity respawns, and look at its health in the
// handler that hurts it.
func Hitbox[A any](p *Protocol, a *ecs.Component[A], fn func(*A) lagcomp.Sphere) {
	if !p.able("Hitbox", fn != nil) {
		return
	}
	p.hitbox([]ecs.Handle{a}, func(b *HitboxBuilder) { b.sphere(fn((*A)(b.at[0]))) })
}

// Hitboxes gives every entity that has all of the components any number of hitboxes: several of a
// body, or one that depends on more than a position, such as a state that makes invulnerable. fn reads the
// components with [HitboxField] and adds hitboxes with [HitboxBuilder.Add]. An entity without hitboxes
// cannot be hit. If it has none for a single tick, its earlier ticks cannot be hit any more, as if it
// had died: see [Hitbox]. If several declarations fit an entity, it has the hitboxes of all, in the
// order of the declarations.
//
// fn must give the same hitboxes for the same values. Between two ticks it gets
// interpolated components.
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
	v := layout.Hitbox{Own: len(p.bodies)}
	for _, h := range hs {
		i := p.replicated("Hitbox", h)
		if i < 0 {
			return
		}
		v.Components = append(v.Components, i)
		v.IDs = append(v.IDs, h.ID())
	}
	p.compiled.Hitboxes = append(p.compiled.Hitboxes, v)
	p.bodies = append(p.bodies, build)
}

// replicated returns the registry index of a declared component. For any other it notes a fault and
// returns −1.
func (p *Protocol) replicated(call string, h ecs.Handle) int {
	if !p.given(call, h) {
		return -1
	}
	i := -1
	if p.compiled.Types.Has(h) {
		i = p.compiled.Index(h.ID())
	}
	if i < 0 && !p.spoils(h) {
		p.faultf("%s needs a replicated component: declare %s with Component first", call, game.TypeName(h.Type()))
	}
	return i
}

// Shapes registers custom shapes for [lagcomp.CustomHitbox], which names one by its index
// among all registered: at most 64. An index that names no shape is never hit. Shapes are
// not part of [Protocol.Hash].
func (p *Protocol) Shapes(shapes ...lagcomp.Shape) {
	if p.late("Shapes") {
		return
	}
	for _, s := range shapes {
		if guard.Missing(s) {
			p.faultf("Shapes is given a nil shape: leave it out")
			return
		}
	}
	if n := len(p.compiled.Shapes) + len(shapes); n > lagcomp.MaxShapes {
		p.faultf("Shapes brings the custom shapes to %d: there can be %d; give one shape values that make it another", n, lagcomp.MaxShapes)
		return
	}
	p.compiled.Shapes = append(p.compiled.Shapes, shapes...)
}

// LifeID tells an entity's lives apart by a replicated counter. When fn returns another
// number than in the tick before, the entity was teleported, or died and respawned.
// Nothing is interpolated across that tick, on the screens of others or in the past that
// shots are judged in. No shot reaches back before it. See [Frame.Teleport] for games
// without such a counter.
func LifeID[T any](p *Protocol, c *ecs.Component[T], fn func(*T) uint32) {
	if !p.able("LifeID", fn != nil) {
		return
	}
	if i := p.replicated("LifeID", c); i >= 0 {
		of := &p.compiled.LifeOf
		p.compiled.Lives = append(p.compiled.Lives, layout.Life{Component: i, Own: len(*of)})
		*of = append(*of, func(at unsafe.Pointer) uint32 { return fn((*T)(at)) })
	}
}

// TrackHistory makes the server keep a component's value of each tick, for as long as
// server.Config.MaxRewind can look back. Values are rounded as in snapshots, and fields that
// not every player receives are zero. [ComponentAt] then returns the value that a player saw: a facing
// for a stab in the back, a stance, the progress of a capture. The entity needs no hitbox.
func TrackHistory[T any](p *Protocol, c *ecs.Component[T]) {
	if i := p.replicated("TrackHistory", c); i >= 0 {
		p.compiled.Tracks = append(p.compiled.Tracks, layout.Track{Component: i, ID: c.ID()})
	}
}
