package quantise

import (
	"math"
	"unsafe"
)

// Extrapolates is [schema.Schema.Extrapolates].
func (s *Plan) Extrapolates() bool {
	for i := range s.Leaves {
		if s.Leaves[i].Ahead > 0 {
			return true
		}
	}
	return false
}

// Extrapolate is [schema.Schema.Extrapolate].
func (s *Plan) Extrapolate(aud Audience, a, b []int32, span, beyond float32, g Grid, refs Refs, dst unsafe.Pointer) {
	if v := s.via; v != nil {
		v.Wire.Extrapolate(aud, a, b, span, beyond, g, refs, v.in)
		v.store(v.in, dst, aud)
		return
	}
	a, b = a[:s.Words], b[:s.Words]
	if len(s.Lists) == 0 {
		extrapolate(s.Leaves, aud, a, b, span, beyond, g, refs, dst)
		return
	}
	s.parts(func(leaves []Leaf) { extrapolate(leaves, aud, a, b, span, beyond, g, refs, dst) }, func(l *List) {
		if s.Leaves[l.From-1].SeenBy(aud) {
			n := l.Length(b)
			at, both := l.fit(dst, n), min(l.Length(a), n)*l.Each
			leaves := l.leaves(s, n)
			extrapolate(leaves[:both], aud, a, b, span, beyond, g, refs, at)
			restore(leaves[both:], b, g, refs, at, aud)
		}
	})
}

// extrapolate does the same as Extrapolate for some leaves.
func extrapolate(leaves []Leaf, aud Audience, a, b []int32, span, beyond float32, g Grid, refs Refs, dst unsafe.Pointer) {
	for i := range leaves {
		l := &leaves[i]
		switch on := float64(min(beyond, l.Ahead) / span); {
		case !l.SeenBy(aud):
		case !(on > 0):
			l.restore(b, g, refs, dst)
		case l.Class == Quat:
			l.blendQuat(a[l.Word:], b[l.Word:], 1+on, g, dst)
		case l.Class.Integer():
			x, y := l.float(a, g), l.float(b, g)
			v := math.RoundToEven(y + float64((y-x)*on))
			l.storeInt(dst, l.clampInt(int64(min(max(v, -1<<62), 1<<62))))
		default:
			l.blend(a, b, 1+on, g, dst)
			if s := &l.Grid[g]; l.Stepped() && !l.Angle() {
				l.storeFloat(dst, min(max(l.loadFloat(dst), float64(s.lo)*s.Step), float64(s.hi)*s.Step))
			}
		}
	}
}
