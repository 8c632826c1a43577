package snapshot

import "math"

// Offset is how far one value of a field lies from another: a number in the field's
// units, in its first element, or for a rotation its axis times its angle in radians.
// Multiplied by a number from 0 to 1 it is that share of the way.
type Offset [3]float32

// Size is how large the offset is, in the field's units; of a rotation its angle.
func (o Offset) Size() float32 {
	return float32(math.Sqrt(float64(o[0])*float64(o[0]) + float64(o[1])*float64(o[1]) + float64(o[2])*float64(o[2])))
}

// Offset returns what field (an index in [Schema.Fields]) of to must be moved by to be
// that of from. Both are on the simulation grid. Angles and rotations go the shorter
// way. Strings and references have none.
func (s *Schema) Offset(field int, from, to []int32) Offset {
	l := &s.leaves[field]
	switch {
	case l.op == opQuat && l.floats():
		return turnBetween(l.rotation(to[l.word:], GridSim), l.rotation(from[l.word:], GridSim))
	case l.op <= opAngle64:
		return Offset{float32(l.apart(to, from, GridSim))}
	}
	return Offset{}
}

// Displace moves a field of words, which are on the simulation grid, by an offset. It
// stays in its range. Integers and steps are rounded to the nearest.
func (s *Schema) Displace(field int, words []int32, by Offset) {
	l := &s.leaves[field]
	switch {
	case l.op == opQuat && l.floats():
		l.quantiseRotation(turnedBy(by, l.rotation(words[l.word:], GridSim)), words[l.word:])
	case l.stepped():
		words[l.word] = l.index(l.value(words[l.word], GridSim)+float64(by[0]), GridSim)
	case l.op == opFloat32:
		v := math.Float32frombits(uint32(words[l.word])) + by[0]
		if math.Abs(float64(v)) <= math.MaxFloat32 {
			words[l.word] = int32(math.Float32bits(v))
		}
	case l.op == opFloat64:
		if v := math.Float64frombits(l.wide64(words)) + float64(by[0]); math.Abs(v) <= math.MaxFloat64 {
			l.setWide(words, int64(math.Float64bits(v)))
		}
	case l.op <= opUint64:
		l.displaceInt(words, math.RoundToEven(float64(by[0])))
	}
}

// displaceInt moves an integer, unless it would leave what 64 bits can hold.
func (l *leaf) displaceInt(words []int32, by float64) {
	if !(math.Abs(by) < 1<<62) {
		return
	}
	v, d := l.wordInt(words), int64(by)
	if d > 0 && v > math.MaxInt64-d || d < 0 && v < math.MinInt64-d {
		return
	}
	v = l.clampInt(v + d)
	if l.wide {
		l.setWide(words, v)
	} else {
		words[l.word] = int32(v)
	}
}

func (l *leaf) setWide(words []int32, v int64) {
	words[l.word], words[l.word+1] = int32(v), int32(v>>32)
}

// turnBetween is the rotation from p to q, the shorter way: q times the inverse of p.
func turnBetween(p, q [4]float64) Offset {
	t := times(q, [4]float64{-p[0], -p[1], -p[2], p[3]})
	if t[3] < 0 {
		t = [4]float64{-t[0], -t[1], -t[2], -t[3]}
	}
	sin := math.Sqrt(float64(t[0]*t[0]) + float64(t[1]*t[1]) + float64(t[2]*t[2]))
	if sin < 1e-9 {
		return Offset{}
	}
	k := 2 * math.Atan2(sin, t[3]) / sin
	return Offset{float32(t[0] * k), float32(t[1] * k), float32(t[2] * k)}
}

// turnedBy is the rotation q followed by an offset.
func turnedBy(by Offset, q [4]float64) [4]float64 {
	angle := float64(by.Size())
	if !(angle > 1e-9) {
		return q
	}
	k := math.Sin(angle/2) / angle
	return times([4]float64{float64(by[0]) * k, float64(by[1]) * k, float64(by[2]) * k, math.Cos(angle / 2)}, q)
}

// times is the product of two quaternions x, y, z, w: first b, then a.
func times(a, b [4]float64) [4]float64 {
	return [4]float64{
		float64(a[3]*b[0]) + float64(a[0]*b[3]) + float64(a[1]*b[2]) - float64(a[2]*b[1]),
		float64(a[3]*b[1]) - float64(a[0]*b[2]) + float64(a[1]*b[3]) + float64(a[2]*b[0]),
		float64(a[3]*b[2]) + float64(a[0]*b[1]) - float64(a[1]*b[0]) + float64(a[2]*b[3]),
		float64(a[3]*b[3]) - float64(a[0]*b[0]) - float64(a[1]*b[1]) - float64(a[2]*b[2]),
	}
}
