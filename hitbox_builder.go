package foretick

import (
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/lagcomp"
)

// HitboxBuilder is the argument of a function given to [Hitboxes], for one entity. The
// function reads the entity's components with [HitboxField] and adds hitboxes with Add. It
// is valid during the call only.
type HitboxBuilder struct {
	ids []ecs.ID
	at  []unsafe.Pointer // in the order of ids
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
	misuse("HitboxField reads %s, which was not given to Hitboxes: name it there", typeName(reflect.TypeFor[T]()))
	return nil
}

// hitboxRunner runs the declarations of a protocol for one set of hitboxes.
type hitboxRunner struct {
	of    []layout.Hitbox
	build []func(*HitboxBuilder) // by their numbers in this build
	body  HitboxBuilder
}

// Build appends the hitboxes of one declaration to out.
func (r *hitboxRunner) Build(declaration int, at []unsafe.Pointer, out []lagcomp.Hitbox) []lagcomp.Hitbox {
	d := &r.of[declaration]
	r.body = HitboxBuilder{ids: d.IDs, at: at, out: out}
	r.build[d.Own](&r.body)
	return r.body.out
}
