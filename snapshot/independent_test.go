package snapshot_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"math/bits"
	"slices"
)

// This file is a second reader, written from docs/STANDARD-snapshot.md. It shares
// nothing with the package but the tables. It knows the components of the tests.

type indWord struct {
	circle, float, ref bool
	upper              bool  // half of a float64
	lo, hi, size       int64 // lo > hi: no range
	to                 int   // classes of viewers that receive it: 1 owner, 2 allies, 4 enemies, 8, 16 the tests' own; 0: all
}

func (w indWord) seenBy(class int) bool { return w.to == 0 || w.to&class != 0 }

func (w indWord) only(to int) indWord {
	w.to = to
	return w
}

type indComponent struct {
	n    int // words, those not sent included
	sent map[int]indWord
	vec  map[int]int  // by its first word: of how many
	quat map[int]bool // by its first word
	text map[int]int  // by its first word: of how many bytes at most
	list map[int]indSlice
}

// indSlice is a slice, by the word of its length.
type indSlice struct{ most, words int }

// end is the word behind the unit that begins at i.
func (k indComponent) end(i int) int {
	switch {
	case k.vec[i] > 0:
		return i + k.vec[i]
	case k.quat[i]:
		return i + 4
	case k.text[i] > 0:
		return i + 1 + (k.text[i]+3)/4
	case k.list[i].most > 0:
		return i + 1 + k.list[i].most*k.list[i].words
	}
	return i + 1
}

// zero is its zero value.
func (k indComponent) zero() []int32 {
	z := make([]int32, k.n)
	for i := range z {
		if k.quat[i] {
			z[i] = 3
		} else if w := k.sent[i]; w.lo <= w.hi {
			z[i] = int32(max(w.lo, 0))
		}
	}
	return z
}

// indSet is a set of components.
type indSet [256]bool

// String writes it as a binary number.
func (s indSet) String() string {
	n := new(big.Int)
	for c, is := range s {
		if is {
			n.SetBit(n, c, 1)
		}
	}
	return fmt.Sprintf("%010b", n)
}

type indValue struct {
	tick  uint32
	mask  indSet
	owner int
	class int             // of the viewer, when it was sent
	jumps int             // teleports since the birth
	words map[int][]int32 // by component
}

type indGhost struct {
	born, gone uint32
	kind       int
	vals       []indValue // ascending
}

type independent struct {
	probs   []uint16
	weights [3][48][2]int64
	bookOf  []byte
	books   [][52]int         // lengths of codes
	comps   [2][]indComponent // public, owner
	kinds   []map[int][2][]int32
	ghosts  map[int]*indGhost
	parts   map[int]*indParts
	log     []string
	open    bool // no field is for an audience

	flagsIn     []byte
	newest      uint32
	lists       map[uint32]indList
	surprise    int
	width, code uint64
	part        uint64 // of the interval of a group
	place       uint64 // in that part
	start       uint64 // in the interval
	bitsIn      []byte
	pos         int
}

// indList is what a snapshot held: wire ids in ascending order.
type indList struct {
	whole bool
	wires []int
}

const noSurprise = -100

var errIndependent = errors.New("malformed")

func plain(lo, hi int64) indWord {
	return indWord{lo: lo, hi: hi, size: int64(bits.Len64(uint64(hi - lo)))}
}

var (
	free  = indWord{lo: 1, hi: 0, size: 32}
	upper = indWord{lo: 1, hi: 0, size: 32, upper: true}
)

// newIndependentBag describes the component bag.
func newIndependentBag(fine int64) indComponent {
	k := indComponent{sent: map[int]indWord{}, vec: map[int]int{}, quat: map[int]bool{}, text: map[int]int{}, list: map[int]indSlice{}}
	add := func(w indWord) int {
		k.sent[k.n] = w
		k.n++
		return k.n - 1
	}
	text := func(most, to int) {
		k.text[k.n] = most
		for range 1 + (most+3)/4 {
			add(free.only(to))
		}
	}
	list := func(most, to int, element func()) {
		at := add(plain(0, int64(most)).only(to))
		for range most {
			element()
		}
		k.list[at] = indSlice{most, (k.n - at - 1) / most}
	}
	bits := int64(9)
	if fine > 1 {
		bits += 4
	}
	text(11, 0)
	text(40, 1)
	list(6, 0, func() {
		add(plain(0, 65535))
		text(7, 0)
		k.quat[add(plain(0, 3))] = true
		for range 3 {
			add(plain(-1<<(bits-1), 1<<(bits-1)-1))
		}
		k.vec[add(plain(-32*fine, 32*fine))] = 2
		add(plain(-32*fine, 32*fine))
		add(plain(5, 90))
		add(plain(0, 1))
		add(free.only(1))
		add(indWord{ref: true})
	})
	list(5, 2, func() { add(plain(-32*fine, 32*fine).only(2)) })
	list(3, 0, func() { add(indWord{ref: true}) })
	list(9, 0, func() { add(plain(0, 255)) })
	for range 2 {
		list(2, 0, func() { text(5, 0) })
	}
	add(plain(0, 1))
	return k
}

// newIndependent describes ident, position, gun, private, purse, follow, marker,
// squad, dossier and bag.
func newIndependent(tables []byte) *independent {
	float := indWord{float: true, lo: 1, size: 32}
	ref := indWord{ref: true}
	angle := func(b int64) indWord { return indWord{circle: true, lo: -1 << (b - 1), hi: 1<<(b-1) - 1, size: b} }
	d := &independent{ghosts: map[int]*indGhost{}, parts: map[int]*indParts{}, lists: map[uint32]indList{}}
	d.load(tables)
	d.comps[0] = []indComponent{
		{n: 1, sent: map[int]indWord{0: free}},
		{n: 3, sent: map[int]indWord{0: plain(-51200, 51200), 1: plain(-51200, 51200), 2: angle(12)}},
		{n: 4, sent: map[int]indWord{0: plain(0, 60).only(1), 1: free.only(1), 2: free.only(1), 3: plain(-300, 300)}},
		{n: 5, sent: map[int]indWord{0: free.only(1), 1: free, 2: upper, 3: free, 4: upper}},
		{n: 3, sent: map[int]indWord{0: free.only(1), 1: free.only(1), 2: ref.only(1)}},
		{n: 5, sent: map[int]indWord{0: ref, 1: float, 2: plain(0, 1), 3: ref, 4: ref}},
		{n: 0, sent: nil},
		{n: 7, sent: map[int]indWord{0: free.only(2), 1: plain(0, 65535).only(4), 2: free.only(9), 3: free.only(9), 4: ref.only(8), 5: plain(-16, 16).only(20), 6: plain(0, 1)}},
		{n: 3, sent: map[int]indWord{0: plain(-32768, 32767).only(4), 1: plain(-32768, 32767).only(4), 2: free.only(17)}},
		newIndependentBag(1),
	}
	d.comps[1] = append([]indComponent(nil), d.comps[0]...)
	d.comps[1][1] = indComponent{n: 3, sent: map[int]indWord{0: plain(-819200, 819200), 1: plain(-819200, 819200), 2: angle(16)}}
	fine := maps.Clone(d.comps[0][7].sent)
	fine[5] = plain(-256, 256).only(20)
	d.comps[1][7] = indComponent{n: 7, sent: fine}
	d.comps[1][9] = newIndependentBag(16)
	both := func(n int) [2][]int32 { return [2][]int32{make([]int32, n), make([]int32, n)} }
	d.kinds = []map[int][2][]int32{
		{0: both(1), 1: {{100, 0, 0}, {1600, 0, 0}}, 2: {{0, 0, 0, 0}, {30, 0, 0, 0}}, 5: both(5)},
		{0: both(1), 1: both(3)},
		{0: both(1), 3: both(5), 4: both(3), 9: {d.comps[0][9].zero(), d.comps[1][9].zero()}},
	}
	for grid := range 2 { // a box with one thing in it, of number 7 and heat 9
		w := d.kinds[2][9][grid]
		w[0], w[1] = 3, 'b'|'o'<<8|'x'<<16
		w[15], w[16], w[26] = 1, 7, 9
		w[110], w[111], w[112] = 2, 1, 2
	}
	return d
}

// take shifts two more bytes into the code.
func (d *independent) take() {
	for range 2 {
		d.code <<= 8
		if len(d.flagsIn) > 0 {
			d.code |= uint64(d.flagsIn[0])
			d.flagsIn = d.flagsIn[1:]
		}
	}
}

func (d *independent) flag(ctx int) bool {
	if d.part == 1<<31 {
		d.place = d.code / (d.width >> 31)
		d.start = d.place
	}
	bound := d.part / 4096 * uint64(d.probs[ctx])
	set := d.place >= bound
	if set {
		d.place -= bound
		d.part -= bound
	} else {
		d.part = bound
	}
	if d.part < 1<<19 {
		d.endGroup()
	}
	return set
}

// endGroup leaves the interval of a group of flags.
func (d *independent) endGroup() {
	if d.part == 1<<31 {
		return
	}
	step := d.width >> 31
	d.code -= step * (d.start - d.place)
	d.width = step * d.part
	for d.width < 1<<48 {
		d.take()
		d.width <<= 16
	}
	d.part = 1 << 31
}

func (d *independent) bit() uint64 {
	if d.pos >= 8*len(d.bitsIn) {
		panic(errIndependent)
	}
	b := d.bitsIn[d.pos/8] >> (d.pos % 8) & 1
	d.pos++
	return uint64(b)
}

func (d *independent) number(n int) (v uint64) {
	for i := range n {
		v |= d.bit() << i
	}
	return v
}

func (d *independent) golomb() int {
	k := 0
	for d.bit() == 0 {
		k++
	}
	return int(1<<k|d.number(k)) - 1
}

func (d *independent) read(p []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	t := uint32(binary.LittleEndian.Uint16(p))
	if p = p[2:]; t >= 1<<15 {
		t = t - 1<<15 + 1<<15*(uint32(p[0])+1<<8*uint32(p[1])+1<<16*uint32(p[2]))
		p = p[3:]
	} else {
		for t+1<<14 < d.newest {
			t += 1 << 15
		}
	}
	d.newest = max(d.newest, t)
	n, k := binary.Uvarint(p)
	d.flagsIn, d.bitsIn, d.pos = p[k:k+int(n)], p[k+int(n):], 0
	d.width, d.code, d.part = 1<<64-1, 0, 1<<31
	for range 4 {
		d.take()
	}
	complete, own := d.flag(10), d.flag(12)
	d.log = append(d.log, fmt.Sprintf("tick %d complete %t own %t", t, complete, own))
	var usual [3]uint32
	if usual[0] = uint32(d.golomb()); usual[0] != 0 {
		if d.flag(11) {
			usual[1], usual[2] = usual[0]+1, usual[0]+4
		} else if e := uint32(d.number(6)); e != 0 {
			usual[1] = usual[0] + e
			if e := uint32(d.number(6)); e != 0 {
				usual[2] = usual[1] + e
			}
		}
	}
	at, removals := 0, d.golomb()
	pieces := removals > 128
	if pieces {
		removals -= 129
	}
	for range removals {
		at += d.golomb() + 1
		hidden, age := d.bit(), uint32(d.golomb())
		d.log = append(d.log, fmt.Sprintf("gone %d hidden %d in %d", at, hidden, t-age))
		if g := d.ghosts[at]; g != nil && g.gone == 0 && g.born <= t-age {
			g.gone = t - age
		}
	}
	held := indList{whole: complete}
	if usual[2] != 0 && d.flag(13) {
		d.expected(t, usual, &held)
	}
	at = 0
	for d.flag(0) {
		if d.flag(1) {
			at++
		} else {
			at += d.golomb()*16 + int(d.number(4)) + 2
		}
		d.record(t, at, usual)
		held.wires = append(held.wires, at)
	}
	if pieces {
		d.pieces(t)
	}
	slices.Sort(held.wires)
	d.lists[t] = held
	if !complete {
		at := 0
		for range d.golomb() {
			from := at + d.golomb()
			at = from + d.golomb()
			d.log = append(d.log, fmt.Sprintf("postponed %d to %d", from, at))
		}
	}
	if rest := 8*len(d.bitsIn) - d.pos; rest >= 8 || d.number(rest) != 0 {
		return errIndependent
	}
	return nil
}

// load reads tables.
func (d *independent) load(b []byte) {
	b = b[1:]
	u16 := func() uint16 {
		v := binary.LittleEndian.Uint16(b)
		b = b[2:]
		return v
	}
	for range 19 + 8 + 24 + 156 + 24 + 8 + 1728 {
		d.probs = append(d.probs, u16())
	}
	for s := range d.weights {
		for r := range d.weights[s] {
			d.weights[s][r] = [2]int64{int64(int16(u16())), int64(int16(u16()))}
		}
	}
	d.bookOf, b = b[:1728], b[1728:]
	n := int(b[0])
	b = b[1:]
	for range n {
		var lengths [52]int
		for s := range lengths {
			lengths[s] = int(b[s/2]>>(4*(s%2))) & 15
		}
		d.books = append(d.books, lengths)
		b = b[26:]
	}
}

// expected reads the records of what the usual baseline's snapshot held.
func (d *independent) expected(t uint32, usual [3]uint32, held *indList) {
	var lists [3]indList
	for i, back := range usual {
		l, ok := d.lists[t-back]
		if !ok {
			panic(errIndependent)
		}
		lists[i] = l
	}
	var there []int
	for _, wire := range lists[0].wires {
		g := d.ghosts[wire]
		if g == nil || (g.gone != 0 && g.gone <= t) {
			continue
		}
		same := func(i, j int) bool {
			var v [2]indValue
			for k, back := range [2]uint32{usual[i], usual[j]} {
				for _, x := range g.vals {
					if x.tick == t-back {
						v[k] = x
					}
				}
			}
			if v[0].tick == 0 || v[1].tick == 0 || v[0].mask != v[1].mask || v[0].class != v[1].class {
				return false
			}
			for c := range v[0].words {
				for w := range v[0].words[c] {
					if k, ok := d.comps[v[0].class&1][c].sent[w]; ok && k.seenBy(v[0].class) && !k.ref && v[0].words[c][w] != v[1].words[c][w] {
						return false
					}
				}
			}
			return true
		}
		state := 0
		if slices.Contains(lists[1].wires, wire) {
			switch {
			case same(0, 1):
				state = 1
			case slices.Contains(lists[2].wires, wire) && same(1, 2):
				state = 2
			default:
				state = 3
			}
		}
		if lists[0].whole {
			state += 4
		}
		if d.flag(19 + state) {
			there = append(there, wire)
		}
	}
	for _, wire := range there {
		d.record(t, wire, usual)
		held.wires = append(held.wires, wire)
	}
}

func (d *independent) record(t uint32, wire int, usual [3]uint32) {
	d.endGroup()
	defer d.endGroup()
	g := d.ghosts[wire]
	var base [3]map[int][]int32
	var v indValue
	n, since := 0, [3]uint32{}
	upTo := func(t uint32) *indValue {
		var b *indValue
		for i := range g.vals {
			if g.vals[i].tick <= t {
				b = &g.vals[i]
			}
		}
		return b
	}
	three := func() {
		n, since = 3, usual
		b := upTo(t - usual[0])
		base[0], base[1], base[2] = b.words, upTo(t-usual[1]).words, upTo(t-usual[2]).words
		v.mask, v.class, v.owner, v.jumps = b.mask, b.class, b.owner, b.jumps
	}
	plain := d.flag(2)
	switch {
	case plain:
		three()
	case d.flag(3):
		var born uint32
		var prefab int
		v, prefab, born, base[0] = d.head(t)
		if g == nil || g.born != born {
			g = &indGhost{born: born, kind: prefab}
			d.ghosts[wire] = g
		}
	default:
		n = 1
		var b *indValue
		if d.flag(4) {
			b = upTo(t - usual[0])
			if usual[2] != 0 && d.flag(5) {
				three()
			}
		} else {
			b = upTo(t - uint32(d.golomb()) - 1)
		}
		base[0] = b.words
		v.mask, v.class, v.owner, v.jumps = b.mask, b.class, b.owner, b.jumps
	}
	if before := v.jumps; !plain {
		if d.shape(&v); v.jumps != before && n == 3 {
			panic(errIndependent)
		}
	}
	v.tick, v.words = t, map[int][]int32{}
	for c := range d.comps[0] {
		if v.mask[c] {
			v.words[c] = d.component(c, d.comps[v.class&1][c].as(v.class), n, base, since)
		}
	}
	g.vals = append(g.vals, v)
	d.note("wire", wire, g, v)
}

// note logs a value.
func (d *independent) note(what string, wire int, g *indGhost, v indValue) {
	line := fmt.Sprintf(what+" %d prefab %d born %d owner %d class %d mask %v", wire, g.kind, g.born, v.owner, v.class, v.mask)
	if v.jumps > 0 {
		line += fmt.Sprintf(" jumps %d", v.jumps)
	}
	for c := range d.comps[0] {
		if v.mask[c] {
			line += fmt.Sprintf(" %d%v", c, v.words[c])
		}
	}
	d.log = append(d.log, line)
}

// head reads what begins a full record, up to its shape. It returns the value so far, with the
// prefab's components, the prefab, the birth, and the prefab's words.
func (d *independent) head(t uint32) (v indValue, prefab int, born uint32, base map[int][]int32) {
	prefab = int(d.number(bits.Len(uint(len(d.kinds) - 1))))
	if d.flag(7) {
		v.class = 1
	}
	if v.class == 1 || d.flag(8) {
		v.owner = int(d.number(16))
	}
	if len(d.comps[0]) > 1 && !d.open {
		v.class |= int(d.number(4)) << 1 // all five classes make a difference
	}
	born, base = t-uint32(d.golomb()), map[int][]int32{}
	for c, w := range d.kinds[prefab] {
		if !d.comps[0][c].seenBy(v.class) {
			continue
		}
		base[c] = slices.Clone(w[v.class&1])
		for i, k := range d.comps[0][c].sent {
			if !k.seenBy(v.class) {
				base[c][i] = 0
				if d.comps[0][c].quat[i] {
					base[c][i] = 3
				}
			}
		}
		v.mask[c] = true
	}
	return v, prefab, born, base
}

// shape reads the components and the teleports of a record.
func (d *independent) shape(v *indValue) {
	if !d.flag(6) {
		return
	}
	jumped := uint64(1)
	if d.bit() == 1 {
		d.set(&v.mask)
		jumped = d.bit()
	}
	if jumped == 1 {
		v.jumps += d.golomb() + 1
	}
}

// seenBy tells whether a viewer of some classes receives any of a component.
// set reads a component set that differs from the usual one.
func (d *independent) set(s *indSet) {
	n := len(d.comps[0])
	if n <= 64 {
		for c := range n {
			s[c] = d.bit() == 1
		}
		return
	}
	c := -1
	for range d.golomb() + 1 {
		if c += d.golomb() + 1; c >= n {
			panic(errIndependent)
		}
		s[c] = !s[c]
	}
}

func (k indComponent) seenBy(class int) bool {
	for _, w := range k.sent {
		if w.seenBy(class) {
			return true
		}
	}
	return len(k.sent) == 0
}

// as is the component without what a viewer does not receive.
func (k indComponent) as(class int) indComponent {
	out := indComponent{k.n, map[int]indWord{}, k.vec, k.quat, k.text, k.list}
	for i, w := range k.sent {
		if w.seenBy(class) {
			out.sent[i] = w
		}
	}
	return out
}

func (d *independent) component(c int, k indComponent, n int, base [3]map[int][]int32, since [3]uint32) []int32 {
	from := [3][]int32{base[0][c], base[1][c], base[2][c]}
	if from[0] == nil {
		n, from[0] = 0, k.zero()
		for i := range from[0] {
			if _, ok := k.sent[i]; !ok {
				from[0][i] = 0
				if k.quat[i] {
					from[0][i] = 3
				}
			}
		}
	}
	out := append([]int32(nil), from[0]...)
	if len(k.sent) == 0 {
		return out
	}
	ctx := 14 + n
	if n == 3 {
		same := func(a, b []int32) bool {
			for i, w := range k.sent {
				if !w.ref && a[i] != b[i] {
					return false
				}
			}
			return true
		}
		switch {
		case same(from[0], from[1]):
			ctx = 16
		case same(from[1], from[2]):
			ctx = 17
		default:
			ctx = 18
		}
	}
	if !d.flag(ctx) {
		return out
	}
	d.surprise = noSurprise
	d.units(k, n, 0, k.n, from, since, out)
	return out
}

// units reads those of the words from i to end.
func (d *independent) units(k indComponent, n, i, end int, from [3][]int32, since [3]uint32, out []int32) {
	for ; i < end; i = k.end(i) {
		w, ok := k.sent[i]
		switch {
		case !ok:
		case k.vec[i] > 0:
			d.vector(k, n, i, k.vec[i], from, since, out)
		case k.quat[i]:
			d.rotation(k, n, i, from, since, out)
		case k.text[i] > 0:
			d.text(k, n, i, from, out)
		case k.list[i].most > 0:
			d.slice(k, n, i, from, since, out)
		case w.ref:
			if d.flag(9) {
				out[i] = int32(d.number(16))
			}
		case n == 3 && w.inRun():
			i += d.run(k, i, end, from, since, out) - 1
		default:
			out[i] = d.word(w, n, i, from, since)
		}
	}
}

func (w indWord) inRun() bool { return !w.float && !w.upper && !w.ref }

func (w indWord) bit() bool { return w.lo == 0 && w.hi == 1 && !w.circle && !w.float }

// run reads the run that begins with word i and ends before end, and returns its
// length.
func (d *independent) run(k indComponent, i, end int, from [3][]int32, since [3]uint32, out []int32) int {
	before := d.surprise
	var moving, bits, still []int
	n := 0
	for ; n < 64 && i+n < end; n++ {
		j := i + n
		w, ok := k.sent[j]
		if !ok || !w.inRun() || k.end(j) > j+1 {
			break
		}
		switch {
		case w.bit():
			bits = append(bits, j)
		case from[0][j] == from[1][j] && from[1][j] == from[2][j]:
			still = append(still, j)
		default:
			moving = append(moving, j)
		}
	}
	for _, j := range append(moving, bits...) {
		out[j] = d.word(k.sent[j], 3, j, from, since)
		d.surprise = before
	}
	if len(still) == 0 {
		return n
	}
	ctx := 231
	for c := len(still); c > 1 && ctx < 234; c /= 2 {
		ctx++
	}
	if len(moving) == 0 {
		ctx += 4
	}
	if !d.flag(ctx) {
		return n
	}
	for _, j := range still {
		if len(still) > 1 {
			out[j] = d.word(k.sent[j], 3, j, from, since)
			d.surprise = before
		} else {
			x := d.symbolDifference(8*24+d.column(), false)
			out[j] = k.sent[j].moved(from[0][j], x)
		}
	}
	return n
}

func (w indWord) difference(v, p int32) int64 {
	if w.float {
		order := func(u int32) int32 { return u ^ u>>31&0x7fffffff }
		v, p = order(v), order(p)
	}
	if w.circle {
		n := w.hi - w.lo + 1
		x := (int64(v) - int64(p)) % n
		if x < w.lo {
			x += n
		}
		if x > w.hi {
			x -= n
		}
		return x
	}
	return int64(v - p)
}

func (w indWord) moved(p int32, by int64) int32 {
	order := func(u int32) int32 { return u ^ u>>31&0x7fffffff }
	switch {
	case w.float:
		return order(order(p) + int32(by))
	case w.circle:
		n := w.hi - w.lo + 1
		return int32(((int64(p)+by-w.lo)%n+n)%n + w.lo)
	}
	return p + int32(by)
}

// octaves is the number of half octaves of a number of 65536ths.
func octaves(x int64) int {
	x >>= 15
	if x == 0 {
		return 0
	}
	k := bits.Len64(uint64(x))
	n := 2*k - 1
	if k > 1 && x&(1<<(k-2)) != 0 {
		n++
	}
	return min(n, 23)
}

func (d *independent) word(w indWord, n, i int, from [3][]int32, since [3]uint32) int32 {
	p, back, class, row := from[0][i], false, min(int(w.size), 23), 48+8*n+min(int(w.size)/4, 7)
	column := 0
	if d.surprise != noSurprise {
		column = min(max((d.surprise+200)/2-100+4, 1), 7)
	}
	if w.bit() {
		row = 64 + int(p)
		if n == 3 {
			row += 4
			if p != from[1][i] {
				row += 2
			}
		}
		if d.flag(239 + 8*row + column) {
			return p
		}
		return 1 - p
	}
	if n == 3 {
		a, e, f := int64(since[0]), int64(since[1]-since[0]), int64(since[2]-since[1])
		speed, newer, older := a<<16/e, a*a<<16/((e+f)*e), a*a<<16/((e+f)*f)
		u, v := w.difference(from[0][i], from[1][i]), w.difference(from[1][i], from[2][i])
		mag := func(v int64) int64 { return max(v, -v) }
		hold, going := mag(u*speed), mag(u*newer-v*older)
		class = octaves(hold>>6 + going>>1)
		if class == 0 && (u != 0 || v != 0) {
			class = 1
		}
		row = class
		if going >= hold {
			row += 24
		}
		k := d.weights[0][row]
		by := u*((k[0]*speed+k[1]*newer)>>12) - v*(k[1]*older>>12)
		back = by < 0
		p = w.moved(p, (by+1<<15)>>16)
	}
	x := d.difference(8*row+column, back)
	if v := octaves(max(x, -x)<<16) - class; class == 0 && x == 0 {
		d.surprise = max(d.surprise, -8)
	} else {
		d.surprise = max(d.surprise, v)
	}
	v := w.moved(p, x)
	if w.lo <= w.hi && (int64(v) < w.lo || int64(v) > w.hi) {
		panic(errIndependent)
	}
	return v
}

// difference reads a difference in a value context.
func (d *independent) difference(ctx int, back bool) int64 {
	flagless := ctx < 8*48 && ctx/8 != 24 && d.probs[239+ctx] >= 1638
	if !flagless && d.flag(239+ctx) {
		return 0
	}
	return d.symbolDifference(ctx, back)
}

func (d *independent) symbolDifference(ctx int, back bool) int64 {
	sym := d.symbol(d.books[d.bookOf[ctx]])
	if sym == 51 {
		return 0
	}
	if sym == 50 {
		negative, k := d.bit() == 1, int(d.number(5))+1
		x := int64(1)<<(k-1) | int64(d.number(k-1))
		if negative {
			x = -x
		}
		return x
	}
	x := int64(sym/2 + 1)
	if x > 7 {
		k := int(x-8)/2 + 2
		x = (2+(x-8)%2)<<k | int64(d.number(k))
	}
	if sym%2 == 1 != back {
		x = -x
	}
	return x
}

// symbol reads a canonical code bit by bit.
func (d *independent) symbol(lengths [52]int) int {
	code, first := 0, 0
	for n := 1; n <= 11; n++ {
		code = code<<1 | int(d.bit())
		for s, l := range lengths {
			if l == n {
				if code == first {
					return s
				}
				first++
			}
		}
		first <<= 1
	}
	panic(errIndependent)
}
