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
	p       *compiled
	world   *ecs.World
	singles []ecs.TypeInfo
	spots   []settled.Spot
	hashes  []uint32 // hashes has for each spot a hash of all values up to its own.
}

const parentColumn = 1 << 9

// valuesOf lists the values of a world, which must not change as long as they are used.
func valuesOf(p *compiled, w *ecs.World) *values {
	t := p.Types
	v := &values{p: p, world: w, singles: t.Singletons()}
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
		info = v.p.Types.Info(ecs.ID(s.Column))
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

// difference returns the first value that differs in two worlds, or nil if all are equal. Expected is the other one.
func (v *values) difference(o *values) *settled.Finding {
	for i := range max(len(v.spots), len(o.spots)) {
		if i >= len(v.spots) || i >= len(o.spots) || v.hashes[i] != o.hashes[i] {
			return joinFindings(v.findingAt(i), o.findingAt(i))
		}
	}
	return nil
}

// missing is the value of what does not exist.
const missing = "nothing"

// joinFindings returns what one side has where two lists of values begin to differ. Expected is what the other side
// has. Of two other spots, only one side has the first.
func joinFindings(own, other *settled.Finding) *settled.Finding {
	f := *own
	f.Expected = other.Value
	switch order := own.Spot.Compare(other.Spot); {
	case own.Field == "" || order > 0 && other.Field != "":
		f = *other
		f.Value, f.Expected = missing, other.Value
	case other.Field == "" || order < 0:
		f.Expected = missing
	}
	return &f
}

// findingAt returns what is at a place of the list. Beyond its end there is nothing.
func (v *values) findingAt(place int) *settled.Finding {
	if place >= len(v.spots) {
		return &settled.Finding{Value: missing}
	}
	s := v.spots[place]
	name, _, _ := v.find(s)
	return &settled.Finding{Spot: s, Prefab: prefabOf(v.p, v.world, s.Entity), Field: name, Value: v.text(s)}
}

// prefabOf returns 1 + the number of an entity's prefab, or 0 if it has none.
func prefabOf(p *compiled, w *ecs.World, of ecs.Entity) uint16 {
	if id := p.Identity.Find(w, of); id != nil {
		return id.Prefab + 1
	}
	return 0
}
