package quantise

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/foretick/foretick/internal/coder"
)

// build makes a plan of leaves, in the memory layout of a schema that was read.
func build(leaves ...Leaf) *Plan {
	s := &Plan{Name: "test", Few: &Codings{}}
	for _, l := range leaves {
		l.Word = s.Words
		s.Words += l.Words()
		s.PackBits += l.Packed()
		s.Leaves = append(s.Leaves, l)
	}
	s.LayOut()
	s.Finish()
	return s
}

// buildList makes a plan of one slice with elements of these leaves.
func buildList(most int, element ...Leaf) *Plan {
	length := Leaf{Class: Length, Shape: &Shape{Hi: int64(most), Bits: coder.Width(0, int64(most))}}
	s := &Plan{Name: "list", Few: &Codings{}, Leaves: []Leaf{length}, Words: 1, PackBits: length.Bits}
	li := List{Most: most, From: 1, Each: len(element), Word: 1}
	for _, l := range element {
		l.Word = s.Words
		s.Words += l.Words()
		s.PackBits += most * l.Packed()
		s.Leaves = append(s.Leaves, l)
	}
	li.Words = s.Words - li.Word
	s.Words += (most - 1) * li.Words
	s.Lists = []List{li}
	s.Unfold()
	s.LayOut()
	s.Finish()
	return s
}

// leafOf makes a leaf of each class.
func leafOf(c Class) Leaf {
	l := Leaf{Class: c, Shape: &Shape{Ratio: 1, Bits: int(8 * c.Size())}}
	switch {
	case c == Bool:
		l.Hi, l.Bits = 1, 1
	case c == Ref:
		l.Bits = 16
	case c == Text || c == Length:
		l.Hi = 11
		l.Bits = coder.Width(0, l.Hi)
	case c.Raw():
		l.Wide = c == Float64
	case c.Integer():
		l.Wide = c.Size() == 8
		l.SetRange(c.Limits())
	case c.angle():
		l.Bits, l.Ratio, l.Lo, l.Hi = 10, 16, -1<<9, 1<<9-1
		l.SetGrids(2 * math.Pi / (1 << 10))
	case c.Stepped():
		l.Ratio, l.Lo, l.Hi = 8, -1000, 3000
		l.Bits = coder.Width(l.Lo, l.Hi)
		l.SetGrids(0.01)
	default:
		l.Kind, l.Size, l.Bits, l.Ratio, l.Lo, l.Hi = reflect.Float32, 4, 9, 4, -1<<8, 1<<8-1
		l.SetGrids(math.Sqrt2 / (1 << 9))
	}
	return l
}

// drawInto writes any value of a leaf's class to memory. Numbers may lie outside the range.
func drawInto(t *rapid.T, l *Leaf, p unsafe.Pointer, label string) {
	switch {
	case l.Class == Quat:
		var q [4]float64
		for i := range q {
			if q[i] = rapid.Float64Range(-1, 1).Draw(t, label); rapid.IntRange(0, 7).Draw(t, label+" wild") == 0 {
				q[i] = drawBits64(t, label)
			}
		}
		l.storeQuat(q, p)
	case l.Class == Text:
		if s := rapid.StringN(-1, -1, int(l.Hi)).Draw(t, label); rapid.Bool().Draw(t, label+" as text") {
			l.setText(p, []byte(s))
		} else if b := rapid.SliceOfN(rapid.Byte(), 0, 2*int(l.Hi)).Draw(t, label); l.inline {
			l.setText(p, b[:min(len(b), int(l.Hi))])
		} else {
			l.setText(p, b)
		}
	case l.Class == Ref:
		*(*uint64)(unsafe.Add(p, l.Offset)) = uint64(rapid.Uint16().Draw(t, label))
	case l.Class == Bool:
		*(*bool)(unsafe.Add(p, l.Offset)) = rapid.Bool().Draw(t, label)
	case l.Class.Integer():
		l.storeInt(p, rapid.Int64().Draw(t, label))
	case l.Class.single():
		*(*uint32)(unsafe.Add(p, l.Offset)) = math.Float32bits(drawBits32(t, label))
	default:
		l.storeFloat(p, drawBits64(t, label))
	}
	if l.Class.Stepped() && rapid.Bool().Draw(t, label+" near") {
		l.storeFloat(p, rapid.Float64Range(-12, 35).Draw(t, label))
	}
}

// drawBits32 draws any pattern of bits, edges and numbers of usual size among them.
func drawBits32(t *rapid.T, label string) float32 {
	return rapid.OneOf(rapid.Float32(), rapid.Map(rapid.Uint32(), math.Float32frombits), rapid.SampledFrom([]float32{
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.Float32frombits(0x7f800001), math.Float32frombits(1 << 31),
		math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32,
	})).Draw(t, label)
}

// drawBits64 does so for a float64.
func drawBits64(t *rapid.T, label string) float64 {
	return rapid.OneOf(rapid.Float64(), rapid.Map(rapid.Uint64(), math.Float64frombits), rapid.SampledFrom([]float64{
		math.Inf(1), math.Inf(-1), math.NaN(), math.Float64frombits(0x7ff0000000000001), math.Float64frombits(1 << 63),
		math.MaxFloat64, -math.MaxFloat64, math.MaxFloat32, math.SmallestNonzeroFloat64,
	})).Draw(t, label)
}

// plain are the classes of leaves that stand alone.
func plain() (out []Class) {
	for c := range NumClasses {
		if c != Length {
			out = append(out, c)
		}
	}
	return out
}

// drawPlan draws a plan with leaves of some classes.
func drawPlan(t *rapid.T) *Plan {
	classes := rapid.SliceOfN(rapid.SampledFrom(plain()), 1, 8).Draw(t, "classes")
	var leaves []Leaf
	for _, c := range classes {
		l := leafOf(c)
		l.Audience = rapid.SampledFrom([]Audience{0, 0, ToOwner, ToAllies}).Draw(t, "audience")
		leaves = append(leaves, l)
	}
	if rapid.IntRange(0, 3).Draw(t, "list") == 0 {
		return buildList(rapid.IntRange(1, 4).Draw(t, "most"), leaves...)
	}
	return build(leaves...)
}

// drawValue makes a value of a plan.
func drawValue(t *rapid.T, s *Plan, label string) unsafe.Pointer {
	p := s.Block()
	for i := 0; i < len(s.Leaves); i++ {
		l := &s.Leaves[i]
		if l.Class != Length {
			drawInto(t, l, p, fmt.Sprint(label, i))
			continue
		}
		li := &s.Lists[l.List]
		n := rapid.IntRange(0, li.Most).Draw(t, label)
		at := li.fit(p, n)
		for k := range li.leaves(s, n) {
			drawInto(t, &s.Leaves[li.From+k], at, fmt.Sprint(label, i, k))
		}
		i = li.End() - 1
	}
	return p
}

// words quantises a value.
func (s *Plan) words(p unsafe.Pointer, g Grid) []int32 {
	w := make([]int32, s.Words)
	s.Quantise(p, g, SameRefs{}, w)
	return w
}
