package snapshot

import (
	"math"
	"unsafe"
)

// Lerp writes to dst the value at fraction f (0 to 1) of the way from a to b, both
// on grid g: fields tagged lerp or slerp are interpolated, angles along the shorter
// arc, those tagged hermite go straight (see [Schema.Interpolate]), and the others
// keep a until f reaches 1. Fields for the owner are written too: see
// [Schema.LerpMasked].
func (s *Schema) Lerp(a, b []int32, f float32, g Grid, refs Refs, dst unsafe.Pointer) {
	s.lerp(a, b, f, g, refs, dst, everything)
}

// LerpMasked is Lerp for a viewer of no class: fields that are not for everybody keep
// what dst has.
func (s *Schema) LerpMasked(a, b []int32, f float32, g Grid, refs Refs, dst unsafe.Pointer) {
	s.lerp(a, b, f, g, refs, dst, audiencePublic)
}

// LerpFor is Lerp for a viewer of the given classes: fields that it does not receive
// keep what dst has.
func (s *Schema) LerpFor(aud Audience, a, b []int32, f float32, g Grid, refs Refs, dst unsafe.Pointer) {
	s.lerp(a, b, f, g, refs, dst, aud)
}

func (s *Schema) lerp(a, b []int32, f float32, g Grid, refs Refs, dst unsafe.Pointer, aud audience) {
	s.interpolate(aud, &Knots{From: a, To: b, Fraction: f}, g, refs, dst)
}

func (l *leaf) blend(a, b []int32, f float64, g Grid, dst unsafe.Pointer) {
	if l.stepped() {
		d := int64(b[l.word]) - int64(a[l.word])
		if l.angle() {
			n := l.grid[g].hi - l.grid[g].lo + 1
			d = wrap(d, n)
		}
		v := (float64(a[l.word]) + float64(float64(d)*f)) * l.grid[g].step
		if l.angle() && v >= math.Pi {
			v -= 2 * math.Pi
		} else if l.angle() && v < -math.Pi {
			v += 2 * math.Pi
		}
		l.storeFloat(dst, v)
		return
	}
	x, y := l.float(a, g), l.float(b, g)
	v := float64(x*(1-f)) + float64(y*f)
	if l.op <= opUint64 {
		// From 2⁶³ on, converting to int64 would not be defined.
		if v >= math.MaxInt64 {
			l.restore(a, g, nil, dst)
			return
		}
		l.storeInt(dst, int64(math.RoundToEven(v)))
		return
	}
	l.storeFloat(dst, v)
}
