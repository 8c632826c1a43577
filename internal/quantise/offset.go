package quantise

import "math"

// Offset is [schema.Offset].
type Offset [3]float32

// size returns the length of the offset in the field's units, or the angle of a
// rotation.
func (o Offset) size() float32 {
	return float32(math.Sqrt(float64(o[0])*float64(o[0]) + float64(o[1])*float64(o[1]) + float64(o[2])*float64(o[2])))
}

// Offset is [schema.Schema.Offset].
func (s *Plan) Offset(field int, from, to []int32) Offset {
	l := &s.Leaves[field]
	switch {
	case l.Class == Quat && l.Floats():
		return turnBetween(l.rotation(to[l.Word:], GridSim), l.rotation(from[l.Word:], GridSim))
	case l.Class.Number():
		return Offset{float32(l.apart(to, from, GridSim))}
	}
	return Offset{}
}

// Displace is [schema.Schema.Displace].
func (s *Plan) Displace(field int, words []int32, by Offset) {
	l := &s.Leaves[field]
	switch {
	case l.Class == Quat && l.Floats():
		l.quantiseRotation(turnedBy(by, l.rotation(words[l.Word:], GridSim)), words[l.Word:])
	case l.Stepped():
		words[l.Word] = l.index(l.floatOf(words[l.Word], GridSim)+float64(by[0]), GridSim)
	case l.Class == Float32:
		v := math.Float32frombits(uint32(words[l.Word])) + by[0]
		if math.Abs(float64(v)) <= math.MaxFloat32 {
			words[l.Word] = int32(math.Float32bits(v))
		}
	case l.Class == Float64:
		if v := math.Float64frombits(l.wide64(words)) + float64(by[0]); math.Abs(v) <= math.MaxFloat64 {
			l.setWide(words, int64(math.Float64bits(v)))
		}
	case l.Class.Integer():
		l.displaceInt(words, math.RoundToEven(float64(by[0])))
	}
}

// displaceInt moves an integer, unless it would leave what 64 bits can hold.
func (l *Leaf) displaceInt(words []int32, by float64) {
	if !(math.Abs(by) < 1<<62) {
		return
	}
	v, d := l.wordInt(words), int64(by)
	if d > 0 && v > math.MaxInt64-d || d < 0 && v < math.MinInt64-d {
		return
	}
	v = l.clampInt(v + d)
	if l.Wide {
		l.setWide(words, v)
	} else {
		words[l.Word] = int32(v)
	}
}

func (l *Leaf) setWide(words []int32, v int64) {
	words[l.Word], words[l.Word+1] = int32(v), int32(v>>32)
}

// turnBetween returns the rotation from p to q, the shorter way: q times the inverse of
// p.
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

// turnedBy returns the rotation q followed by an offset.
func turnedBy(by Offset, q [4]float64) [4]float64 {
	angle := float64(by.size())
	if !(angle > 1e-9) {
		return q
	}
	k := math.Sin(angle/2) / angle
	return times([4]float64{float64(by[0]) * k, float64(by[1]) * k, float64(by[2]) * k, math.Cos(angle / 2)}, q)
}

// times returns the product of two quaternions x, y, z, w: first b, then a.
func times(a, b [4]float64) [4]float64 {
	return [4]float64{
		float64(a[3]*b[0]) + float64(a[0]*b[3]) + float64(a[1]*b[2]) - float64(a[2]*b[1]),
		float64(a[3]*b[1]) - float64(a[0]*b[2]) + float64(a[1]*b[3]) + float64(a[2]*b[0]),
		float64(a[3]*b[2]) + float64(a[0]*b[1]) - float64(a[1]*b[0]) + float64(a[2]*b[3]),
		float64(a[3]*b[3]) - float64(a[0]*b[0]) - float64(a[1]*b[1]) - float64(a[2]*b[2]),
	}
}
