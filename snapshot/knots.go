package snapshot

import (
	"math"
	"unsafe"
)

// HermiteSpan is over how many ticks a hermite field takes a speed for granted: where
// values lie further apart it goes straight.
const HermiteSpan = 16

// steepest is how many times the mean speed of a stretch its first speed may be, if
// its last is the mean, for the curve to stay between its ends.
const steepest = 4

// Knots are the values of a component that a picture between two of them rests on,
// for [Schema.Interpolate]. All are words on one grid.
//
// A field tagged hermite goes from From to To along the cubic that leaves and arrives
// with these speeds:
//
//   - with a velocity (tag hermite=NAME), those that the velocity field has in From and
//     in To. The curve may reach beyond its ends, as a ball does between two ticks,
//     but not beyond the field's range. Where neither value nor velocity differ, it
//     holds.
//   - without one, the mean speed from Before to From, and that from From to To. It never
//     leaves the interval between its two ends: the first speed is 0 where the
//     motion turns back or ends, and at most four times the second. It needs nothing
//     later than To, so that a picture does not depend on what has come since.
//
// It goes straight where what it needs is missing, or lies more than [HermiteSpan]
// ticks apart.
type Knots struct {
	// Before is the value received before From; nil where there is none, or a
	// teleport or another cut lies between them. See [Ghost.Before].
	Before []int32
	// From and To are the values around the picture: see [Ghost.Sample].
	From, To []int32
	// Lead is the number of ticks from Before to From, and Span that from From to To.
	// 0 is unknown.
	Lead, Span float32
	// Rate is how many ticks a second has. 0 is unknown: velocities count for nothing.
	Rate float32
	// Fraction is how far between From and To the picture lies, 0 to 1.
	Fraction float32
}

// Interpolate writes to dst the value between the knots, which are on grid g, for a
// viewer of the given classes: each field as its tag says, and at 0 and 1 exactly From
// and To. Fields that the viewer does not receive keep what dst has.
func (s *Schema) Interpolate(aud Audience, k Knots, g Grid, refs Refs, dst unsafe.Pointer) {
	s.interpolate(aud, &k, g, refs, dst)
}

func (s *Schema) interpolate(aud audience, k *Knots, g Grid, refs Refs, dst unsafe.Pointer) {
	if v := s.via; v != nil {
		v.wire.interpolate(aud, k, g, refs, v.in)
		v.store(v.in, dst, aud)
		return
	}
	a, b := k.From[:s.words], k.To[:s.words]
	held := a
	if k.Fraction >= 1 {
		held = b
	}
	if len(s.lists) == 0 {
		s.between(s.leaves, aud, k, held, g, refs, dst)
		return
	}
	straight := *k
	straight.Before = nil
	s.parts(func(leaves []leaf) { s.between(leaves, aud, k, held, g, refs, dst) }, func(l *list) {
		if !s.leaves[l.from-1].seenBy(aud) {
			return
		}
		n := l.length(held)
		at, leaves := l.fit(dst, n), l.leaves(s, n)
		both := min(l.length(a), l.length(b)) * l.each // elements that are in one alone hold
		three := 0
		if k.Before != nil {
			three = min(both, l.length(k.Before)*l.each)
		}
		s.between(leaves[:three], aud, k, held, g, refs, at)
		s.between(leaves[three:both], aud, &straight, held, g, refs, at)
		restore(leaves[both:], held, g, refs, at, aud)
	})
}

// between writes some leaves' values between the knots.
func (s *Schema) between(leaves []leaf, aud audience, k *Knots, held []int32, g Grid, refs Refs, dst unsafe.Pointer) {
	a, b, f := k.From[:s.words], k.To[:s.words], float64(k.Fraction)
	for i := range leaves {
		l := &leaves[i]
		switch {
		case !l.seenBy(aud):
		case l.how == Snap || !(f > 0) || f >= 1:
			l.restore(held, g, refs, dst)
		case l.op == opQuat:
			l.blendQuat(a[l.word:], b[l.word:], f, g, dst)
		case l.how == Hermite:
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

// curve is a hermite leaf's value between the knots; false where it goes straight.
func (l *leaf) curve(s *Schema, k *Knots, g Grid) (float64, bool) {
	if !(k.Span > 0 && k.Span <= HermiteSpan) {
		return 0, false
	}
	d := l.apart(k.From, k.To, g)
	var out, in float64 // the speeds, per stretch
	if l.speed != 0 {
		if !(k.Rate > 0) {
			return 0, false
		}
		v := &s.leaves[l.speed-1]
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
		out, in = l.apart(k.Before[:s.words], k.From, g)*(float64(k.Span)/float64(k.Lead)), d
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
	case l.op == opFloat32:
		most = math.MaxFloat32
	case l.op <= opUint64:
		most = 1 << 62 // far beyond, converting to int64 would not be defined
	}
	return x, math.Abs(x) <= most
}

// apart is how far b lies from a; of angles the shorter way.
func (l *leaf) apart(a, b []int32, g Grid) float64 {
	if !l.stepped() {
		return l.float(b, g) - l.float(a, g)
	}
	d := int64(b[l.word]) - int64(a[l.word])
	if l.angle() {
		d = wrap(d, l.grid[g].hi-l.grid[g].lo+1)
	}
	return float64(d) * l.grid[g].step
}

// storeNear stores a number, or the nearest that the field may have.
func (l *leaf) storeNear(v float64, g Grid, dst unsafe.Pointer) {
	switch s := &l.grid[g]; {
	case l.angle():
		l.storeFloat(dst, turned(v))
	case l.stepped():
		l.storeFloat(dst, min(max(v, float64(s.lo)*s.step), float64(s.hi)*s.step))
	case l.op <= opUint64:
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
