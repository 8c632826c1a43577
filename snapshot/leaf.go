package snapshot

import (
	"math"
	"math/bits"
	"reflect"
	"unsafe"
)

// opcode says how a leaf lies in memory and in words.
type opcode uint8

const (
	opBool opcode = iota
	opInt8
	opInt16
	opInt32
	opInt64
	opUint8
	opUint16
	opUint32
	opUint64
	opFloat32 // raw bits
	opFloat64
	opStep32 // on a grid
	opStep64
	opAngle32
	opAngle64
	opRef
	opQuat   // four words
	opText   // a string
	opLength // of a slice
)

// leaf is the plan of one field. The elements of a slice share what they have in
// common, so that few bytes that claim many of them take little memory.
type leaf struct {
	*shape
	op     opcode
	wide   bool     // two words
	aud    audience // who receives it; 0: everybody
	inline bool     // a string lies in place
	vec    uint16   // number of the vector it is part of, 0: none
	speed  uint16   // with Hermite: the leaf that is its velocity, counted from 1; 0: none
	offset uintptr
	word   int
}

// shape is what the same field of all elements of a slice has in common.
type shape struct {
	shot   bool
	press  bool // belongs to the frame in which a one-shot was pressed
	how    Interpolation
	ratio  int32        // simulation indices in a public index
	ahead  float32      // ticks that it goes on beyond what is known
	list   int32        // of a length: which of the lists
	kind   reflect.Kind // of a rotation's elements, and their size
	size   uintptr
	lo, hi int64 // public indices, or values of integers
	bits   int   // of a packed value; of an angle's public index
	grid   [2]gridStep
	tol    float64 // in units
}

// gridStep is one grid of a stepped leaf.
type gridStep struct {
	step, inv float64
	lo, hi    int64
}

func (l *leaf) ranged() bool { return l.op <= opUint32 || (l.op <= opUint64 && !l.wide) || l.stepped() }

func (l *leaf) stepped() bool { return l.op >= opStep32 && l.op <= opAngle64 }

func (l *leaf) angle() bool { return l.op == opAngle32 || l.op == opAngle64 }

// setRange gives an integer its range; one that fits into a word has one.
func (l *leaf) setRange(lo, hi int64) {
	l.lo, l.hi = lo, hi
	if lo >= math.MinInt32 && hi <= math.MaxInt32 || lo >= 0 && hi <= math.MaxUint32 {
		l.wide = false
		l.bits = width(lo, hi)
	}
}

func (l *leaf) setGrids(step float64) {
	l.grid[GridPublic] = gridStep{step, 1 / step, l.lo, l.hi}
	sim := step / float64(l.ratio)
	k := int64(l.ratio)
	g := gridStep{sim, 1 / sim, l.lo * k, l.hi * k}
	if l.angle() || l.op == opQuat {
		g.hi = (l.hi+1)*k - 1
	}
	l.grid[GridSim] = g
}

// index quantises v: NaN is 0, and what lies outside is clamped or, for angles, wrapped.
func (l *leaf) index(v float64, g Grid) int32 {
	s := &l.grid[g]
	if v != v {
		v = 0
	}
	x := math.RoundToEven(v * s.inv)
	if l.angle() {
		n := s.hi - s.lo + 1
		if math.Abs(x) > 1<<40 {
			x = math.RoundToEven(math.Mod(v, 2*math.Pi) * s.inv)
			if x != x {
				x = 0
			}
		}
		return int32((int64(x)-s.lo)&(n-1) + s.lo)
	}
	if x < float64(s.lo) {
		return int32(s.lo)
	}
	if x > float64(s.hi) {
		return int32(s.hi)
	}
	return int32(x)
}

func (l *leaf) value(i int32, g Grid) float64 { return float64(i) * l.grid[g].step }

// public turns a simulation index into a public one.
func (l *leaf) public(i int32) int32 {
	if l.ratio == 1 {
		return i
	}
	k := int64(l.ratio)
	v := int64(i) + k/2
	q := v / k
	if v%k < 0 {
		q--
	}
	if l.angle() {
		n := l.hi - l.lo + 1
		q = (q-l.lo)&(n-1) + l.lo
	}
	return int32(q)
}

// loadInt returns an integer or bool; uint64 as its bits.
func (l *leaf) loadInt(p unsafe.Pointer) int64 {
	p = unsafe.Add(p, l.offset)
	switch l.op {
	case opBool, opUint8:
		return int64(*(*uint8)(p))
	case opInt8:
		return int64(*(*int8)(p))
	case opInt16:
		return int64(*(*int16)(p))
	case opInt32:
		return int64(*(*int32)(p))
	case opUint16:
		return int64(*(*uint16)(p))
	case opUint32:
		return int64(*(*uint32)(p))
	default:
		return *(*int64)(p)
	}
}

func (l *leaf) storeInt(p unsafe.Pointer, v int64) {
	p = unsafe.Add(p, l.offset)
	switch l.op {
	case opBool:
		*(*bool)(p) = v != 0
	case opUint8:
		*(*uint8)(p) = uint8(v)
	case opInt8:
		*(*int8)(p) = int8(v)
	case opInt16:
		*(*int16)(p) = int16(v)
	case opInt32:
		*(*int32)(p) = int32(v)
	case opUint16:
		*(*uint16)(p) = uint16(v)
	case opUint32:
		*(*uint32)(p) = uint32(v)
	default:
		*(*int64)(p) = v
	}
}

// clampInt keeps an integer in its range; a uint64 is compared without a sign.
func (l *leaf) clampInt(v int64) int64 {
	if l.op == opUint64 && v < 0 && l.lo >= 0 {
		return l.hi
	}
	return min(max(v, l.lo), l.hi)
}

func (l *leaf) loadFloat(p unsafe.Pointer) float64 {
	p = unsafe.Add(p, l.offset)
	switch l.op {
	case opFloat32, opStep32, opAngle32:
		return float64(*(*float32)(p))
	default:
		return *(*float64)(p)
	}
}

func (l *leaf) storeFloat(p unsafe.Pointer, v float64) {
	p = unsafe.Add(p, l.offset)
	switch l.op {
	case opFloat32, opStep32, opAngle32:
		*(*float32)(p) = float32(v)
	default:
		*(*float64)(p) = v
	}
}

// width is the number of bits that tell the values of a range apart.
func width(lo, hi int64) int { return bits.Len64(uint64(hi - lo)) }
