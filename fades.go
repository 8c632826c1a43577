package foretick

import (
	"slices"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
)

// fades holds the offsets that hide corrections, in each field's units, one for each
// interpolated field of the local player. Rotations have a rotation as their offset.
type fades struct {
	fade   prediction.Fade
	items  []fadeItem
	before record // what was predicted for the newest tick ahead of a correction
	has    bool
	a, b   []int32
}

type fadeItem struct {
	e      ecs.Entity
	comp   int
	field  int
	offset snapshot.Offset
	least  float32 // a smaller offset is forgotten
}

func (f *fades) clear() { f.items = f.items[:0] }

// remember keeps what is shown until a correction may replace it.
func (f *fades) remember(r *record) {
	f.has = r != nil
	if f.has {
		f.before.items = append(f.before.items[:0], r.items...)
		f.before.words = append(f.before.words[:0], r.words...)
	}
}

// correct turns the difference between what was shown and what is right now
// into offsets.
func (f *fades) correct(c *Client, after *record) {
	if !f.has || after == nil {
		return
	}
	for _, it := range after.items {
		if it.comp == itself {
			continue
		}
		old := f.before.find(it.e, int(it.comp))
		if old == nil {
			continue
		}
		if c.leapt(it.e) {
			f.drop(it.e)
			continue
		}
		schema := c.p.components[it.comp].schema
		for i, field := range schema.Fields() {
			if !field.Lerp || !schema.Has(i, old) || !schema.Has(i, after.words[it.off:]) {
				continue
			}
			f.add(it.e, int(it.comp), i, schema, old[:schema.Words()], after.words[it.off:][:schema.Words()])
		}
	}
}

// forgotten is the share of an offset that is not worth keeping, where no step says it.
const forgotten = 1. / 1024

// add lets what was drawn of a field stay where it was, and fade from there.
func (f *fades) add(e ecs.Entity, comp, field int, schema *snapshot.Schema, was, is []int32) {
	d := schema.Offset(field, was, is)
	if d == (snapshot.Offset{}) {
		return
	}
	item := f.find(e, comp, field)
	if item == nil {
		f.items = append(f.items, fadeItem{e: e, comp: comp, field: field})
		item = &f.items[len(f.items)-1]
	}
	info := schema.Fields()[field]
	if info.Quat {
		if item.offset != (snapshot.Offset{}) {
			f.a = append(f.a[:0], was...)
			schema.Displace(field, f.a, item.offset)
			d = schema.Offset(field, f.a, is)
		}
		if size := d.Size(); f.fade.Add(0, size, 0) == 0 { // too far, or no number
			d = snapshot.Offset{}
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

// drop forgets the offsets of an entity: it is shown where it is.
func (f *fades) drop(e ecs.Entity) {
	f.items = slices.DeleteFunc(f.items, func(it fadeItem) bool { return it.e == e })
}

// age lets every offset fade by dt and drops what is gone.
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

// offset returns two states of a component with the offsets applied; they are
// valid until the next call.
func (f *fades) offset(c *component, e ecs.Entity, comp int, a, b []int32) (x, y []int32) {
	if len(f.items) == 0 {
		return a, b
	}
	f.a, f.b = append(f.a[:0], a...), append(f.b[:0], b...)
	for _, it := range f.items {
		if it.e == e && it.comp == comp {
			if c.schema.Has(it.field, f.a) && c.schema.Has(it.field, f.b) {
				c.schema.Displace(it.field, f.a, it.offset)
				c.schema.Displace(it.field, f.b, it.offset)
			}
		}
	}
	return f.a, f.b
}
