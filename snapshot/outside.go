package snapshot

import (
	"math"
	"reflect"
	"unsafe"
)

// bound is a field that can hold more than its tag allows.
type bound struct {
	field  int
	op     opcode
	offset uintptr
	min    float64 // of a number with a step: what still rounds into the range
	max    float64
}

// setBounds lists the fields outside of slices that can leave their range.
func (s *Schema) setBounds() {
	s.bounds = nil
	for i := 0; i < len(s.leaves); i++ {
		switch l := &s.leaves[i]; {
		case l.op == opLength:
			i = s.lists[l.list].end() - 1
		case l.escapes():
			g := &l.grid[GridSim]
			b := bound{i, l.op, l.offset, (float64(g.lo) - 0.5) * g.step, (float64(g.hi) + 0.5) * g.step}
			if l.op == opAngle32 { // any that is finite
				b.op, b.min, b.max = opStep32, -math.MaxFloat32, math.MaxFloat32
			}
			s.bounds = append(s.bounds, b)
		}
	}
}

// escapes reports whether a value can leave the range of its field.
func (l *leaf) escapes() bool {
	switch l.op {
	case opStep32, opStep64, opAngle32, opAngle64, opFloat32, opFloat64, opQuat:
		return true
	case opInt8, opInt16, opInt32, opInt64:
		bits := 8 << (l.op - opInt8)
		return l.lo != -1<<(bits-1) || l.hi != 1<<(bits-1)-1
	case opUint8, opUint16, opUint32:
		return l.lo != 0 || l.hi != 1<<(8<<(l.op-opUint8))-1
	case opUint64:
		return !l.wide
	}
	return false
}

// Outside returns the index in [Schema.Fields], from one of them on, of the next number
// of the value at p that its tag's range does not hold, or that is NaN; −1 if there is
// none. Such a value
// travels as the nearest end of the range, or as 0, and [Schema.Snap] makes it that.
// What still rounds to the range's end is inside. Angles leave by NaN and infinity alone,
// and so do rotations of floats; a rotation of nothing but zeroes is none at all.
func (s *Schema) Outside(p unsafe.Pointer, from int) int {
	found := -1
	if s.via != nil {
		s = s.via.own
	}
	for i := range s.bounds {
		b := &s.bounds[i]
		var out bool
		if b.op == opStep32 {
			v := float64(*(*float32)(unsafe.Add(p, b.offset)))
			out = !(v >= b.min && v <= b.max)
		} else {
			out = s.leaves[b.field].outside(p)
		}
		if out && b.field >= from {
			found = b.field
			break
		}
	}
	for i := range s.lists {
		l := &s.lists[i]
		data, n := l.get(p)
		for k, e := range l.leaves(s, min(n, l.most)) {
			if at := l.from + k; at >= from && (found < 0 || at < found) && e.outside(data) {
				found = at
			}
		}
	}
	return found
}

func (l *leaf) outside(p unsafe.Pointer) bool {
	switch {
	case !l.escapes():
		return false
	case l.op <= opUint64:
		v := l.loadInt(p)
		return l.clampInt(v) != v
	case l.op == opQuat:
		return l.quatOutside(unsafe.Add(p, l.offset))
	}
	v := l.loadFloat(p)
	if l.angle() {
		return v-v != 0
	}
	if !l.stepped() {
		return v != v
	}
	x, g := v*l.grid[GridSim].inv, &l.grid[GridSim]
	return !(x >= float64(g.lo)-0.5 && x <= float64(g.hi)+0.5)
}

// quatOutside is outside of the rotation at p.
func (l *leaf) quatOutside(p unsafe.Pointer) bool {
	switch {
	case l.floats() && l.kind == reflect.Float32:
		q := (*[4]float32)(p)
		sum := float64(q[0])*float64(q[0]) + float64(q[1])*float64(q[1]) + float64(q[2])*float64(q[2]) + float64(q[3])*float64(q[3])
		return !(sum < 1e30)
	case l.floats():
		q := (*[4]float64)(p)
		return !(q[0]*q[0]+q[1]*q[1]+q[2]*q[2]+q[3]*q[3] < 1e30)
	}
	out := l.loadElem(p, 0)&3 != l.loadElem(p, 0)
	for i := 1; i < quatWords; i++ {
		v := l.loadElem(p, i)
		out = out || v < 0 || v >= int64(1)<<l.bits
	}
	return out
}

// leastLoss is the smallest change, in steps of the simulation grid, that
// [Schema.Swallowed] takes for one.
const leastLoss = 1. / 64

// Swallowed returns the index in [Schema.Fields], from one of them on, of the next
// number with a step that was changed and that [Schema.Snap] will bring back to what it
// was: before holds the words, on the simulation grid, that the value at p had ahead of
// the change. −1 if there is none. up is the direction of the change. A change
// of less than 1/64 step, or of what a float itself rounds by, is none. Rotations are
// not looked at.
func (s *Schema) Swallowed(p unsafe.Pointer, before []int32, from int) (field int, up bool) {
	if s.via != nil {
		return -1, false
	}
	for i := from; i < len(s.leaves); i++ {
		l, at := &s.leaves[i], p
		if !l.stepped() {
			continue
		}
		if list, k := s.listOf(i); list != nil {
			data, n := list.get(p)
			if at = data; k >= min(n, list.most, list.length(before)) {
				continue
			}
		}
		v := l.loadFloat(at)
		x := v * l.grid[GridSim].inv
		d := x - math.RoundToEven(x)
		if math.Abs(d) < leastLoss || l.outside(at) || l.index(v, GridSim) != before[l.word] {
			continue
		}
		noise := 0x1p-50
		if l.op == opStep32 || l.op == opAngle32 {
			noise = 0x1p-21
		}
		if math.Abs(d) > noise*math.Abs(x) {
			return i, d > 0
		}
	}
	return -1, false
}

// Raw returns a field of the value at p as a number, by its index in [Schema.Fields],
// as it is in memory: 0 for what is no number, and for an element that is not there.
func (s *Schema) Raw(field int, p unsafe.Pointer) float64 {
	if s.via != nil {
		s = s.via.own
	}
	l := &s.leaves[field]
	if list, k := s.listOf(field); list != nil {
		data, n := list.get(p)
		if p = data; k >= n {
			return 0
		}
	}
	switch {
	case l.op <= opUint64:
		return float64(l.loadInt(p))
	case l.op <= opAngle64:
		return l.loadFloat(p)
	}
	return 0
}
