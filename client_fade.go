package foretick

import (
	"slices"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
)

// fades holds the offsets that hide corrections, in each field's units, one for each
// interpolated field of the local player. Rotations have a rotation as their offset.
type fades struct {
	fade  prediction.Fade
	items []fadeItem
	a, b  []int32
}

type fadeItem struct {
	e      ecs.Entity
	comp   int
	field  int
	offset schema.Offset
	least  float32 // a smaller offset is forgotten
}

func (f *fades) clear() { f.items = f.items[:0] }

// forgotten is the share of an offset below which it is dropped, for fields without a step.
const forgotten = 1. / 1024

// add keeps a field drawn at its old value, and lets the difference fade from there.
func (f *fades) add(e ecs.Entity, comp, field int, described *schema.Schema, was, is []int32) {
	d := described.Offset(field, was, is)
	if d == (schema.Offset{}) {
		return
	}
	item := f.find(e, comp, field)
	if item == nil {
		f.items = append(f.items, fadeItem{e: e, comp: comp, field: field})
		item = &f.items[len(f.items)-1]
	}
	info := described.Fields()[field]
	if info.Quat {
		if item.offset != (schema.Offset{}) {
			f.a = append(f.a[:0], was...)
			described.Displace(field, f.a, item.offset)
			d = described.Offset(field, f.a, is)
		}
		if size := d.Size(); f.fade.Add(0, size, 0) == 0 { // too far, or no number
			d = schema.Offset{}
		}
		item.offset = d
	} else {
		item.offset[0] = f.fade.Add(item.offset[0], d[0], 0)
	}
	item.least = item.offset.Size() * forgotten
	if info.Sim != 0 {
		item.least = float32(info.Sim) / 2
	}
}

func (f *fades) find(e ecs.Entity, comp, field int) *fadeItem {
	for i := range f.items {
		if it := &f.items[i]; it.e == e && it.comp == comp && it.field == field {
			return it
		}
	}
	return nil
}

// drop forgets the offsets of an entity: it is drawn at its true values.
func (f *fades) drop(e ecs.Entity) {
	f.items = slices.DeleteFunc(f.items, func(it fadeItem) bool { return it.e == e })
}

// age fades every offset by dt and drops those that are gone.
func (f *fades) age(dt time.Duration) {
	k := f.fade.Factor(dt)
	live := f.items[:0]
	for _, it := range f.items {
		for i := range it.offset {
			it.offset[i] *= k
		}
		if it.offset.Size() > it.least {
			live = append(live, it)
		}
	}
	f.items = live
}

// offset returns the knots of a component with the offsets applied to its values. They are
// valid until the next call.
func (f *fades) offset(c *layout.Component, e ecs.Entity, comp int, k schema.Knots) schema.Knots {
	if len(f.items) == 0 {
		return k
	}
	n := c.Schema.Words()
	f.a = append(f.a[:0], k.From[:n]...)
	k.From = f.a
	if k.To != nil {
		f.b = append(f.b[:0], k.To[:n]...)
		k.To = f.b
	}
	for _, it := range f.items {
		if it.e != e || it.comp != comp || !c.Schema.Has(it.field, k.From) {
			continue
		}
		if k.To == nil {
			c.Schema.Displace(it.field, k.From, it.offset)
		} else if c.Schema.Has(it.field, k.To) {
			c.Schema.Displace(it.field, k.From, it.offset)
			c.Schema.Displace(it.field, k.To, it.offset)
		}
	}
	return k
}
