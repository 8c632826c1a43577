package quantise

import (
	"math"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/internal/coder"
)

// Unsound is [schema.Schema.Unsound].
func (s *Plan) Unsound(p unsafe.Pointer) int {
	if s.via != nil {
		s = s.via.own
	}
	for i := 0; i < len(s.Leaves); i++ {
		l := &s.Leaves[i]
		if l.Class == Length {
			i = s.Lists[l.List].End() - 1
		} else if l.unsound(p) {
			return i
		}
	}
	return -1
}

func (l *Leaf) unsound(p unsafe.Pointer) bool {
	infinite := func(v float64) bool { return v != v || math.IsInf(v, 0) }
	switch {
	case l.Class == Quat && l.Kind == reflect.Float32:
		q := (*[coder.QuatWords]float32)(unsafe.Add(p, l.Offset))
		return infinite(float64(q[0]) + float64(q[1]) + float64(q[2]) + float64(q[3]))
	case l.Class == Quat && l.Kind == reflect.Float64:
		q := (*[coder.QuatWords]float64)(unsafe.Add(p, l.Offset))
		return infinite(q[0] + q[1] + q[2] + q[3])
	case l.Class.Raw() || l.Angle():
		return infinite(l.loadFloat(p))
	case l.Stepped():
		v, step := l.loadFloat(p), l.Grid[GridPublic].Step
		return !(v >= (float64(l.Lo)-0.5)*step && v <= (float64(l.Hi)+0.5)*step)
	case l.Class.Integer():
		return l.clampInt(l.loadInt(p)) != l.loadInt(p)
	}
	return false
}
