package quantise

import (
	"math"
	"unsafe"

	"github.com/foretick/foretick/internal/coder"
)

// HermiteSpan is the greatest distance in ticks between two values for which a hermite
// field uses its speeds. With values further apart it moves straight.
const HermiteSpan = 16

// steepest is the greatest speed at the start of a curve between two knots, in multiples of its mean speed. If
// the speed at the end is the mean speed, the curve then stays between the knots.
const steepest = 4

// Knots are [schema.Knots].
type Knots struct {
	Before     []int32
	From, To   []int32
	Lead, Span float32
	Rate       float32
	Fraction   float32
}

// Keyframe is [schema.Keyframe].
type Keyframe struct {
	Tick  uint32
	Words []int32
}

// Between is [schema.Between]. Clients that draw and servers that judge decide here alone
// whether a value holds.
func Between(before, from, to Keyframe, fraction, rate float32) Knots {
	k := Knots{From: from.Words, Rate: rate}
	switch {
	case from.Words == nil:
		k.From = to.Words
	case to.Words != nil && fraction > 0:
		k.To, k.Span, k.Fraction = to.Words, float32(to.Tick-from.Tick), fraction
		if before.Words != nil {
			k.Before, k.Lead = before.Words, float32(from.Tick-before.Tick)
		}
	}
	return k
}

// Interpolate writes to dst the value between the knots. Every value shown between two
// received ones is computed here.
func (s *Plan) Interpolate(aud Audience, k *Knots, g Grid, refs Refs, dst unsafe.Pointer) {
	if k.To == nil {
		s.Dequantise(k.From, g, refs, dst, aud)
		return
	}
	if s.own != nil && k.Fraction > 0 && k.Fraction < 1 && s.moves(aud, k) {
		s.own.between(s, aud, k, g, refs, dst)
		return
	}
	if v := s.via; v != nil {
		v.Wire.Interpolate(aud, k, g, refs, v.in)
		v.store(v.in, dst, aud)
		return
	}
	a, b := k.From[:s.Words], k.To[:s.Words]
	held := a
	if k.Fraction >= 1 {
		held = b
	}
	if len(s.Lists) == 0 {
		s.between(s.Leaves, aud, k, held, g, refs, dst)
		return
	}
	straight := *k
	straight.Before = nil
	s.parts(func(leaves []Leaf) { s.between(leaves, aud, k, held, g, refs, dst) }, func(l *List) {
		if !s.Leaves[l.From-1].SeenBy(aud) {
			return
		}
		n := l.Length(held)
		at, leaves := l.fit(dst, n), l.leaves(s, n)
		both := min(l.Length(a), l.Length(b)) * l.Each // elements that only one knot has hold their value
		three := 0
		if k.Before != nil {
			three = min(both, l.Length(k.Before)*l.Each)
		}
		s.between(leaves[:three], aud, k, held, g, refs, at)
		s.between(leaves[three:both], aud, &straight, held, g, refs, at)
		restore(leaves[both:], held, g, refs, at, aud)
	})
}

// between writes some leaves' values between the knots.
func (s *Plan) between(leaves []Leaf, aud Audience, k *Knots, held []int32, g Grid, refs Refs, dst unsafe.Pointer) {
	a, b, f := k.From[:s.Words], k.To[:s.Words], float64(k.Fraction)
	for i := range leaves {
		l := &leaves[i]
		switch {
		case !l.SeenBy(aud):
		case l.Interpolation == Snap || !(f > 0) || f >= 1:
			l.restore(held, g, refs, dst)
		case l.Class == Quat:
			l.blendQuat(a[l.Word:], b[l.Word:], f, g, dst)
		case l.Interpolation == Hermite:
			if x, ok := l.curve(s, k, g); ok {
				l.storeNear(x, g, dst)
				break
			}
			fallthrough
		default:
			l.blend(a, b, f, g, dst)
		}
	}
}

// curve returns a hermite leaf's value between the knots, or false if it moves
// straight.
func (l *Leaf) curve(s *Plan, k *Knots, g Grid) (float64, bool) {
	if !(k.Span > 0 && k.Span <= HermiteSpan) {
		return 0, false
	}
	d := l.apart(k.From, k.To, g)
	var out, in float64 // the speeds at both knots, in units per span
	if l.Speed != 0 {
		if !(k.Rate > 0) {
			return 0, false
		}
		v := &s.Leaves[l.Speed-1]
		x, y := v.float(k.From, g), v.float(k.To, g)
		if d == 0 && x == y {
			return 0, false
		}
		stretch := float64(k.Span) / float64(k.Rate)
		out, in = x*stretch, y*stretch
	} else {
		if k.Before == nil || !(k.Lead > 0 && k.Lead <= HermiteSpan) {
			return 0, false
		}
		out, in = l.apart(k.Before[:s.Words], k.From, g)*(float64(k.Span)/float64(k.Lead)), d
		if d >= 0 {
			out = min(max(out, 0), steepest*d)
		} else {
			out = max(min(out, 0), steepest*d)
		}
	}
	f := float64(k.Fraction)
	bend := float64((out-d)*(1-f)) - float64((in-d)*f)
	x := l.float(k.From, g) + float64(d*f) + float64(bend*float64(f*(1-f)))
	most := math.MaxFloat64
	switch {
	case l.Class == Float32:
		most = math.MaxFloat32
	case l.Class.Integer():
		most = 1 << 62 // far beyond, converting to int64 would not be defined
	}
	return x, math.Abs(x) <= most
}

// apart returns the difference from a to b; for angles the shorter way.
func (l *Leaf) apart(a, b []int32, g Grid) float64 {
	if !l.Stepped() {
		return l.float(b, g) - l.float(a, g)
	}
	d := int64(b[l.Word]) - int64(a[l.Word])
	if l.Angle() {
		d = coder.Wrap(d, l.Grid[g].hi-l.Grid[g].lo+1)
	}
	return float64(d) * l.Grid[g].Step
}

// storeNear stores a number, or the nearest that the field allows.
func (l *Leaf) storeNear(v float64, g Grid, dst unsafe.Pointer) {
	switch s := &l.Grid[g]; {
	case l.Angle():
		l.storeFloat(dst, turned(v))
	case l.Stepped():
		l.storeFloat(dst, min(max(v, float64(s.lo)*s.Step), float64(s.hi)*s.Step))
	case l.Class.Integer():
		l.storeInt(dst, l.clampInt(int64(math.RoundToEven(v))))
	default:
		l.storeFloat(dst, v)
	}
}

// turned brings an angle back into [−π, π).
func turned(v float64) float64 {
	if v < -math.Pi || v >= math.Pi {
		v = math.Remainder(v, 2*math.Pi)
	}
	if v >= math.Pi {
		v -= 2 * math.Pi
	}
	return v
}
