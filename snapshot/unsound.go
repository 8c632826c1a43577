package snapshot

import (
	"math"
	"reflect"
	"unsafe"
)

// Unsound returns the index in [Schema.Fields] of the first number of the value at p
// that lies outside of its range or is not a number, and would travel as another; −1 if
// there is none. A number may be half a step beyond its range. Elements of slices are
// not looked at. It is for values that are given once, such as defaults.
func (s *Schema) Unsound(p unsafe.Pointer) int {
	if s.via != nil {
		s = s.via.own
	}
	for i := 0; i < len(s.leaves); i++ {
		l := &s.leaves[i]
		if l.op == opLength {
			i = s.lists[l.list].end() - 1
		} else if l.unsound(p) {
			return i
		}
	}
	return -1
}

func (l *leaf) unsound(p unsafe.Pointer) bool {
	infinite := func(v float64) bool { return v != v || math.IsInf(v, 0) }
	switch {
	case l.op == opQuat && l.kind == reflect.Float32:
		q := (*[quatWords]float32)(unsafe.Add(p, l.offset))
		return infinite(float64(q[0]) + float64(q[1]) + float64(q[2]) + float64(q[3]))
	case l.op == opQuat && l.kind == reflect.Float64:
		q := (*[quatWords]float64)(unsafe.Add(p, l.offset))
		return infinite(q[0] + q[1] + q[2] + q[3])
	case l.op == opFloat32 || l.op == opFloat64 || l.angle():
		return infinite(l.loadFloat(p))
	case l.stepped():
		v, step := l.loadFloat(p), l.grid[GridPublic].step
		return !(v >= (float64(l.lo)-0.5)*step && v <= (float64(l.hi)+0.5)*step)
	case l.op <= opUint64:
		return l.clampInt(l.loadInt(p)) != l.loadInt(p)
	}
	return false
}
