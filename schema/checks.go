package schema

import "unsafe"

// Has reports whether a field, by its index in [Schema.Fields], exists in a component's
// words. Every field does, except those of slice elements from the slice's length on.
func (s *Schema) Has(field int, words []int32) bool { return s.plan.Has(field, words) }

// Varies returns the index in [Schema.Fields] of the first string or slice, or −1.
// Values without one always pack to the same number of bytes.
func (s *Schema) Varies() int { return s.plan.Varies() }

// Unfit finds the first field of the value at p that cannot be sent whole: a string
// that is too long or not UTF-8, or a slice that is too long. It returns its index in
// [Schema.Fields], or −1. Such a value is cut when it is sent, and [Schema.Snap] cuts
// it in place.
func (s *Schema) Unfit(p unsafe.Pointer) int { return s.plan.Unfit(p) }

// Outside finds the next number of the value at p, from field index from on, that is
// NaN, infinite or outside its tag's range. It returns its index in [Schema.Fields], or
// −1. Such a number is sent as the nearest end of the range, and [Schema.Snap] sets it to
// that. Without a range, infinity is sent as the greatest number of its type. NaN is sent
// as 0.
//
// A number that rounds to the range's end is inside. Angles and rotations of floats are
// outside only with NaN or infinity. A rotation of all zeroes is inside: it means none.
func (s *Schema) Outside(p unsafe.Pointer, from int) int { return s.plan.Outside(p, from) }

// Swallowed finds the next number with a step, from field index from on, whose change
// [Schema.Snap] will undo. It returns its index in [Schema.Fields], or −1, and the
// direction of the change. before holds the words of the value at p before the change,
// on the simulation grid. Changes of less than 1/64 step, or within the rounding of the
// float type, do not count. Rotations are skipped.
func (s *Schema) Swallowed(p unsafe.Pointer, before []int32, from int) (field int, up bool) {
	return s.plan.Swallowed(p, before, from)
}

// Raw returns a field of the value at p as a number, by its index in [Schema.Fields],
// as it is in memory. It returns 0 for a field that is no number and for an element
// that does not exist.
func (s *Schema) Raw(field int, p unsafe.Pointer) float64 { return s.plan.Raw(field, p) }

// Unsound finds the first number of the value at p that is out of range or NaN, and
// would be sent as another number. It returns its index in [Schema.Fields], or −1. A
// number may be half a step out of its range. Elements of slices are skipped. Use it
// for values that are set once, such as defaults.
func (s *Schema) Unsound(p unsafe.Pointer) int { return s.plan.Unsound(p) }
