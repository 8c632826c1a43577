package late

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// fades hides from other players the jump of a body that a late command moved. They receive the body
// with an offset that fades, and shots are judged by what they received. Owners receive the true place.
type fades struct {
	components []layout.Component
	lifeOf     func(ecs.Entity) (n uint32, sent bool)
	ticks      int // ticks is how long an offset takes to fade.

	items []fade
	first map[ecs.Entity]int // first is the first of an entity's items.
	// cut has the entities that teleported in this tick, or in a tick that ran again during it.
	cut  []ecs.Entity
	a, b []int32
}

// fade is the offset of one interpolated field of one component.
type fade struct {
	e      ecs.Entity
	comp   int
	field  int
	offset schema.Offset
	least  float32 // least is the size below which an offset is forgotten.
	owner  ecs.Owner
	life   uint32
	left   int // left is how many ticks the offset still lasts.
	next   int // next is the entity's next fade. −1 means none.
}

func newFades(cfg *Config) fades {
	return fades{components: cfg.Layout.Components, lifeOf: cfg.Life, ticks: cfg.Fade, first: map[ecs.Entity]int{}}
}

// add makes other players see a component as it was. The difference from was to is becomes an offset
// that fades.
func (f *fades) add(w *ecs.World, e ecs.Entity, comp int, was, is unsafe.Pointer) {
	life, sent := f.lifeOf(e)
	if !sent {
		return
	}
	described := f.components[comp].Schema
	n := described.Words()
	f.a, f.b = slices.Grow(f.a[:0], n)[:n], slices.Grow(f.b[:0], n)[:n]
	described.Quantise(is, schema.GridSim, nil, f.b)
	for i, info := range described.Fields() {
		if !info.Lerp {
			continue
		}
		described.Quantise(was, schema.GridSim, nil, f.a) // Displace changed f.a for the field before
		if !described.Has(i, f.a) || !described.Has(i, f.b) || described.Offset(i, f.a, f.b) == (schema.Offset{}) {
			continue
		}
		at := f.find(e, comp, i)
		if at < 0 {
			at = f.insert(fade{e: e, comp: comp, field: i, owner: w.Owner(e), life: life})
		}
		it := &f.items[at]
		if it.offset != (schema.Offset{}) {
			described.Displace(i, f.a, it.offset)
		}
		it.offset, it.least, it.left = described.Offset(i, f.a, f.b), float32(info.Sim)/2, f.ticks
	}
}

// hasCut reports whether an entity teleported in this tick, or in a tick that ran again during it.
func (f *fades) hasCut(e ecs.Entity) bool { return slices.Contains(f.cut, e) }

func (f *fades) find(e ecs.Entity, comp, field int) int {
	at, ok := f.first[e]
	if !ok {
		return -1
	}
	for ; at >= 0; at = f.items[at].next {
		if it := &f.items[at]; it.comp == comp && it.field == field {
			return at
		}
	}
	return -1
}

func (f *fades) insert(it fade) int {
	it.next = -1
	if at, ok := f.first[it.e]; ok {
		it.next = at
	}
	f.items = append(f.items, it)
	f.first[it.e] = len(f.items) - 1
	return len(f.items) - 1
}

// AgeFades fades the offsets by one tick. It drops those that are small enough, and those whose entity
// died, changed its owner, teleported, or was sent anew.
func (r *Room) AgeFades() {
	f := &r.fades
	if len(f.items) == 0 {
		f.cut = f.cut[:0]
		return
	}
	all := f.items
	clear(f.first)
	f.items = f.items[:0]
	for _, it := range all {
		it.left--
		for i := range it.offset {
			it.offset[i] *= float32(it.left) / float32(it.left+1)
		}
		if size := it.offset.Size(); !(size > it.least) || !r.World.Alive(it.e) || r.World.Owner(it.e) != it.owner || f.hasCut(it.e) {
			continue
		}
		if life, _ := f.lifeOf(it.e); life == it.life {
			f.insert(it)
		}
	}
	f.cut = f.cut[:0]
}

// Displace applies an entity's offsets to the next Put of source, so that others receive the entity
// with them.
func (r *Room) Displace(source *snapshot.Source, e ecs.Entity) {
	f := &r.fades
	if len(f.items) == 0 {
		return
	}
	at, ok := f.first[e]
	for ok && at >= 0 {
		it := &f.items[at]
		source.Displace(it.comp, it.field, it.offset)
		at = it.next
	}
}
