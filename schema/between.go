package schema

import (
	"unsafe"

	"github.com/foretick/foretick/internal/quantise"
)

// Extrapolates reports whether any field is tagged extrapolate.
func (s *Schema) Extrapolates() bool { return s.plan.Extrapolates() }

// Extrapolate writes to dst the value beyond ticks after b, for a viewer of the given
// classes. a is the value span ticks before b. Fields tagged extrapolate continue as
// they moved from a to b, for at most the number of ticks in their tag and within their
// range. Other fields are those of b.
func (s *Schema) Extrapolate(aud Audience, a, b []int32, span, beyond float32, g Grid, refs Refs, dst unsafe.Pointer) {
	s.plan.Extrapolate(quantise.Audience(aud), a, b, span, beyond, quantise.Grid(g), refs, dst)
}

// UseInterpolation makes Interpolate call fn for values between two others, in place of
// the fields' tags: dst, from and to point at values of the schema's Go type. The type may
// hold no strings or slices. Call it before the schema is used. It is not part of the
// description.
func (s *Schema) UseInterpolation(fn func(dst, from, to unsafe.Pointer, t float32)) {
	s.plan.UseOwn(fn)
}

// OwnInterpolation reports whether UseInterpolation was called.
func (s *Schema) OwnInterpolation() bool { return s.plan.Own() }

// Interpolate writes to dst the value between the knots, which are on grid g, for a
// viewer of the given classes. Each field moves as its tag says, and is exactly From at
// 0 and To at 1; without To it is From. Fields that the viewer does not receive stay unchanged in dst.
func (s *Schema) Interpolate(aud Audience, k Knots, g Grid, refs Refs, dst unsafe.Pointer) {
	s.plan.Interpolate(quantise.Audience(aud), (*quantise.Knots)(&k), quantise.Grid(g), refs, dst)
}
