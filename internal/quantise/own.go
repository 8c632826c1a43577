package quantise

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
	ends sync.Pool // ends is a pool of *ends, because views of several players are made at once.
}

// ends is memory for the two values and the one between them. Variables of the caller would escape to the heap.
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

// moves reports whether two knots differ in a field that an audience receives. For a value at rest, the server
// has a second knot that is equal. A client that knows that the value rests has none.
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
