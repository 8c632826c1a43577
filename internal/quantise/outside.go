package quantise

import (
	"math"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/internal/coder"
)

// bound is a field that can hold more than its tag allows.
type bound struct {
	field  int
	op     Class
	offset uintptr
	// min and max bound the values that are not outside. For a number with a step, that is what rounds into the
	// range.
	min float64
	max float64
}

// setBounds lists the fields outside of slices that can leave their range.
func (s *Plan) setBounds() {
	s.bounds = nil
	for i := 0; i < len(s.Leaves); i++ {
		switch l := &s.Leaves[i]; {
		case l.Class == Length:
			i = s.Lists[l.List].End() - 1
		case l.escapes():
			g := &l.Grid[GridSim]
			b := bound{i, l.Class, l.Offset, (float64(g.lo) - 0.5) * g.Step, (float64(g.hi) + 0.5) * g.Step}
			if l.Class == Angle32 || l.Class == Float32 { // any finite value is inside
				b.op, b.min, b.max = Step32, -math.MaxFloat32, math.MaxFloat32
			}
			s.bounds = append(s.bounds, b)
		}
	}
}

// escapes reports whether a value can leave the range of its field.
func (l *Leaf) escapes() bool {
	switch {
	case l.Class == Uint64:
		return !l.Wide
	case l.Class.Counts():
		lo, hi := l.Class.Limits()
		return l.Lo != lo || l.Hi != hi
	}
	return l.Class.Raw() || l.Class.Stepped() || l.Class == Quat
}

// Outside is [schema.Schema.Outside].
func (s *Plan) Outside(p unsafe.Pointer, from int) int {
	found := -1
	if s.via != nil {
		s = s.via.own
	}
	for i := range s.bounds {
		b := &s.bounds[i]
		var out bool
		if b.op == Step32 {
			v := float64(*(*float32)(unsafe.Add(p, b.offset)))
			out = !(v >= b.min && v <= b.max)
		} else {
			out = s.Leaves[b.field].outside(p)
		}
		if out && b.field >= from {
			found = b.field
			break
		}
	}
	for i := range s.Lists {
		l := &s.Lists[i]
		data, n := l.get(p)
		for k, e := range l.leaves(s, min(n, l.Most)) {
			if at := l.From + k; at >= from && (found < 0 || at < found) && e.outside(data) {
				found = at
			}
		}
	}
	return found
}

func (l *Leaf) outside(p unsafe.Pointer) bool {
	switch {
	case !l.escapes():
		return false
	case l.Class.Integer():
		v := l.loadInt(p)
		return l.clampInt(v) != v
	case l.Class == Quat:
		return l.quatOutside(unsafe.Add(p, l.Offset))
	}
	v := l.loadFloat(p)
	if l.Angle() || !l.Stepped() {
		return v-v != 0
	}
	x, g := v*l.Grid[GridSim].inv, &l.Grid[GridSim]
	return !(x >= float64(g.lo)-0.5 && x <= float64(g.hi)+0.5)
}

// quatOutside reports whether the rotation at p is outside its range.
func (l *Leaf) quatOutside(p unsafe.Pointer) bool {
	switch {
	case l.Floats() && l.Kind == reflect.Float32:
		q := (*[4]float32)(p)
		sum := float64(q[0])*float64(q[0]) + float64(q[1])*float64(q[1]) + float64(q[2])*float64(q[2]) + float64(q[3])*float64(q[3])
		return !(sum < 1e30)
	case l.Floats():
		q := (*[4]float64)(p)
		return !(q[0]*q[0]+q[1]*q[1]+q[2]*q[2]+q[3]*q[3] < 1e30)
	}
	out := l.loadElem(p, 0)&3 != l.loadElem(p, 0)
	for i := 1; i < coder.QuatWords; i++ {
		v := l.loadElem(p, i)
		out = out || v < 0 || v >= int64(1)<<l.Bits
	}
	return out
}

// leastLoss is the smallest change, in steps of the simulation grid, that [Plan.Swallowed] counts as a change.
const leastLoss = 1. / 64

// Swallowed is [schema.Schema.Swallowed].
func (s *Plan) Swallowed(p unsafe.Pointer, before []int32, from int) (field int, up bool) {
	if s.via != nil {
		return -1, false
	}
	for i := from; i < len(s.Leaves); i++ {
		l, at := &s.Leaves[i], p
		if !l.Stepped() {
			continue
		}
		if list, k := s.ListOf(i); list != nil {
			data, n := list.get(p)
			if at = data; k >= min(n, list.Most, list.Length(before)) {
				continue
			}
		}
		v := l.loadFloat(at)
		x := v * l.Grid[GridSim].inv
		d := x - math.RoundToEven(x)
		if math.Abs(d) < leastLoss || l.outside(at) || l.index(v, GridSim) != before[l.Word] {
			continue
		}
		noise := 0x1p-50
		if l.Class == Step32 || l.Class == Angle32 {
			noise = 0x1p-21
		}
		if math.Abs(d) > noise*math.Abs(x) {
			return i, d > 0
		}
	}
	return -1, false
}

// Raw is [schema.Schema.Raw].
func (s *Plan) Raw(field int, p unsafe.Pointer) float64 {
	if s.via != nil {
		s = s.via.own
	}
	l := &s.Leaves[field]
	if list, k := s.ListOf(field); list != nil {
		data, n := list.get(p)
		if p = data; k >= n {
			return 0
		}
	}
	switch {
	case l.Class.Integer():
		return float64(l.loadInt(p))
	case l.Class.Number():
		return l.loadFloat(p)
	}
	return 0
}
