package snapshot

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// Bounds of what is read: beyond them bytes are refused, whatever they claim.
const (
	maxSchemaText      = 255
	maxSchemaWords     = 1 << 15 // of all components
	maxReadPrefabWords = 1 << 17 // of all prefabs
	maxReadTables      = 1 << 14 // bytes
	maxReadRatio       = 1 << 20
	leastField         = 5 // bytes
)

// ErrTables says that a schema was written by a version of this package with other
// built-in tables: its snapshots cannot be read.
var ErrTables = fmt.Errorf("%w: the schema rests on built-in tables of another version", ErrMalformed)

// schemaReader reads the bytes of schemas; a fault makes all that follows zero.
type schemaReader struct {
	b     []byte
	fault string
	words int // of the components read so far
	// spread is what their slices make of few bytes.
	spread int
	// Of the component at hand: what its fields share, its vectors so far, and of those
	// and of the bits of a packed value how many there were ahead of the slice at hand.
	shapes           []shape
	vec, ahead, bits int
	whole            []int32    // scratch: a component's words
	codes            []wordCode // likewise: a field's
}

func (r *schemaReader) fail(what string) {
	if r.fault == "" {
		r.fault, r.b = what, nil
	}
}

func (r *schemaReader) err() error {
	if r.fault == "" {
		return nil
	}
	return malformed("schema: " + r.fault)
}

func (r *schemaReader) take(n int) []byte {
	if n > len(r.b) {
		r.fail("length")
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *schemaReader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// uint reads a number up to a bound.
func (r *schemaReader) uint(most uint64, what string) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > most || n > 1 && r.b[n-1] == 0 {
		r.fail(what)
		return 0
	}
	r.b = r.b[n:]
	return v
}

// int reads a number between bounds.
func (r *schemaReader) int(lo, hi int64, what string) int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 || v < lo || v > hi || n > 1 && r.b[n-1] == 0 {
		r.fail(what)
		return min(max(0, lo), hi)
	}
	r.b = r.b[n:]
	return v
}

// float reads a positive number.
func (r *schemaReader) float(what string) float64 {
	b := r.take(8)
	if b == nil {
		return 1
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(b))
	if !(v > 0) || math.IsInf(v, 0) {
		r.fail(what)
		return 1
	}
	return v
}

func (r *schemaReader) text(what string) string {
	s := string(r.take(int(r.uint(maxSchemaText, what))))
	if !utf8.ValidString(s) || slices.ContainsFunc([]rune(s), func(c rune) bool { return !unicode.IsPrint(c) }) {
		r.fail(what)
	}
	return s
}

// ReadSchema reads what [Schema.AppendSchema] appended, and returns what is left of
// b. What b claims is checked before it is used; the error is [ErrMalformed].
//
// The schema has no Go type: Type is nil. It codes the same bits as the one it was
// written from. [Schema.Value] reads its words; methods that take the address of a
// value expect [Schema.Size] bytes of the schema's own layout, aligned to 8. See
// [Schema.Bind] for a type of one's own.
func ReadSchema(b []byte) (s *Schema, rest []byte, err error) {
	r := schemaReader{b: b}
	s = r.schema()
	return s, r.b, r.err()
}

func (r *schemaReader) schema() *Schema {
	s := &Schema{name: r.text("name"), few: &codings{}, all: &allFields{}}
	if s.name == "" {
		r.fail("name")
	}
	s.predicted = r.uint(1, "predicted") == 1
	n, before := int(r.uint(maxWords, "number of fields")), ""
	if n > len(r.b)/leastField {
		r.fail("number of fields")
		return s
	}
	if n > 0 {
		s.leaves, s.names, r.shapes = make([]leaf, 0, n), make([]fieldName, 0, n), make([]shape, n)
	}
	r.vec = 0
	elems := 0 // of the slice at hand
	for range n {
		if r.fault != "" {
			return s
		}
		before = r.field(s, before)
		if s.words > maxWords || r.words+s.words > maxSchemaWords {
			r.fail("fields")
		}
		if r.fault == "" {
			elems = r.element(s, elems)
		}
	}
	if elems != 0 {
		r.fail("slice")
	}
	r.words += s.words
	if r.spread += s.spread(); r.spread > maxSpread {
		r.fail("slices")
	}
	r.checkNames(s)
	if r.fault != "" {
		return s
	}
	s.unfold()
	r.checkVectors(s)
	r.checkSpeeds(s)
	if r.fault == "" {
		s.layOut()
		s.finish()
	}
	return s
}

// element looks at the field just read: behind a slice, the fields of its first
// element follow, and are those of all. It returns how many are still to come.
func (r *schemaReader) element(s *Schema, left int) int {
	at := len(s.leaves) - 1
	l := &s.leaves[at]
	if l.op == opLength {
		each := int(r.uint(maxWords, "fields of an element"))
		if left > 0 || each == 0 {
			r.fail("slice")
			return 0
		}
		s.lists = append(s.lists, list{most: int(l.hi), from: at + 1, each: each, word: s.words})
		r.ahead, r.bits = r.vec, s.packBits
		return each
	}
	if left == 0 {
		return 0
	}
	li := &s.lists[len(s.lists)-1]
	length, prefix, name := &s.leaves[li.from-1], s.names[li.from-1].name, s.names[at].name
	rest, ok := strings.CutPrefix(name, prefix+"[0]")
	if !ok || rest != "" && rest[0] != '.' && rest[0] != '[' || l.shot || length.aud != 0 && (l.aud == 0 || l.aud&^length.aud != 0) {
		r.fail("element")
		return 0
	}
	if len(name)-1+len(strconv.Itoa(li.most-1)) > maxSchemaText {
		r.fail("field's name")
		return 0
	}
	if left > 1 {
		return left - 1
	}
	li.words, li.vecs = s.words-li.word, r.vec-r.ahead
	more := li.most - 1
	if words := s.words + more*li.words; words > maxWords || r.words+words > maxSchemaWords {
		r.fail("fields")
		return 0
	}
	s.words += more * li.words
	s.packBits += more * (s.packBits - r.bits)
	r.vec += more * li.vecs
	return 0
}

// checkNames refuses names that are given twice, or that a slice's elements have.
func (r *schemaReader) checkNames(s *Schema) {
	names := make([]string, len(s.names))
	for i := range names {
		names[i] = s.names[i].name
	}
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			r.fail("field's name")
		}
	}
	for i := range s.lists {
		l := &s.lists[i]
		of := s.names[l.from-1].name
		from, _ := slices.BinarySearch(names, of+"[")
		to, _ := slices.BinarySearch(names, of+string(rune('['+1)))
		if to-from != l.each {
			r.fail("field's name")
		}
	}
}

// unfold gives each slice the leaves of all its elements.
func (s *Schema) unfold() {
	if len(s.lists) == 0 {
		return
	}
	n := len(s.leaves)
	for i := range s.lists {
		n += (s.lists[i].most - 1) * s.lists[i].each
	}
	first, at := s.leaves, 0
	s.leaves = make([]leaf, 0, n)
	for i := range s.lists {
		l := &s.lists[i]
		s.leaves = append(s.leaves, first[at:l.from]...)
		elem := first[l.from : l.from+l.each]
		at, l.from = l.from+l.each, len(s.leaves)
		for nth := range l.most {
			s.leaves = append(s.leaves, elem...)
			for k := range elem {
				e := &s.leaves[l.from+nth*l.each+k]
				if e.word += nth * l.words; e.vec != 0 {
					e.vec += uint16(nth * l.vecs)
				}
			}
		}
	}
	s.leaves = append(s.leaves, first[at:]...)
}

// field reads one field behind the one named before.
func (r *schemaReader) field(s *Schema, before string) string {
	same := int(r.uint(uint64(len(before)), "field's name"))
	name := before[:same] + r.text("field's name")
	sort, flags := r.byte(), r.byte()
	l, way := leaf{op: opcode(sort & (1<<sortBits - 1)), shape: &r.shapes[len(s.leaves)]}, sort>>sortBits
	if same < min(len(before), len(name)) && before[same] == name[same] {
		r.fail("field's name")
	}
	if name == "" || len(name) > maxSchemaText || !utf8.ValidString(name) || l.op > opLength || flags&fieldOwner != 0 && flags&fieldAudience != 0 {
		r.fail("field")
		return name
	}
	if flags&fieldOwner != 0 {
		l.aud = ToOwner
	}
	if flags&fieldAudience != 0 {
		if l.aud = Audience(r.byte()); l.aud == 0 || l.aud == ToOwner {
			r.fail("audience")
		}
	}
	typ := usualType[l.op]
	if flags&fieldTyped != 0 {
		if t := r.text("type"); t != typ {
			typ = t
		} else {
			r.fail("type")
		}
	}
	l.shot, l.how = flags&fieldOneShot != 0, r.way(&l, way, flags&fieldLerp != 0)
	switch inside := flags&fieldVector != 0; {
	case !inside && flags&fieldFirst != 0, inside && r.vec == 0 && flags&fieldFirst == 0:
		r.fail("vector")
	case inside:
		if flags&fieldFirst != 0 {
			r.vec++
		}
		l.vec = uint16(r.vec)
	}
	r.sort(&l, s.predicted)
	if flags&fieldTolerance != 0 {
		l.tol = r.float("tolerance")
	}
	if way == wayVelocity {
		l.speed = uint16(r.uint(maxWords-1, "velocity")) + 1
	}
	if r.fault != "" || typ == "" || l.shot && l.op != opBool || l.how != Snap && (l.op == opBool || l.op == opRef || l.op >= opText || l.op == opQuat && !l.floats()) || l.tol != 0 && (l.op == opBool || l.op >= opRef) {
		r.fail("field")
		return name
	}
	if l.list = int32(len(s.lists)); l.op != opLength {
		l.list = 0
	}
	s.addLeaf(name, typ, l)
	return name
}

// way reads how a leaf goes from value to value.
func (r *schemaReader) way(l *leaf, way byte, moves bool) Interpolation {
	switch {
	case way == wayStraight && !moves:
		return Snap
	case way == wayStraight && moves:
		return Lerp
	case way == waySlerp && moves && l.op == opQuat:
		return Slerp
	case (way == wayHermite || way == wayVelocity) && moves && l.op < opRef:
		return Hermite
	}
	r.fail("interpolation")
	return Snap
}

// checkSpeeds refuses velocities that Compile would not take, and gives those of a
// slice's first element to all.
func (r *schemaReader) checkSpeeds(s *Schema) {
	entries := make([]int, 0, len(s.names)) // the leaves of those fields that were written
	speeds := false
	for i := range s.written() {
		entries, speeds = append(entries, i), speeds || s.leaves[i].speed != 0
	}
	if !speeds {
		return
	}
	for _, i := range entries {
		if k := int(s.leaves[i].speed) - 1; k >= 0 {
			if k >= len(entries) {
				r.fail("velocity")
				return
			}
			if problem, _ := s.setSpeed(i, entries[k], ""); problem != "" {
				r.fail("velocity")
				return
			}
		}
	}
	for i := range s.lists {
		l := &s.lists[i]
		for k := l.from + l.each; k < l.end(); k++ {
			if before := s.leaves[k-l.each].speed; before != 0 {
				s.leaves[k].speed = before + uint16(l.each)
			}
		}
	}
}

// sort reads what fields of one sort have, as narrowly as Compile makes it.
func (r *schemaReader) sort(l *leaf, predicted bool) {
	switch {
	case l.op == opBool:
		l.hi, l.bits = 1, 1
	case l.op == opRef:
		l.bits = 16
	case l.op >= opText:
		most := uint64(maxText)
		if l.op == opLength {
			most = maxElements
		}
		if l.hi = int64(r.uint(most, "max")); l.hi == 0 {
			r.fail("max")
		}
		l.bits = width(0, l.hi)
	case l.op == opFloat32 || l.op == opFloat64:
		l.wide, l.bits = l.op == opFloat64, int(8*l.op.size())
	case l.op <= opUint64:
		least, most := l.op.limits()
		lo := r.int(least, most, "range")
		hi := r.int(lo, most, "range")
		l.wide, l.bits = l.op.size() == 8, int(8*l.op.size())
		if lo == hi || l.op == opUint64 && lo < 0 && (lo != math.MinInt64 || hi != math.MaxInt64) {
			r.fail("range")
			return
		}
		l.setRange(lo, hi)
	case l.angle():
		r.angle(l, predicted)
	case l.stepped():
		r.stepped(l, predicted)
	default:
		r.rotation(l, predicted)
	}
}

func (r *schemaReader) ratio(predicted bool) int32 {
	v := r.uint(maxReadRatio, "ratio")
	if v == 0 || v != 1 && !predicted {
		r.fail("ratio")
		return 1
	}
	return int32(v)
}

func (r *schemaReader) angle(l *leaf, predicted bool) {
	l.bits, l.ratio = int(r.byte()), r.ratio(predicted)
	if l.bits < 2 || l.bits > maxAngleBits || l.ratio != 1 && l.ratio != 1<<ratioBits {
		r.fail("angle")
		return
	}
	l.lo, l.hi = -1<<(l.bits-1), 1<<(l.bits-1)-1
	l.setGrids(2 * math.Pi / float64(int64(1)<<l.bits))
}

func (r *schemaReader) stepped(l *leaf, predicted bool) {
	limit := int64(maxIndex32)
	if l.op == opStep64 {
		limit = maxIndex64
	}
	l.lo = r.int(-limit, limit, "range")
	l.hi = r.int(l.lo, limit, "range")
	step := r.float("step")
	l.ratio, l.bits = r.ratio(predicted), width(l.lo, l.hi)
	most := max(-l.lo, l.hi)
	if l.lo == l.hi || most*int64(l.ratio) > limit || math.IsInf(float64(most)*step, 0) || math.IsInf(float64(l.ratio)/step, 0) || step/float64(l.ratio) == 0 {
		r.fail("range")
		return
	}
	l.setGrids(step)
}

func (r *schemaReader) rotation(l *leaf, predicted bool) {
	l.bits = int(r.byte())
	switch op := opcode(r.byte()); {
	case op == opFloat32:
		l.kind, l.size = reflect.Float32, 4
	case op == opFloat64:
		l.kind, l.size = reflect.Float64, 8
	case op >= opInt8 && op <= opInt64:
		l.kind, l.size = reflect.Int, op.size()
	case op >= opUint8 && op <= opUint64:
		l.kind, l.size = reflect.Uint, op.size()
	default:
		r.fail("rotation")
		return
	}
	l.ratio = r.ratio(predicted && l.floats())
	if l.bits < 2 || l.bits > maxQuatBits || l.size < 2 && l.bits > 8 || l.ratio&(l.ratio-1) != 0 || int64(l.ratio)<<l.bits > 1<<maxQuatGrids && l.ratio != 1 {
		r.fail("rotation")
		return
	}
	l.lo, l.hi = -1<<(l.bits-1), 1<<(l.bits-1)-1
	l.setGrids(math.Sqrt2 / float64(int64(1)<<l.bits))
}

// checkVectors refuses vectors that Compile would not make.
func (r *schemaReader) checkVectors(s *Schema) {
	for i := 0; i < len(s.leaves); {
		first, n := &s.leaves[i], 1
		if first.vec == 0 {
			i++
			continue
		}
		for i+n < len(s.leaves) && s.leaves[i+n].vec == first.vec {
			if l := &s.leaves[i+n]; l.op != first.op || l.aud != first.aud || l.wide {
				r.fail("vector")
			}
			n++
		}
		if n < 2 || n > maxVector || first.wide || first.op == opBool || first.op >= opRef {
			r.fail("vector")
		}
		i += n
	}
	for i := range s.lists { // one that goes on behind the elements
		if end := s.lists[i].end(); end < len(s.leaves) && s.leaves[end].vec != 0 && s.leaves[end].vec == s.leaves[end-1].vec {
			r.fail("vector")
			return
		}
	}
	last := uint16(0)
	for i := range s.leaves { // one that goes on behind another field
		l := &s.leaves[i]
		if l.vec != 0 && l.vec <= last && s.leaves[i-1].vec != l.vec {
			r.fail("vector")
			return
		}
		last = max(last, l.vec)
	}
}

// size is how many bytes of memory a sort takes; a rotation's elements have their
// own.
func (op opcode) size() uintptr {
	switch op {
	case opBool, opInt8, opUint8:
		return 1
	case opInt16, opUint16:
		return 2
	case opInt32, opUint32, opFloat32, opStep32, opAngle32:
		return 4
	}
	return 8
}

// limits are the values that a sort of integer holds; of a uint64, which lies in an
// int64 as its bits, all.
func (op opcode) limits() (lo, hi int64) {
	n := 8 * op.size()
	switch {
	case op == opUint64:
		return math.MinInt64, math.MaxInt64
	case op >= opUint8:
		return 0, 1<<n - 1
	}
	return -1 << (n - 1), 1<<(n-1) - 1
}

// layOut gives the leaves their places in the layout of a schema without a Go type.
// Strings and slices lie in place, behind their lengths.
func (s *Schema) layOut() {
	s.size = 0
	for i := 0; i < len(s.leaves); i++ {
		l := &s.leaves[i]
		s.size = l.place(s.size)
		if l.op != opLength {
			continue
		}
		li := &s.lists[l.list]
		li.typ, li.offset = nil, l.offset
		end := uintptr(0)
		for k := range li.each {
			end = s.leaves[li.from+k].place(end)
		}
		li.stride = (end + 7) &^ 7
		for k := li.each; k < li.most*li.each; k++ {
			e := &s.leaves[li.from+k]
			e.offset = s.leaves[li.from+k-li.each].offset + li.stride
			e.inline = e.op == opText
		}
		s.size += uintptr(li.most) * li.stride
		i = li.end() - 1
	}
}

// place puts a leaf at the first place from an offset on, and returns the end.
func (l *leaf) place(at uintptr) (end uintptr) {
	size, align := l.op.size(), l.op.size()
	switch l.op {
	case opQuat:
		size, align = 4*l.size, l.size
	case opText:
		l.inline = true
		size = inline + uintptr(l.hi+7)&^7
	}
	l.offset = (at + align - 1) &^ (align - 1)
	return l.offset + size
}

// Size is how many bytes a value of the schema takes in memory.
func (s *Schema) Size() uintptr {
	if s.typ != nil {
		return s.typ.Size()
	}
	return s.size
}

// ReadRegistry reads what [Registry.AppendSchema] appended; nothing may follow it.
// Its schemas are those of [ReadSchema]. What b claims is checked before it is used;
// the error is [ErrMalformed], or [ErrTables].
func ReadRegistry(b []byte) (*Registry, error) {
	r := schemaReader{b: b}
	reg := NewRegistry()
	if v := r.byte(); v != SchemaVersion && r.fault == "" {
		return nil, malformed(fmt.Sprintf("schema of version %d: this is version %d", v, SchemaVersion))
	}
	if err := r.tables(reg); err != nil {
		return nil, err
	}
	for range r.uint(maxComponents, "number of components") {
		s := r.schema()
		if r.fault != "" {
			break
		}
		if _, err := reg.Component(s); err != nil {
			r.fail("component's name")
		}
	}
	words := 0
	for range r.uint(maxPrefabs, "number of prefabs") {
		if r.fault != "" {
			break
		}
		r.kind(reg, &words)
	}
	if r.fault == "" && len(r.b) > 0 {
		r.fail("length")
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return reg, nil
}

func (r *schemaReader) tables(reg *Registry) error {
	b := r.take(int(r.uint(maxReadTables, "tables")))
	h := r.take(8)
	if r.fault != "" {
		return r.err()
	}
	if len(b) > 0 {
		if err := reg.UseTables(b); err != nil {
			return malformed("schema: tables")
		}
	}
	if reg.tab.hash != binary.LittleEndian.Uint64(h) {
		return ErrTables
	}
	return nil
}

func (r *schemaReader) kind(reg *Registry, words *int) {
	k := prefab{name: r.text("prefab's name")}
	k.mask = r.uint(1<<len(reg.comps)-1, "prefab's components")
	n := reg.wordsOf(k.mask)
	if *words += n; *words > maxReadPrefabWords || n > maxPrefabWords || k.name == "" || reg.names["k "+k.name] {
		r.fail("prefab")
	}
	if r.fault != "" {
		return
	}
	k.late = &lateDefaults{set: r.defaults(reg, k.mask, n)}
	reg.names["k "+k.name] = true
	reg.prefabs = append(reg.prefabs, k)
}

// defaults reads the words of a kind's defaults, of n, that are not those of zero
// values.
func (r *schemaReader) defaults(reg *Registry, mask uint64, n int) (set []wordDefault) {
	comp, first := -1, 0 // the component that the word is of, and its first word
	var s *Schema
	began := 0 // what was set of it
	for at := 0; ; at++ {
		skip := int(r.uint(uint64(n), "default"))
		if skip == 0 {
			r.checkSound(s, set[began:], first)
			return set
		}
		if at += skip - 1; at >= n {
			r.fail("default")
			return nil
		}
		for s == nil || at >= first+s.words {
			if s != nil {
				r.checkSound(s, set[began:], first)
				first += s.words
			}
			comp, began = comp+1, len(set)
			for mask>>comp&1 == 0 {
				comp++
			}
			s = reg.comps[comp]
		}
		w := int32(r.int(math.MinInt32, math.MaxInt32, "default"))
		if r.fault != "" || w == s.zero[audienceOwner][at-first] || !r.holds(s, at-first, w) {
			r.fail("default")
			return nil
		}
		set = append(set, wordDefault{int32(at), w})
	}
}

// checkSound refuses a component's defaults that are no strings or slices.
func (r *schemaReader) checkSound(s *Schema, set []wordDefault, first int) {
	if len(set) == 0 || !s.varies {
		return
	}
	r.whole = append(r.whole[:0], s.zero[audienceOwner]...)
	for _, x := range set {
		r.whole[int(x.at)-first] = x.word
	}
	if !s.sound(r.whole) {
		r.fail("default")
	}
}

// holds tells whether a word on the simulation grid is one that a schema allows.
func (r *schemaReader) holds(s *Schema, word int, v int32) bool {
	i, ok := slices.BinarySearchFunc(s.leaves, word, func(l leaf, word int) int { return l.word - word })
	if !ok {
		i--
	}
	g := GridPublic
	if s.classes&ToOwner != 0 {
		g = GridSim
	}
	r.codes = s.leaves[i].wordCodes(r.codes[:0], g)
	for j := range r.codes {
		if c := &r.codes[j]; c.word == word {
			return c.holds(v)
		}
	}
	return false
}

// holds tells whether a word is one that the code allows.
func (c *wordCode) holds(v int32) bool {
	switch {
	case c.kind == wordRef:
		return v == 0
	case c.kind == wordFloat:
		return v&0x7f800000 != 0x7f800000
	case c.lo <= c.hi:
		return int64(v) >= c.lo && int64(v) <= c.hi
	}
	return !c.high || v&0x7ff00000 != 0x7ff00000
}

// sound tells whether strings and slices are as they can be.
func (s *Schema) sound(words []int32) bool {
	for i := range s.leaves {
		if l := &s.leaves[i]; l.op == opText && !soundText(words[l.word:l.word+l.words()], int(l.hi)) {
			return false
		}
	}
	own := s.zero[audienceOwner]
	for i := range s.lists {
		l := &s.lists[i]
		from, to := l.word+l.length(words)*l.words, l.word+l.most*l.words
		if !slices.Equal(words[from:to], own[from:to]) {
			return false
		}
	}
	return true
}

// Value is the value of a field, by its index in [Schema.Fields], of a component's
// words on a grid: a bool, an int64, a uint64, a float64, a string, the [WireID] of a
// reference, or of a rotation the [4]float64 of x, y, z and w, or [4]int64 where its
// type has integers. That of a slice's own field is its length, an int64, and nil
// that of an element which is not there. It is for tools: it allocates. It panics
// when the index is out of range.
func (s *Schema) Value(field int, words []int32, g Grid) any {
	l := &s.leaves[field]
	switch words = words[:s.words]; {
	case !s.Has(field, words):
		return nil
	case l.op == opText:
		return string(unpackText(nil, words[l.word:]))
	case l.op == opLength:
		return int64(words[l.word])
	case l.op == opBool:
		return words[l.word] != 0
	case l.op == opRef:
		return WireID(words[l.word])
	case l.op == opQuat && l.floats():
		return l.rotation(words[l.word:], g)
	case l.op == opQuat:
		var v [4]int64
		same := *l.shape
		same.size = 8
		at := leaf{op: opQuat, shape: &same}
		at.restoreQuat(words[l.word:], g, unsafe.Pointer(&v))
		return v
	case l.op == opUint64:
		return uint64(l.wordInt(words))
	case l.op <= opUint64:
		return l.wordInt(words)
	case l.op == opStep32 || l.op == opAngle32:
		return float64(float32(l.value(words[l.word], g)))
	}
	return l.float(words, g)
}

// UnpackValues reads a value packed by [Schema.Pack] and appends that of each field
// to dst, as [Schema.Value] gives it. The error is [ErrMalformed].
func (s *Schema) UnpackValues(b []byte, dst []any) ([]any, error) {
	at := s.block()
	if err := s.UnpackRefs(b, sameRefs{}, at); err != nil {
		return dst, err
	}
	words := make([]int32, s.words)
	s.Quantise(at, GridPublic, sameRefs{}, words)
	for i := range s.leaves {
		dst = append(dst, s.Value(i, words, GridPublic))
	}
	return dst, nil
}

// block is memory for a value.
func (s *Schema) block() unsafe.Pointer {
	if s.typ != nil {
		return reflect.New(s.typ).UnsafePointer()
	}
	return unsafe.Pointer(unsafe.SliceData(make([]uint64, s.size/8+1)))
}

// sameRefs leaves wire ids as they are.
type sameRefs struct{}

func (sameRefs) Net(entity uint64) uint32 { return uint32(entity) }

func (sameRefs) Entity(ref uint32) uint64 { return uint64(ref) }
