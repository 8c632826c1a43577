package schema

import (
	"unsafe"

	"github.com/foretick/foretick/internal/quantise"
)

// Tolerant reports whether any field has a tolerance (tag tol).
func (s *Schema) Tolerant() bool { return s.plan.Tolerant() }

// Carry applies the error of an earlier prediction to a later value, and reports
// whether anything changed. All three are words on the simulation grid. To each number
// in later it adds the difference from predicted to actual, within the field's range;
// angles wrap.
//
// Flags, references, rotations, strings, 64-bit integers and slices with another length
// cannot be added to. If later still equals predicted, they become actual's value.
// Otherwise they stay unchanged.
func (s *Schema) Carry(later, predicted, actual []int32) bool {
	return s.plan.Carry(later, predicted, actual)
}

// Number returns the value of a field, by its index in [Schema.Fields], as a number in
// the field's unit. words are a component's words on grid g. A bool is 0 or 1, a slice
// is its length, strings and rotations are 0. It panics when the index is out of range.
func (s *Schema) Number(field int, words []int32, g Grid) float64 {
	return s.plan.Number(field, words, quantise.Grid(g))
}

// Offset returns the offset that moves a field, by its index in [Schema.Fields], from
// its value in to to its value in from. Both are words on the simulation grid. Angles
// and rotations take the shorter way. Strings and references have a zero offset.
func (s *Schema) Offset(field int, from, to []int32) Offset {
	return Offset(s.plan.Offset(field, from, to))
}

// Displace moves a field of words on the simulation grid by an offset, within its
// range. Integers and steps are rounded to the nearest.
func (s *Schema) Displace(field int, words []int32, by Offset) {
	s.plan.Displace(field, words, quantise.Offset(by))
}

// Quantise writes the words of the value at src to dst, which must hold at least
// [Schema.Words]. NaN becomes 0, and a value outside its range becomes the nearest end.
// Without a range, infinity becomes the greatest number of its type.
// References go through refs; with nil refs they become none. Fields for the owner are
// written on either grid.
func (s *Schema) Quantise(src unsafe.Pointer, g Grid, refs Refs, dst []int32) {
	s.plan.Quantise(src, quantise.Grid(g), refs, dst)
}

// Dequantise writes the value of the words src on grid g to dst. Fields that are not
// sent stay unchanged in dst.
func (s *Schema) Dequantise(src []int32, g Grid, refs Refs, dst unsafe.Pointer) {
	s.plan.Dequantise(src, quantise.Grid(g), refs, dst, quantise.Everything)
}

// DequantiseMasked is Dequantise for a viewer without any class: fields that are not
// for all viewers stay unchanged in dst.
func (s *Schema) DequantiseMasked(src []int32, g Grid, refs Refs, dst unsafe.Pointer) {
	s.plan.Dequantise(src, quantise.Grid(g), refs, dst, quantise.Public)
}

// DequantiseFor is Dequantise for a viewer of the given classes. Fields that the viewer
// does not receive stay unchanged in dst.
func (s *Schema) DequantiseFor(a Audience, src []int32, g Grid, refs Refs, dst unsafe.Pointer) {
	s.plan.Dequantise(src, quantise.Grid(g), refs, dst, quantise.Audience(a))
}

// Snap rounds the value at p to the simulation grid, in place. The result is the value
// that its owner will read from a snapshot. Both ends call it after each tick of
// predicted components. Snapping twice changes nothing. References stay unchanged.
func (s *Schema) Snap(p unsafe.Pointer) { s.plan.Snap(p) }

// DropRefs sets references of the value at p to none if alive reports false for their
// entity. Both ends call it after each tick of predicted components, because a
// reference to a removed entity is sent as none.
func (s *Schema) DropRefs(p unsafe.Pointer, alive func(entity uint64) bool) {
	s.plan.DropRefs(p, alive)
}

// FirstDifference compares two vectors on the simulation grid. It returns the index in
// [Schema.Fields] of the first field that differs by more than its tolerance, or −1.
func (s *Schema) FirstDifference(a, b []int32) int { return s.plan.FirstDifference(a, b) }

// Differs reports whether one field, by its index in [Schema.Fields], differs as
// [Schema.FirstDifference] sees it.
func (s *Schema) Differs(field int, a, b []int32) bool { return s.plan.Differs(field, a, b) }

// SnapWords does Quantise on the simulation grid and Snap in one call. It writes the
// words of the value at p to dst, which must hold at least [Schema.Words], and rounds
// the value to them. Like [Schema.Snap] it leaves references unchanged. A client calls
// it for each predicted component after each tick.
func (s *Schema) SnapWords(p unsafe.Pointer, refs Refs, dst []int32) {
	s.plan.SnapWords(p, refs, dst)
}

// Value returns the value of a field, by its index in [Schema.Fields], from a
// component's words on a grid. It is a bool, an int64, a uint64, a float64, a string,
// or the [WireID] of a reference. A rotation is the [4]float64 of x, y, z and w, or
// [4]int64 if its type has integers. A slice's own field is its length, an int64. An
// element that is not there is nil.
//
// Value is for tools: it allocates. It panics when the index is out of range.
func (s *Schema) Value(field int, words []int32, g Grid) any {
	v := s.plan.Value(field, words, quantise.Grid(g))
	if id, ok := v.(uint16); ok {
		return WireID(id)
	}
	return v
}

// UnpackValues reads a value packed by [Schema.Pack] and appends the value of each field to dst, as
// [Schema.Value] returns it. The error is [ErrMalformed].
func (s *Schema) UnpackValues(b []byte, dst []any) ([]any, error) {
	at := s.plan.Block()
	if err := s.UnpackRefs(b, quantise.SameRefs{}, at); err != nil {
		return dst, err
	}
	words := make([]int32, s.plan.Words)
	s.Quantise(at, GridPublic, quantise.SameRefs{}, words)
	for i := range s.plan.Leaves {
		dst = append(dst, s.Value(i, words, GridPublic))
	}
	return dst, nil
}
