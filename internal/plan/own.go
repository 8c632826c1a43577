package plan

import (
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// OwnInterpolation is a game's function for the values of a plan between two others.
type OwnInterpolation struct {
	size uintptr
	fn   func(dst, from, to unsafe.Pointer, t float32)
	ends sync.Pool // of *ends: views of several players are made at once
}

// ends is memory for the two values, and for the one between. The caller's own would escape
// to the heap.
type ends struct{ from, to, out unsafe.Pointer }

// UseOwn makes Interpolate call fn for values between two others, whatever the leaves'
// tags say. The plan's type must be plain memory. Call it before the plan is used.
func (s *Plan) UseOwn(fn func(dst, from, to unsafe.Pointer, t float32)) {
	of := s.Type
	s.own = &OwnInterpolation{size: of.Size(), fn: fn}
	s.own.ends.New = func() any {
		return &ends{reflect.New(of).UnsafePointer(), reflect.New(of).UnsafePointer(), reflect.New(of).UnsafePointer()}
	}
}

// Own reports whether a game's function interpolates the values.
func (s *Plan) Own() bool { return s.own != nil }

// moves reports whether a value differs between two knots, in what an audience receives. A
// client that knows that a value rests has no second knot, and the server has.
func (s *Plan) moves(aud Audience, k *Knots) bool {
	for i := range s.Leaves {
		if l := &s.Leaves[i]; l.SeenBy(aud) && !slices.Equal(k.From[l.Word:l.Word+l.Words()], k.To[l.Word:l.Word+l.Words()]) {
			return true
		}
	}
	return false
}

// between writes to dst what the game's function returns. Fields that the audience does
// not receive have the value in dst at both ends.
func (o *OwnInterpolation) between(s *Plan, aud Audience, k *Knots, g Grid, refs Refs, dst unsafe.Pointer) {
	e := o.ends.Get().(*ends)
	copy(unsafe.Slice((*byte)(e.from), o.size), unsafe.Slice((*byte)(dst), o.size))
	copy(unsafe.Slice((*byte)(e.to), o.size), unsafe.Slice((*byte)(dst), o.size))
	s.Dequantise(k.From, g, refs, e.from, aud)
	s.Dequantise(k.To, g, refs, e.to, aud)
	o.fn(e.out, e.from, e.to, k.Fraction)
	copy(unsafe.Slice((*byte)(dst), o.size), unsafe.Slice((*byte)(e.out), o.size))
	o.ends.Put(e)
}
