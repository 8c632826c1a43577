package foretick

import (
	"math"
	"slices"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
)

// fades holds the offsets that hide corrections, in words of the simulation
// step, one for each interpolated field of the local player.
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
	word   int
	offset float32
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
			if !field.Lerp || field.Sim == 0 || !schema.Has(i, old) || !schema.Has(i, after.words[it.off:]) {
				continue
			}
			was, is := old[field.Word], after.words[int(it.off)+field.Word]
			if field.Angle { // the short way round
				circle := int32(math.Round(2 * math.Pi / field.Sim))
				if d := was - is; d > circle/2 {
					was -= circle
				} else if d < -circle/2 {
					was += circle
				}
			}
			if was == is {
				continue
			}
			f.add(it.e, int(it.comp), field, float32(was), float32(is))
		}
	}
}

func (f *fades) add(e ecs.Entity, comp int, field snapshot.Field, was, is float32) {
	item := f.find(e, comp, field.Word)
	if item == nil {
		f.items = append(f.items, fadeItem{e: e, comp: comp, word: field.Word})
		item = &f.items[len(f.items)-1]
	}
	limited := f.fade
	limited.Limit /= float32(field.Sim)
	item.offset = limited.Add(item.offset, was, is)
}

func (f *fades) find(e ecs.Entity, comp, word int) *fadeItem {
	for i := range f.items {
		if it := &f.items[i]; it.e == e && it.comp == comp && it.word == word {
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
		it.offset *= k
		if it.offset >= 0.5 || it.offset <= -0.5 {
			live = append(live, it)
		}
	}
	f.items = live
}

// offset returns two states of a component with the offsets applied; they are
// valid until the next call.
func (f *fades) offset(_ *component, e ecs.Entity, comp int, a, b []int32) (x, y []int32) {
	if len(f.items) == 0 {
		return a, b
	}
	f.a, f.b = append(f.a[:0], a...), append(f.b[:0], b...)
	for _, it := range f.items {
		if it.e == e && it.comp == comp {
			f.a[it.word] += int32(it.offset)
			f.b[it.word] += int32(it.offset)
		}
	}
	return f.a, f.b
}
