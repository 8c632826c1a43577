package snapshot

import (
	"math"
	"slices"
	"unsafe"
)

// SchemaDifference is how two schemas of one component differ, by the names of
// fields; see [Schema.Bind].
type SchemaDifference struct {
	// Missing are the fields of one's own type that the other schema has not, or
	// has as something else, such as a rotation for a number.
	Missing []string
	// Unknown are the fields of the other schema that one's own type has not.
	Unknown []string
	// Changed are the fields of both that differ in type, range, grid or audience.
	Changed []string
}

// Bind makes of a schema that was read ([ReadSchema]) one whose values lie in memory
// as those of own do: it codes and decodes the bits of s, and takes and gives values
// of own's type. Fields are matched by their names. Numbers are converted; what does
// not fit into the other type becomes the nearest value that does. A field that own
// has not is decoded and left out; where a value is written, it has the zero value,
// brought into its range. A field that only own has is left alone by whatever fills
// in a value.
//
// The schema returned is for one goroutine at a time. Binding one that was compiled,
// or bound, binds what it codes.
func (s *Schema) Bind(own *Schema) (*Schema, SchemaDifference) {
	wire := *s
	if s.via != nil {
		wire = *s.via.wire
	}
	v := &binding{own: own}
	if wire.typ != nil { // lay it out anew
		wire.typ, wire.leaves, wire.lists = nil, slices.Clone(wire.leaves), slices.Clone(wire.lists)
		wire.layOut()
	}
	v.wire = &wire
	v.in, v.out = wire.block(), wire.block()
	v.temp = own.block()
	v.words = make([]int32, wire.words)
	v.void = make([]bool, len(wire.names))
	var d SchemaDifference
	byName := map[string]int{}
	for i, entry := range own.written() {
		byName[own.names[entry].name] = i
	}
	matched := map[int]bool{}
	for i, entry := range wire.written() {
		l := &wire.leaves[i]
		li, _ := wire.listOf(i)
		name := wire.names[entry].name
		k, ok := byName[name]
		if ok = ok && l.converts(&own.leaves[k]); ok {
			to, _ := own.listOf(k)
			ok = (li == nil) == (to == nil)
		}
		if !ok {
			d.Unknown = append(d.Unknown, name)
			v.void[entry] = true
			continue
		}
		matched[k] = true
		if !sameField(wire.Field(i), own.Field(k)) {
			d.Changed = append(d.Changed, name)
		}
		switch m := (move{*l, own.leaves[k]}); {
		case l.op == opLength:
			v.lists = append(v.lists, listMove{m, &wire.lists[l.list], &own.lists[own.leaves[k].list], nil})
		case li != nil:
			last := &v.lists[len(v.lists)-1]
			last.moves = append(last.moves, m)
		default:
			v.moves = append(v.moves, m)
		}
	}
	for k, entry := range own.written() {
		if !matched[k] {
			d.Missing = append(d.Missing, own.names[entry].name)
		}
	}
	bound := wire
	bound.name, bound.typ, bound.via = s.name, own.typ, v
	return &bound, d
}

// sameField tells whether two fields differ in nothing but their place.
func sameField(a, b Field) bool {
	a.Word, b.Word = 0, 0
	return a == b
}

// binding moves values between a schema without a Go type and one with it.
type binding struct {
	wire, own *Schema
	moves     []move
	lists     []listMove
	void      []bool         // by name of wire: own has it not
	in        unsafe.Pointer // a value of wire that was decoded
	out       unsafe.Pointer // one to be coded; fields that own has not stay zero, which coding brings into range
	temp      unsafe.Pointer // a value of own
	words     []int32        // of wire
}

// move is a field as both schemas have it in memory.
type move struct{ wire, own leaf }

// listMove is a slice as both have it.
type listMove struct {
	length    move
	wire, own *list
	moves     []move // of an element
}

// load makes a value of own, at src, one of wire.
func (v *binding) load(src unsafe.Pointer) unsafe.Pointer {
	for i := range v.moves {
		m := &v.moves[i]
		convert(&m.own, src, &m.wire, v.out)
	}
	for i := range v.lists {
		x := &v.lists[i]
		from, n := x.own.get(src)
		n = min(n, x.wire.most)
		to := x.wire.fit(v.out, n)
		for k := range uintptr(n) {
			for i := range x.moves {
				m := &x.moves[i]
				convert(&m.own, unsafe.Add(from, k*x.own.stride), &m.wire, unsafe.Add(to, k*x.wire.stride))
			}
		}
	}
	return v.out
}

// store gives a value of own, at dst, the fields of one of wire.
func (v *binding) store(src, dst unsafe.Pointer, a audience) {
	for i := range v.moves {
		m := &v.moves[i]
		if m.wire.seenBy(a) {
			convert(&m.wire, src, &m.own, dst)
		}
	}
	for i := range v.lists {
		x := &v.lists[i]
		if !x.length.wire.seenBy(a) {
			continue
		}
		from, n := x.wire.get(src)
		n = min(n, x.own.most)
		to := x.own.fit(dst, n)
		for k := range uintptr(n) {
			for i := range x.moves {
				if m := &x.moves[i]; m.wire.seenBy(a) {
					convert(&m.wire, unsafe.Add(from, k*x.wire.stride), &m.own, unsafe.Add(to, k*x.own.stride))
				}
			}
		}
	}
}

// same tells whether a field is the same to own in two vectors of words on the
// simulation grid.
func (v *binding) same(field int, a, b []int32) bool {
	if !v.knows(field) {
		return true
	}
	l := &v.wire.leaves[field]
	var x [1 + (maxText+3)/4]int32
	n := copy(x[:], v.through(a, GridSim)[l.word:l.word+l.words()])
	return slices.Equal(x[:n], v.through(b, GridSim)[l.word:l.word+n])
}

// through is what remains of words that own took and gave back.
func (v *binding) through(words []int32, g Grid) []int32 {
	v.wire.Dequantise(words, g, sameRefs{}, v.in)
	v.store(v.in, v.temp, everything)
	v.wire.Quantise(v.load(v.temp), g, sameRefs{}, v.words)
	return v.words
}

func (l *leaf) words() int {
	switch {
	case l.op == opQuat:
		return quatWords
	case l.op == opText:
		return textWords(l.hi)
	case l.wide:
		return 2
	}
	return 1
}

// Known writes to dst what of the words on a grid this end knows: all of them, but
// for a schema that was bound to a type that lacks fields: these are zero.
func (s *Schema) Known(words []int32, g Grid, dst []int32) {
	if s.via != nil {
		words = s.via.through(words[:s.words], g)
	}
	copy(dst, words[:s.words])
}

// Knows tells whether this end knows a field, by its index in [Schema.Fields]: all
// of them, but for a schema that was bound to a type that lacks it.
func (s *Schema) Knows(field int) bool { return s.via == nil || s.via.knows(field) }

// knows tells whether own has a field of wire, which it has of all elements of a slice
// or of none.
func (v *binding) knows(field int) bool {
	if li, nth := v.wire.listOf(field); nth > 0 {
		field -= nth * li.each
	}
	return !v.void[v.wire.entry(field)]
}

// converts tells whether a field's value can become that of another.
func (l *leaf) converts(to *leaf) bool {
	switch {
	case l.op == opQuat && to.op == opQuat:
		return l.floats() == to.floats() && (l.floats() || l.bits == to.bits)
	case l.op >= opRef || to.op >= opRef:
		return l.op == to.op
	}
	return true
}

// convert copies a field's value from p to q, where it may have another type.
func convert(from *leaf, p unsafe.Pointer, to *leaf, q unsafe.Pointer) {
	switch {
	case from.op == opText:
		var buf [maxText]byte
		to.setText(q, cutText(buf[:0], from.text(p), to.hi))
	case from.op == opQuat && from.floats():
		to.storeQuat(from.loadQuat(p), q)
	case from.op == opQuat:
		for i := range quatWords {
			to.storeElem(unsafe.Add(q, to.offset), i, from.loadElem(unsafe.Add(p, from.offset), i))
		}
	case from.op == opRef:
		*(*uint64)(unsafe.Add(q, to.offset)) = *(*uint64)(unsafe.Add(p, from.offset))
	case from.op <= opUint64 && to.op <= opUint64:
		to.storeInt(q, to.nearestInt(from.loadInt(p), from.op == opUint64))
	case from.op <= opUint64:
		to.storeFloat(q, intToFloat(from.loadInt(p), from.op == opUint64))
	case to.op <= opUint64:
		to.storeInt(q, to.nearestFloat(from.loadFloat(p)))
	default:
		v := from.loadFloat(p)
		if to.op.size() == 4 {
			v = min(max(v, -math.MaxFloat32), math.MaxFloat32)
		}
		to.storeFloat(q, v)
	}
}

// nearestInt is the value nearest to v that the type holds; v may be the bits of a
// uint64.
func (l *leaf) nearestInt(v int64, unsigned bool) int64 {
	lo, hi := l.op.limits()
	switch {
	case l.op == opBool:
		lo, hi = 0, 1
	case l.op == opUint64 && unsigned:
		return v
	case l.op == opUint64:
		return max(v, 0)
	}
	if unsigned && v < 0 {
		return hi
	}
	return min(max(v, lo), hi)
}

func (l *leaf) nearestFloat(v float64) int64 {
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

func (l *leaf) loadQuat(p unsafe.Pointer) (q [4]float64) {
	p = unsafe.Add(p, l.offset)
	for i := range q {
		if l.size == 4 {
			q[i] = float64(*(*float32)(unsafe.Add(p, 4*i)))
		} else {
			q[i] = *(*float64)(unsafe.Add(p, 8*i))
		}
	}
	return q
}
