package quantise

import (
	"math"
	"math/bits"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/internal/coder"
)

// Leaf is the plan of one field. The elements of a slice share a [Shape], so that a few
// bytes that claim many elements take little memory.
type Leaf struct {
	*Shape
	Class    Class
	Wide     bool     // Wide is true if the value takes two words.
	Audience Audience // Audience is who receives the field. 0 means every viewer.
	inline   bool     // inline is true if a string is stored in place.
	Vec      uint16   // Vec is the number of the vector that the field is part of. 0 means none.
	Speed    uint16   // Speed is the leaf that is a Hermite field's velocity, counted from 1. 0 means none.
	Offset   uintptr
	Word     int
}

// Shape is the part of a field that all elements of a slice share.
type Shape struct {
	OneShot       bool
	Sum           bool // Sum is true if the field is added up over the frames of a tick.
	Press         bool // Press is true if the field belongs to the frame with the press of a one-shot.
	Interpolation Interpolation
	Ratio         int32   // Ratio is the number of simulation indices in a public index.
	Ahead         float32 // Ahead is the number of ticks that the field is extrapolated.
	List          int32   // List is, for the length of a slice, which of the lists it is.
	// Kind is the kind of a rotation's elements, and Size is their size.
	Kind reflect.Kind
	Size uintptr
	// Lo and Hi are public indices, or values of integers.
	Lo, Hi    int64
	Bits      int // Bits is the size of a packed value, or of an angle's public index.
	Grid      [2]gridStep
	Tolerance float64 // Tolerance is in the field's units.
}

// gridStep is one grid of a stepped leaf.
type gridStep struct {
	Step, inv float64
	lo, hi    int64
}

// Ranged reports whether the leaf has a range.
func (l *Leaf) Ranged() bool {
	return l.Class.Integer() && (l.Class != Uint64 || !l.Wide) || l.Stepped()
}

// Stepped reports whether the leaf is a float on a grid. Angles are.
func (l *Leaf) Stepped() bool { return l.Class.Stepped() }

// Angle reports whether the leaf is an angle.
func (l *Leaf) Angle() bool { return l.Class.angle() }

// SetRange sets an integer's range. If the range fits in one word, the integer takes one word.
func (l *Leaf) SetRange(lo, hi int64) {
	l.Lo, l.Hi = lo, hi
	if lo >= math.MinInt32 && hi <= math.MaxInt32 || lo >= 0 && hi <= math.MaxUint32 {
		l.Wide = false
		l.Bits = coder.Width(lo, hi)
	}
}

// SetGrids makes both grids from the step of the public one.
func (l *Leaf) SetGrids(step float64) {
	l.Grid[GridPublic] = gridStep{step, 1 / step, l.Lo, l.Hi}
	sim := step / float64(l.Ratio)
	k := int64(l.Ratio)
	g := gridStep{sim, 1 / sim, l.Lo * k, l.Hi * k}
	if l.Angle() || l.Class == Quat {
		g.hi = (l.Hi+1)*k - 1
	}
	l.Grid[GridSim] = g
}

// index quantises v. NaN becomes 0. Values outside the range are clamped or, for
// angles, wrapped.
func (l *Leaf) index(v float64, g Grid) int32 {
	s := &l.Grid[g]
	if v != v {
		v = 0
	}
	x := math.RoundToEven(v * s.inv)
	if l.Angle() {
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

// finite returns the value that is sent for a float without a step. Infinity becomes the
// greatest number of the type, with its sign, and NaN becomes 0.
func (l *Leaf) finite(v float64) float64 {
	most := math.MaxFloat64
	if l.Class.single() {
		most = math.MaxFloat32
	}
	if v != v {
		return 0
	}
	return min(max(v, -most), most)
}

func (l *Leaf) floatOf(i int32, g Grid) float64 { return float64(i) * l.Grid[g].Step }

// public turns a simulation index into a public one.
func (l *Leaf) public(i int32) int32 {
	if l.Ratio == 1 {
		return i
	}
	k := int64(l.Ratio)
	v := int64(i) + k/2
	q := v / k
	if v%k < 0 {
		q--
	}
	if l.Angle() {
		n := l.Hi - l.Lo + 1
		q = (q-l.Lo)&(n-1) + l.Lo
	}
	return int32(q)
}

// loadInt returns an integer or bool; uint64 as its bits.
func (l *Leaf) loadInt(p unsafe.Pointer) int64 {
	p = unsafe.Add(p, l.Offset)
	switch l.Class {
	case Bool, Uint8:
		return int64(*(*uint8)(p))
	case Int8:
		return int64(*(*int8)(p))
	case Int16:
		return int64(*(*int16)(p))
	case Int32:
		return int64(*(*int32)(p))
	case Uint16:
		return int64(*(*uint16)(p))
	case Uint32:
		return int64(*(*uint32)(p))
	default:
		return *(*int64)(p)
	}
}

// clampInt keeps an integer in its range; a uint64 is compared without a sign.
func (l *Leaf) clampInt(v int64) int64 {
	if l.Class == Uint64 && v < 0 && l.Lo >= 0 {
		return l.Hi
	}
	return min(max(v, l.Lo), l.Hi)
}

func (l *Leaf) loadFloat(p unsafe.Pointer) float64 {
	p = unsafe.Add(p, l.Offset)
	if l.Class.single() {
		return float64(*(*float32)(p))
	}
	return *(*float64)(p)
}

// Refine gives an angle or a rotation one grid, as fine as the simulation's if that
// number of bits can be sent.
func (l *Leaf) Refine(most int) {
	l.Bits = min(l.Bits+bits.TrailingZeros32(uint32(l.Ratio)), most)
	l.Ratio, l.Lo, l.Hi = 1, -1<<(l.Bits-1), 1<<(l.Bits-1)-1
}

// Packed returns the greatest number of bits of a leaf in a packed value.
func (l *Leaf) Packed() int {
	switch l.Class {
	case Quat:
		return 2 + 3*l.Bits
	case Text:
		return l.Bits + 8*int(l.Hi)
	}
	return l.Bits
}

// ElemClass returns the class of a rotation's elements.
func (l *Leaf) ElemClass() Class {
	switch l.Kind {
	case reflect.Float32:
		return Float32
	case reflect.Float64:
		return Float64
	}
	return IntegerOf(l.Size, l.Kind < reflect.Uint)
}
