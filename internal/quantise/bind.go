package quantise

import (
	"math"
	"slices"
	"unsafe"

	"github.com/foretick/foretick/internal/coder"
)

// Binding moves values between a schema without a Go type and one with it.
type Binding struct {
	Wire, own *Plan
	moves     []move
	lists     []listMove
	Void      []bool         // Void has, for each named field of wire, whether own lacks it.
	in        unsafe.Pointer // in is a value of wire that was decoded.
	// out is a value of wire to be coded. Fields that own lacks stay zero, and coding brings them into range.
	out   unsafe.Pointer
	temp  unsafe.Pointer // temp is memory for a value of own.
	words []int32        // words is memory for the words of wire.
}

// move is a field in both schemas.
type move struct{ wire, own Leaf }

// listMove is a slice in both schemas.
type listMove struct {
	length    move
	wire, own *List
	moves     []move // moves has the fields of an element.
}

// NewBinding returns a binding between the words of wire and the values of own, without
// any field paired yet. fields is the number of wire's named fields.
func NewBinding(wire, own *Plan, fields int) *Binding {
	w := *wire
	if w.via != nil {
		w = *w.via.Wire
	}
	if w.Type != nil { // lay it out again
		w.Type, w.Leaves, w.Lists = nil, slices.Clone(w.Leaves), slices.Clone(w.Lists)
		w.LayOut()
	}
	return &Binding{Wire: &w, own: own, in: w.Block(), out: w.Block(), temp: own.Block(), words: make([]int32, w.Words), Void: make([]bool, fields)}
}

// Pair pairs leaf i of wire with leaf k of own. It returns false if one cannot be
// converted to the other.
func (v *Binding) Pair(i, k int) bool {
	l, to := &v.Wire.Leaves[i], &v.own.Leaves[k]
	from, _ := v.Wire.ListOf(i)
	into, _ := v.own.ListOf(k)
	if !l.converts(to) || (from == nil) != (into == nil) {
		return false
	}
	switch m := (move{*l, *to}); {
	case l.Class == Length:
		v.lists = append(v.lists, listMove{m, &v.Wire.Lists[l.List], &v.own.Lists[to.List], nil})
	case from != nil:
		last := &v.lists[len(v.lists)-1]
		last.moves = append(last.moves, m)
	default:
		v.moves = append(v.moves, m)
	}
	return true
}

// Bound returns the plan that codes the bits of wire and uses values of own.
func (v *Binding) Bound() *Plan {
	p := *v.Wire
	p.Type, p.via, p.own = v.own.Type, v, v.own.own
	return &p
}

// toWire converts a value of own, at src, to one of wire.
func (v *Binding) toWire(src unsafe.Pointer) unsafe.Pointer {
	for i := range v.moves {
		m := &v.moves[i]
		convert(&m.own, src, &m.wire, v.out)
	}
	for i := range v.lists {
		x := &v.lists[i]
		from, n := x.own.get(src)
		n = min(n, x.wire.Most)
		to := x.wire.fit(v.out, n)
		for k := range uintptr(n) {
			for i := range x.moves {
				m := &x.moves[i]
				convert(&m.own, unsafe.Add(from, k*x.own.Stride), &m.wire, unsafe.Add(to, k*x.wire.Stride))
			}
		}
	}
	return v.out
}

// store copies the fields of a value of wire, at src, to one of own.
func (v *Binding) store(src, dst unsafe.Pointer, a Audience) {
	for i := range v.moves {
		m := &v.moves[i]
		if m.wire.SeenBy(a) {
			convert(&m.wire, src, &m.own, dst)
		}
	}
	for i := range v.lists {
		x := &v.lists[i]
		if !x.length.wire.SeenBy(a) {
			continue
		}
		from, n := x.wire.get(src)
		n = min(n, x.own.Most)
		to := x.own.fit(dst, n)
		for k := range uintptr(n) {
			for i := range x.moves {
				if m := &x.moves[i]; m.wire.SeenBy(a) {
					convert(&m.wire, unsafe.Add(from, k*x.wire.Stride), &m.own, unsafe.Add(to, k*x.own.Stride))
				}
			}
		}
	}
}

// same reports whether a field of own is equal in two vectors of words on the
// simulation grid.
func (v *Binding) same(field int, a, b []int32) bool {
	if !v.knows(field) {
		return true
	}
	l := &v.Wire.Leaves[field]
	var x [1 + (coder.MaxText+3)/4]int32
	n := copy(x[:], v.through(a, GridSim)[l.Word:l.Word+l.Words()])
	return slices.Equal(x[:n], v.through(b, GridSim)[l.Word:l.Word+n])
}

// through returns words after a conversion to own and back.
func (v *Binding) through(words []int32, g Grid) []int32 {
	v.Wire.Dequantise(words, g, SameRefs{}, v.in, Everything)
	v.store(v.in, v.temp, Everything)
	v.Wire.Quantise(v.toWire(v.temp), g, SameRefs{}, v.words)
	return v.words
}

// Words returns the number of words of a leaf.
func (l *Leaf) Words() int {
	switch {
	case l.Class == Quat:
		return coder.QuatWords
	case l.Class == Text:
		return coder.TextWords(l.Hi)
	case l.Wide:
		return 2
	}
	return 1
}

// Known is [schema.Schema.Known].
func (s *Plan) Known(words []int32, g Grid, dst []int32) {
	if s.via != nil {
		words = s.via.through(words[:s.Words], g)
	}
	copy(dst, words[:s.Words])
}

// Knows is [schema.Schema.Knows].
func (s *Plan) Knows(field int) bool { return s.via == nil || s.via.knows(field) }

// knows reports whether own has a field of wire. Of a slice it has the field of all
// elements, or of none.
func (v *Binding) knows(field int) bool {
	if li, nth := v.Wire.ListOf(field); nth > 0 {
		field -= nth * li.Each
	}
	return !v.Void[v.Wire.Entry(field)]
}

// converts reports whether a field's value can be converted to another field's.
func (l *Leaf) converts(to *Leaf) bool {
	switch {
	case l.Class == Quat && to.Class == Quat:
		return l.Floats() == to.Floats() && (l.Floats() || l.Bits == to.Bits)
	case !l.Class.Number() || !to.Class.Number():
		return l.Class == to.Class
	}
	return true
}

// convert copies a field's value from p to q and converts its type.
func convert(from *Leaf, p unsafe.Pointer, to *Leaf, q unsafe.Pointer) {
	switch {
	case from.Class == Text:
		var buf [coder.MaxText]byte
		to.setText(q, cutText(buf[:0], from.textAt(p), to.Hi))
	case from.Class == Quat && from.Floats():
		to.storeQuat(from.loadQuat(p), q)
	case from.Class == Quat:
		for i := range coder.QuatWords {
			to.storeElem(unsafe.Add(q, to.Offset), i, from.loadElem(unsafe.Add(p, from.Offset), i))
		}
	case from.Class == Ref:
		*(*uint64)(unsafe.Add(q, to.Offset)) = *(*uint64)(unsafe.Add(p, from.Offset))
	case from.Class.Integer() && to.Class.Integer():
		to.storeInt(q, to.nearestInt(from.loadInt(p), from.Class == Uint64))
	case from.Class.Integer():
		to.storeFloat(q, intToFloat(from.loadInt(p), from.Class == Uint64))
	case to.Class.Integer():
		to.storeInt(q, to.nearestFloat(from.loadFloat(p)))
	default:
		v := from.loadFloat(p)
		if to.Class.Size() == 4 {
			v = min(max(v, -math.MaxFloat32), math.MaxFloat32)
		}
		to.storeFloat(q, v)
	}
}

// nearestInt returns the value nearest to v that the type holds. v may be the bits of a
// uint64.
func (l *Leaf) nearestInt(v int64, unsigned bool) int64 {
	lo, hi := l.Class.Limits()
	switch {
	case l.Class == Bool:
		lo, hi = 0, 1
	case l.Class == Uint64 && unsigned:
		return v
	case l.Class == Uint64:
		return max(v, 0)
	}
	if unsigned && v < 0 {
		return hi
	}
	return min(max(v, lo), hi)
}

func (l *Leaf) nearestFloat(v float64) int64 {
	v = math.RoundToEven(v)
	switch {
	case v != v:
		return l.nearestInt(0, false)
	case v >= math.MaxUint64:
		return l.nearestInt(-1, true)
	case v >= math.MaxInt64:
		return l.nearestInt(int64(uint64(v)), true)
	case v <= math.MinInt64:
		return l.nearestInt(math.MinInt64, false)
	}
	return l.nearestInt(int64(v), false)
}

func intToFloat(v int64, unsigned bool) float64 {
	if unsigned {
		return float64(uint64(v))
	}
	return float64(v)
}

func (l *Leaf) loadQuat(p unsafe.Pointer) (q [4]float64) {
	p = unsafe.Add(p, l.Offset)
	for i := range q {
		if l.Size == 4 {
			q[i] = float64(*(*float32)(unsafe.Add(p, 4*i)))
		} else {
			q[i] = *(*float64)(unsafe.Add(p, 8*i))
		}
	}
	return q
}
