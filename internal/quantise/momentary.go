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
func (s *Plan) Gather(dst, src unsafe.Pointer, over []int64, full []int) []int {
	if s.via != nil {
		s = s.via.own
	}
	for i := range s.Leaves {
		switch l := &s.Leaves[i]; {
		case l.OneShot && l.loadInt(dst) == 0:
			l.storeInt(dst, l.loadInt(src))
		case l.Sum && l.gather(dst, src, &over[i]):
			full = append(full, i)
		}
	}
	return full
}

// gather adds a number to another, and what the type cannot hold to over. It reports whether that cannot
// hold it either, and the number then has the type's limit.
func (l *Leaf) gather(dst, src unsafe.Pointer, over *int64) (full bool) {
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
	v := a + b
	switch l.Class {
	case Uint64:
		sum, carry := bits.Add64(uint64(a), uint64(b), 0)
		if v, full = int64(sum), carry != 0; full {
			v = -1 // the bits of the greatest uint64
		}
	case Int64:
		if full = (a^v)&(b^v) < 0; full {
			v = math.MaxInt64 ^ b>>63
		}
	default:
		l.storeWide(dst, v+*over, over)
		return false
	}
	l.storeInt(dst, v)
	return full
}

// storeWide stores an integer, and in over what the type cannot hold of it.
func (l *Leaf) storeWide(p unsafe.Pointer, v int64, over *int64) {
	lo, hi := l.Class.Limits()
	held := min(max(v, lo), hi)
	*over = v - held
	l.storeInt(p, held)
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
func (s *Plan) Deduct(p, sent unsafe.Pointer, over []int64, ticks int, full []int) []int {
	if s.via != nil {
		s = s.via.own
	}
	for i := range s.Leaves {
		switch l := &s.Leaves[i]; {
		case l.OneShot:
			l.storeInt(p, 0)
		case l.Sum && l.Class.Integer():
			rest := l.loadInt(p) - l.loadInt(sent) + over[i]
			bounded := l.inTicks(rest, int64(ticks))
			if l.Class == Uint64 || l.Class == Int64 {
				l.storeInt(p, bounded)
			} else {
				l.storeWide(p, bounded, &over[i])
			}
			if rest != bounded {
				full = append(full, i)
			}
		case l.Sum:
			rest := l.loadFloat(p) - l.loadFloat(sent)
			bounded := l.floatInTicks(rest, float64(ticks))
			l.storeFloat(p, bounded)
			if rest != bounded {
				full = append(full, i)
			}
		}
	}
	return full
}

// inTicks bounds the rest of a sum by what so many commands can hold.
func (l *Leaf) inTicks(rest, ticks int64) int64 {
	switch {
	case ticks == 0:
		return 0
	case l.Class == Uint64 && uint64(rest)/uint64(ticks) >= uint64(l.Hi), rest > 0 && rest/ticks >= l.Hi:
		return l.Hi * ticks
	case l.Class != Uint64 && rest < 0 && rest/ticks <= l.Lo:
		return l.Lo * ticks
	}
	return rest
}

// floatInTicks is inTicks of a float. Half a step more may be left, which rounding put off.
func (l *Leaf) floatInTicks(rest, ticks float64) float64 {
	g := &l.Grid[GridPublic]
	switch {
	case rest != rest:
		return 0
	case !l.Stepped():
		return rest // no command has less of it than there is
	}
	return min(max(rest, (float64(g.lo)*ticks-0.51)*g.Step), (float64(g.hi)*ticks+0.51)*g.Step)
}

// setNumber sets an integer or a float.
func (l *Leaf) setNumber(p unsafe.Pointer, v int64) {
	if l.Class.Integer() {
		l.storeInt(p, v)
	} else {
		l.storeFloat(p, float64(v))
	}
}

// HoldsZero reports whether 0 is in the range of the leaf.
func (l *Leaf) HoldsZero() bool {
	return !l.Ranged() || l.Class == Uint64 || l.Lo <= 0 && l.Hi >= 0
}

// CanPress reports whether the leaf can say that something was pressed, or which of several things.
func (l *Leaf) CanPress() bool { return l.Class == Bool || l.Class.Counts() && l.HoldsZero() }

// CanSum reports whether samples of the leaf can be added up.
func (l *Leaf) CanSum() bool { return l.Class.Moves() && !l.Angle() && l.Class.Number() }
