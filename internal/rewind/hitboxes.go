package rewind

import (
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/schema"
)

// Hitboxes builds the hitboxes of entities, and holds the memory for it. One goroutine may
// use it at a time.
type Hitboxes struct {
	game *Game
	make Builder
	// values has, by registry index, memory to decode words into. It is nil for a component that nothing reads.
	values []unsafe.Pointer
	mask   schema.Mask // mask is the set that table and need are for.
	table  []int       // table has the declarations that fit.
	need   []int       // need has the registry indices of the components that are read.
	at     []unsafe.Pointer
	out    []lagcomp.Hitbox

	unpredicted bool // unpredicted is true if a component that is read is not predicted.
}

// NewHitboxes makes the Hitboxes of a game.
func NewHitboxes(g *Game) *Hitboxes {
	b := &Hitboxes{game: g, make: g.NewBuilder(), values: make([]unsafe.Pointer, len(g.Components))}
	use := func(i int) {
		if b.values[i] == nil {
			b.values[i] = reflect.New(g.Components[i].Type).UnsafePointer()
			b.unpredicted = b.unpredicted || !g.Components[i].Predicted
		}
	}
	for _, d := range g.Hitboxes {
		for _, i := range d.Components {
			use(i)
		}
	}
	for _, l := range g.Lives {
		use(l.Component)
	}
	for i := range g.Components {
		if g.Tracked.Has(i) {
			use(i)
		}
	}
	return b
}

// Fit selects the declarations for entities with the components of mask. It reports whether
// any component of such an entity is read.
func (b *Hitboxes) Fit(mask schema.Mask) bool {
	if mask.Equal(b.mask) {
		return len(b.need) > 0
	}
	b.mask, b.table, b.need = mask, b.table[:0], b.need[:0]
	for i := range b.game.Hitboxes {
		if d := &b.game.Hitboxes[i]; d.fits(mask) {
			b.table = append(b.table, i)
		}
	}
	need := b.game.needs(mask)
	for i := range b.values {
		if need.Has(i) {
			b.need = append(b.need, i)
		}
	}
	return len(b.need) > 0
}

// Value returns the memory of a component's value, which Build reads. It is nil for a
// component that nothing reads.
func (b *Hitboxes) Value(comp int) unsafe.Pointer { return b.values[comp] }

// Build returns the hitboxes of an entity that Fit was called for, from the memory of
// Value. They are valid until the next call.
func (b *Hitboxes) Build() []lagcomp.Hitbox { return b.BuildFrom(b.Value) }

// BuildFrom is Build for components in other memory.
func (b *Hitboxes) BuildFrom(at func(comp int) unsafe.Pointer) []lagcomp.Hitbox {
	b.out = b.out[:0]
	for _, i := range b.table {
		b.at = b.at[:0]
		for _, comp := range b.game.Hitboxes[i].Components {
			b.at = append(b.at, at(comp))
		}
		b.out = b.make.Build(i, b.at, b.out)
	}
	return b.out
}

// life returns the life counter of an entity, from the memory of Value.
func (b *Hitboxes) life(mask schema.Mask) (n uint32) {
	for _, l := range b.game.Lives {
		if mask.Has(l.Component) {
			n = n*31 + l.Of(b.values[l.Component])
		}
	}
	return n
}
