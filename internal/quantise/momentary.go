package quantise

import (
	"math"
	"math/bits"
	"unsafe"
)

// Momentary fields say what happened in a frame, and not what state something is in: one-shots and sums.

// ClearMomentary is [schema.Schema.ClearMomentary].
func (s *Plan) ClearMomentary(p unsafe.Pointer) {
	if s.via != nil {
		s = s.via.own
	}
	for i := range s.Leaves {
		switch l := &s.Leaves[i]; {
		case l.OneShot:
			l.storeInt(p, 0)
		case l.Sum:
			l.setNumber(p, 0)
		}
	}
}

// Gather is [schema.Schema.Gather].
func (s *Plan) Gather(dst, src unsafe.Pointer) (full int) {
	if s.via != nil {
		s = s.via.own
	}
	full = -1
	for i := range s.Leaves {
		switch l := &s.Leaves[i]; {
		case l.OneShot && l.loadInt(src) != 0:
			l.storeInt(dst, 1)
		case l.Sum && l.gather(dst, src) && !l.outside(dst) && full < 0:
			full = i
		}
	}
	return full
}

// gather adds a number to another, and reports whether the type cannot hold the result.
// It then stores the type's limit.
func (l *Leaf) gather(dst, src unsafe.Pointer) (full bool) {
	if !l.Class.Integer() {
		v, most := l.loadFloat(dst)+l.loadFloat(src), math.MaxFloat64
		if l.Class.single() {
			most = math.MaxFloat32
		}
		full = math.Abs(v) > most
		if full {
			v = math.Copysign(most, v)
		}
		l.storeFloat(dst, v)
		return full
	}
	a, b := l.loadInt(dst), l.loadInt(src)
	lo, hi := l.Class.Limits()
	v := a + b
	switch l.Class {
	case Uint64:
		sum, carry := bits.Add64(uint64(a), uint64(b), 0)
		v, full = int64(sum), carry != 0
		hi = -1 // the bits of the greatest uint64
	case Int64:
		full = (a^v)&(b^v) < 0
	default:
		full = v < lo || v > hi
	}
	if full && b < 0 && l.Class != Uint64 {
		v = lo
	} else if full {
		v = hi
	}
	l.storeInt(dst, v)
	return full
}

// ClampSums is [schema.Schema.ClampSums].
func (s *Plan) ClampSums(p unsafe.Pointer) {
	if s.via != nil {
		s = s.via.own
	}
	for i := range s.Leaves {
		switch l := &s.Leaves[i]; {
		case !l.Sum:
		case l.Class.Integer():
			l.storeInt(p, l.clampInt(l.loadInt(p)))
		default:
			v := l.loadFloat(p)
			if v != v {
				v = 0
			}
			if g := &l.Grid[GridPublic]; l.Stepped() {
				v = min(max(v, float64(g.lo)*g.Step), float64(g.hi)*g.Step)
			}
			l.storeFloat(p, v)
		}
	}
}

// Deduct is [schema.Schema.Deduct].
func (s *Plan) Deduct(p, sent unsafe.Pointer, more bool) {
	if s.via != nil {
		s = s.via.own
	}
	for i := range s.Leaves {
		switch l := &s.Leaves[i]; {
		case l.OneShot:
			l.storeInt(p, 0)
		case l.Sum && l.Class.Integer():
			rest := l.loadInt(p) - l.loadInt(sent)
			if !more {
				rest = 0
			}
			l.storeInt(p, rest)
		case l.Sum:
			rest := l.loadFloat(p) - l.loadFloat(sent)
			if !more && !(l.Stepped() && math.Abs(rest) <= l.Grid[GridPublic].Step*0.51) {
				rest = 0 // drop the rest, unless it is from rounding
			}
			l.storeFloat(p, rest)
		}
	}
}

// setNumber sets an integer or a float.
func (l *Leaf) setNumber(p unsafe.Pointer, v int64) {
	if l.Class.Integer() {
		l.storeInt(p, v)
	} else {
		l.storeFloat(p, float64(v))
	}
}

// CanSum reports whether samples of the leaf can be added up.
func (l *Leaf) CanSum() bool { return l.Class.Moves() && !l.Angle() && l.Class.Number() }
