package rollback

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/settled"
)

// values are all values of a world, in an order that is the same on all machines: singletons first, then entities
// by their handles, each with its components and its parent.
type values struct {
	types   *ecs.Types
	world   *ecs.World
	singles []ecs.TypeInfo
	spots   []settled.Spot
	hashes  []uint32 // hashes has for each spot a hash of all values up to its own.
}

const parentColumn = 1 << 9

// valuesOf lists the values of a world, which must not change as long as they are used.
func valuesOf(t *ecs.Types, w *ecs.World) *values {
	v := &values{types: t, world: w, singles: t.Singletons()}
	for i := range v.singles {
		v.add(ecs.None, uint16(i), len(v.singles[i].Fields))
	}
	var all []ecs.Entity
	for _, rows := range ecs.NewQuery(t).All(w) {
		all = append(all, rows.Entities()...)
	}
	slices.Sort(all)
	for _, e := range all {
		mask := ecs.Engine(w).Mask(e)
		for _, id := range mask.IDs() {
			if int(id) < t.Len() {
				v.add(e, uint16(id), max(len(t.Info(id).Fields), 1)) // a tag has no field, and is there all the same
			}
		}
		if w.Parent(e) != ecs.None {
			v.add(e, parentColumn, 1)
		}
	}
	v.hashes = make([]uint32, len(v.spots))
	h := uint64(1)
	for i, s := range v.spots {
		h = fold(fold(fold(h, uint64(s.Entity)), uint64(s.Column)<<16|uint64(s.Field)), v.bits(s))
		v.hashes[i] = uint32(h >> 32)
	}
	return v
}

func (v *values) add(e ecs.Entity, column uint16, fields int) {
	for i := range fields {
		v.spots = append(v.spots, settled.Spot{Entity: e, Column: column, Field: uint16(i)})
	}
}

// fold mixes a number into a hash.
func fold(h, n uint64) uint64 {
	hi, lo := bits.Mul64(h^0x9E3779B97F4A7C15, n^0xD6E8FEB86659FD93)
	return hi ^ lo + n
}

// find returns the field of a spot, and where its value is. The field is nil for a parent, and for a component
// without fields.
func (v *values) find(s settled.Spot) (name string, f *ecs.Field, at unsafe.Pointer) {
	var info ecs.TypeInfo
	switch {
	case s.Column == parentColumn:
		return "its parent", nil, nil
	case s.Entity == ecs.None:
		info = v.singles[s.Column]
		at = ecs.Engine(v.world).SingletonPointer(info.ID)
	default:
		info = v.types.Info(ecs.ID(s.Column))
		at = ecs.Engine(v.world).Pointer(s.Entity, info.ID)
	}
	if int(s.Field) >= len(info.Fields) {
		return info.Name, nil, nil
	}
	f = &info.Fields[s.Field]
	return f.Path, f, unsafe.Add(at, f.Offset)
}

// bits returns a number that is equal for equal values.
func (v *values) bits(s settled.Spot) uint64 {
	_, f, at := v.find(s)
	if f == nil {
		return uint64(v.world.Parent(s.Entity))
	}
	return bitsAt(f, at)
}

// bitsAt returns a number that is equal for equal values of a field, also where an int has another size.
func bitsAt(f *ecs.Field, at unsafe.Pointer) uint64 {
	r := reflect.NewAt(f.Type, at).Elem()
	switch k := f.Type.Kind(); {
	case k == reflect.Bool:
		return uint64(*(*uint8)(at))
	case r.CanInt():
		return uint64(r.Int())
	case r.CanUint():
		return r.Uint()
	case k == reflect.Float32:
		return uint64(*(*uint32)(at))
	case k == reflect.Float64:
		return *(*uint64)(at)
	case k == reflect.String || k == reflect.Slice || r.CanComplex():
		return settled.SumOf([]byte(fmt.Sprint(r.Interface())))
	}
	return 0 // a pointer is another one on each machine
}

// text returns a value for people.
func (v *values) text(s settled.Spot) string {
	_, f, at := v.find(s)
	switch {
	case s.Column == parentColumn:
		return fmt.Sprint(v.world.Parent(s.Entity))
	case f == nil:
		return "there"
	}
	return textAt(f, at)
}

func textAt(f *ecs.Field, at unsafe.Pointer) string {
	text := fmt.Sprint(reflect.NewAt(f.Type, at).Elem().Interface())
	return text[:min(len(text), mostValueText)]
}

// mostValueText is how many bytes of a value are told.
const mostValueText = 100

// difference returns the first spot at which two worlds differ, and the values there. It returns false if all
// values are equal.
func (v *values) difference(o *values) (s settled.Spot, own, other string, found bool) {
	for i := range max(len(v.spots), len(o.spots)) {
		switch {
		case i < len(v.spots) && i < len(o.spots) && v.hashes[i] == o.hashes[i]:
		case i >= len(o.spots) || i < len(v.spots) && v.spots[i].Compare(o.spots[i]) < 0:
			return v.spots[i], v.text(v.spots[i]), missing, true
		case i >= len(v.spots) || v.spots[i] != o.spots[i]:
			return o.spots[i], missing, o.text(o.spots[i]), true
		default:
			return v.spots[i], v.text(v.spots[i]), o.text(o.spots[i]), true
		}
	}
	return s, "", "", false
}

// missing is the value of what does not exist.
const missing = "nothing"

// nameOf returns the path of a spot's field, such as "position.X".
func (v *values) nameOf(s settled.Spot) string {
	name, _, _ := v.find(s)
	return name
}

// findingAt returns what is at a place of the list. Beyond its end there is nothing.
func (v *values) findingAt(place int) *settled.Finding {
	if place >= len(v.spots) {
		return &settled.Finding{Value: missing}
	}
	s := v.spots[place]
	return &settled.Finding{Spot: s, Field: v.nameOf(s), Value: v.text(s)}
}
