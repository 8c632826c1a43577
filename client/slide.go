package client

import (
	"slices"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// slides draws entities on their way between the past and the present, when they change hands or their
// prediction is switched. The offset shrinks evenly, over a multiple of the time between both. So the
// drawn speed of a body that moves evenly differs from its real speed by a limited share.
type slides struct {
	*base
	ghosts *ghosts
	names  *recordNames

	items []slideItem
	// shown has the drawn values of the last frame. It has entities themselves if they were drawn ahead.
	shown record
	words []int32
}

type slideItem struct {
	e      ecs.Entity
	fresh  bool // its offsets have to be measured
	left   time.Duration
	offset []slideOffset
}

type slideOffset struct {
	comp, field int
	by          schema.Offset
}

func (sl *slides) clearSlides() { sl.items = sl.items[:0]; sl.shown.clearRecord() }

// beginSlide notes that a ghost's entity has another owner, or that its prediction was switched. What
// is drawn in the past before and after stays where it is.
func (sl *slides) beginSlide(g *snapshot.Ghost) {
	e := ecs.Entity(g.Data)
	if !sl.shown.hasEntity(e) && !sl.ghosts.ahead(g) {
		return
	}
	for i := range sl.items {
		if sl.items[i].e == e {
			sl.items[i].fresh = true
			return
		}
	}
	sl.items = append(sl.items, slideItem{e: e, fresh: true})
}

// drawSlides draws the entities that slide, and notes the drawn values of all that may slide.
func (sl *slides) drawSlides(now netcode.Time, since time.Duration) {
	if sl.cfg.NoPrediction || sl.cfg.Observe != nil {
		return
	}
	apart := float64(int32(now.Predicted-now.Render)) + float64(now.Fraction-now.RenderFraction)
	for i := range sl.items {
		it := &sl.items[i]
		if it.fresh {
			it.fresh = false
			it.left = rewind.SlideTimes * time.Duration(max(apart, 0)*float64(time.Second)) / time.Duration(sl.p.TickRate)
			if !sl.measureSlide(it) || sl.ghosts.leapt(it.e) {
				sl.stats.JumpsByOwner++
			}
			sl.drawSlide(it, 0) // this frame shows the same as the last one
			continue
		}
		sl.drawSlide(it, since)
	}
	sl.items = slices.DeleteFunc(sl.items, func(it slideItem) bool { return it.left <= 0 || !sl.world.Alive(it.e) })
	sl.shown.clearRecord()
	for _, g := range sl.ghosts.receiver.Ghosts() {
		if e := ecs.Entity(g.Data); sl.world.Alive(e) {
			if sl.ghosts.ahead(g) {
				sl.shown.items = append(sl.shown.items, recordItem{e, itself, false, int32(len(sl.shown.words))})
			}
			sl.noteShown(e)
		}
	}
}

// begins reports whether an entity's slide begins in the frame that is being computed.
func (sl *slides) begins(e ecs.Entity) bool {
	return slices.ContainsFunc(sl.items, func(it slideItem) bool { return it.e == e && it.fresh })
}

// slidable calls do for each component of an entity that is drawn between two values.
func (sl *slides) slidable(e ecs.Entity, do func(i int, comp *layout.Component, words []int32)) {
	for i := range sl.p.Components {
		comp := &sl.p.Components[i]
		if comp.Unknown || !comp.Predicted || !comp.Lerped {
			continue
		}
		if at := ecs.Engine(sl.world).Pointer(e, comp.ID); at != nil {
			sl.words = slices.Grow(sl.words[:0], comp.Schema.Words())[:comp.Schema.Words()]
			comp.Schema.Quantise(at, schema.GridSim, sl.names, sl.words)
			do(i, comp, sl.words)
		}
	}
}

// noteShown notes an entity's drawn values.
func (sl *slides) noteShown(e ecs.Entity) {
	r := &sl.shown
	sl.slidable(e, func(i int, _ *layout.Component, words []int32) {
		r.items = append(r.items, recordItem{e, uint8(i), false, int32(len(r.words))})
		r.words = append(r.words, words...)
	})
}

// measureSlide computes the offsets from the values without a slide to the values that were shown. A field
// that not everybody receives has none: it may be withdrawn with the change, and is its default at once. It
// returns false if the last frame did not show the entity.
func (sl *slides) measureSlide(it *slideItem) (shown bool) {
	it.offset = it.offset[:0]
	sl.slidable(it.e, func(i int, comp *layout.Component, words []int32) {
		was := sl.shown.wordsOf(it.e, i)
		if was == nil {
			return
		}
		shown = true
		for f, field := range comp.Schema.Fields() {
			if !field.Lerp || field.Audience != 0 || !comp.Schema.Has(f, was) || !comp.Schema.Has(f, words) {
				continue
			}
			if by := comp.Schema.Offset(f, was[:len(words)], words); by != (schema.Offset{}) {
				it.offset = append(it.offset, slideOffset{i, f, by})
			}
		}
	})
	return shown
}

// drawSlide shrinks an entity's offsets for a frame, and draws the entity with them.
func (sl *slides) drawSlide(it *slideItem, since time.Duration) {
	keep := float32(max(it.left-since, 0)) / float32(max(it.left, 1))
	it.left -= since
	if sl.ghosts.leapt(it.e) {
		it.left = 0
	}
	if it.left <= 0 || !sl.world.Alive(it.e) {
		return
	}
	for i := range it.offset {
		for k := range it.offset[i].by {
			it.offset[i].by[k] *= keep
		}
	}
	sl.slidable(it.e, func(i int, comp *layout.Component, words []int32) {
		for _, o := range it.offset {
			if o.comp == i && comp.Schema.Has(o.field, words) {
				comp.Schema.Displace(o.field, words, o.by)
			}
		}
		comp.Schema.Dequantise(words, schema.GridSim, sl.names, ecs.Engine(sl.world).Pointer(it.e, comp.ID))
	})
}

// fades has the offsets that hide corrections, in each field's units, one for each interpolated field
// of the local player. The offset of a rotation is a rotation.
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
	least  float32 // a smaller offset is dropped
}

func (f *fades) clearFades() { f.items = f.items[:0] }

// forgotten is the share of an offset below which it is dropped, for fields without a step.
const forgotten = 1. / 1024

// addFade keeps a field drawn at its old value, and lets the difference fade from there. It reports
// whether the difference is too large for that, and is shown at once.
func (f *fades) addFade(e ecs.Entity, comp, field int, described *schema.Schema, was, is []int32) (jumps bool) {
	d := described.Offset(field, was, is)
	if d == (schema.Offset{}) {
		return false
	}
	item := f.findFade(e, comp, field)
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
		size := d.Size()
		jumps = size > f.fade.Limit
		if f.fade.Add(0, size, 0) == 0 { // it is too large, or not a number
			d = schema.Offset{}
		}
		item.offset = d
	} else {
		apart := item.offset[0] + d[0]
		jumps = max(apart, -apart) > f.fade.Limit
		item.offset[0] = f.fade.Add(item.offset[0], d[0], 0)
	}
	item.least = item.offset.Size() * forgotten
	if info.Sim != 0 {
		item.least = float32(info.Sim) / 2
	}
	return jumps && f.fade.Limit > 0 && f.fade.HalfLife >= 0
}

func (f *fades) findFade(e ecs.Entity, comp, field int) *fadeItem {
	for i := range f.items {
		if it := &f.items[i]; it.e == e && it.comp == comp && it.field == field {
			return it
		}
	}
	return nil
}

// dropFades drops the offsets of an entity, so that it is drawn at its true values.
func (f *fades) dropFades(e ecs.Entity) {
	f.items = slices.DeleteFunc(f.items, func(it fadeItem) bool { return it.e == e })
}

// age fades every offset by dt and drops those that became small enough.
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

// offset returns the knots of a component with the offsets added to its values. They are valid until
// the next call.
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

// hasFade reports whether a correction of an entity's component fades.
func (f *fades) hasFade(e ecs.Entity, comp int) bool {
	for i := range f.items {
		if f.items[i].e == e && f.items[i].comp == comp {
			return true
		}
	}
	return false
}
