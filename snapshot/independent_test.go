package snapshot_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// This file is a second reader, written from docs/STANDARD-snapshot.md. It shares
// nothing with the package but the tables. It knows the components of the tests.

type indWord struct {
	circle, float, ref bool
	lo, hi, size       int64 // lo > hi: no range
}

type indComponent struct {
	n    int // words, those not sent included
	sent map[int]indWord
}

type indValue struct {
	tick  uint32
	mask  uint64
	owner int
	mine  bool
	words map[int][]int32 // by component
}

type indGhost struct {
	born, gone uint32
	kind       int
	vals       []indValue // ascending
}

type independent struct {
	probs  []uint16
	comps  [2][]indComponent // public, owner
	kinds  []map[int][2][]int32
	ghosts map[int]*indGhost
	log    []string

	flagsIn     []byte
	newest      uint32
	before      int
	width, code uint32
	bitsIn      []byte
	pos         int
}

var errIndependent = errors.New("malformed")

func plain(lo, hi int64) indWord {
	return indWord{lo: lo, hi: hi, size: int64(bits.Len64(uint64(hi - lo)))}
}

var free = indWord{lo: 1, hi: 0, size: 32}

// newIndependent describes ident, position, gun, private, purse, follow and marker.
func newIndependent(probs []uint16) *independent {
	float := indWord{float: true, lo: 1, size: 32}
	ref := indWord{ref: true}
	angle := func(b int64) indWord { return indWord{circle: true, lo: -1 << (b - 1), hi: 1<<(b-1) - 1, size: b} }
	d := &independent{probs: probs, ghosts: map[int]*indGhost{}}
	d.comps[0] = []indComponent{
		{1, map[int]indWord{0: free}},
		{3, map[int]indWord{0: plain(-51200, 51200), 1: plain(-51200, 51200), 2: angle(12)}},
		{4, map[int]indWord{3: plain(-300, 300)}},
		{5, map[int]indWord{1: free, 2: free, 3: free, 4: free}},
		{3, nil},
		{5, map[int]indWord{0: ref, 1: float, 2: plain(0, 1), 3: ref, 4: ref}},
		{0, nil},
	}
	d.comps[1] = append([]indComponent(nil), d.comps[0]...)
	d.comps[1][1] = indComponent{3, map[int]indWord{0: plain(-819200, 819200), 1: plain(-819200, 819200), 2: angle(16)}}
	d.comps[1][2] = indComponent{4, map[int]indWord{0: plain(0, 60), 1: free, 2: free, 3: plain(-300, 300)}}
	d.comps[1][3] = indComponent{5, map[int]indWord{0: free, 1: free, 2: free, 3: free, 4: free}}
	d.comps[1][4] = indComponent{3, map[int]indWord{0: free, 1: free, 2: ref}}
	both := func(n int) [2][]int32 { return [2][]int32{make([]int32, n), make([]int32, n)} }
	d.kinds = []map[int][2][]int32{
		{0: both(1), 1: {{100, 0, 0}, {1600, 0, 0}}, 2: {{0, 0, 0, 0}, {30, 0, 0, 0}}, 5: both(5)},
		{0: both(1), 1: both(3)},
		{0: both(1), 3: both(5), 4: both(3)},
	}
	return d
}

func (d *independent) nextByte() uint32 {
	if len(d.flagsIn) == 0 {
		return 0
	}
	b := d.flagsIn[0]
	d.flagsIn = d.flagsIn[1:]
	return uint32(b)
}

func (d *independent) flag(ctx int) bool {
	bound := (d.width >> 12) * uint32(d.probs[ctx])
	set := d.code >= bound
	if set {
		d.code -= bound
		d.width -= bound
	} else {
		d.width = bound
	}
	for d.width < 1<<24 {
		d.width <<= 8
		d.code = d.code<<8 | d.nextByte()
	}
	return set
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
	d.width, d.code = 1<<32-1, 0
	for range 4 {
		d.code = d.code<<8 | d.nextByte()
	}
	complete, own := d.flag(9), d.flag(10)
	d.log = append(d.log, fmt.Sprintf("tick %d complete %t own %t", t, complete, own))
	var usual [3]uint32
	if usual[0] = uint32(d.golomb()); usual[0] != 0 {
		if e := uint32(d.number(6)); e != 0 {
			usual[1] = usual[0] + e
			if e := uint32(d.number(6)); e != 0 {
				usual[2] = usual[1] + e
			}
		}
	}
	at := 0
	for range d.golomb() {
		at += d.golomb() + 1
		hidden, age := d.bit(), uint32(d.golomb())
		d.log = append(d.log, fmt.Sprintf("gone %d hidden %d in %d", at, hidden, t-age))
		if g := d.ghosts[at]; g != nil && g.gone == 0 && g.born <= t-age {
			g.gone = t - age
		}
	}
	at = 0
	for d.flag(0) {
		if d.flag(1) {
			at++
		} else {
			at += d.golomb() + 2
		}
		d.record(t, at, usual)
	}
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

func (d *independent) record(t uint32, wire int, usual [3]uint32) {
	g := d.ghosts[wire]
	var base [3]map[int][]int32
	var v indValue
	n, since := 0, [3]uint32{}
	if d.flag(2) {
		kind := int(d.number(bits.Len(uint(len(d.kinds) - 1))))
		v.mine = d.flag(6)
		if v.mine || d.flag(7) {
			v.owner = int(d.number(16))
		}
		born := t - uint32(d.golomb())
		if g == nil || g.born != born {
			g = &indGhost{born: born, kind: kind}
			d.ghosts[wire] = g
		}
		base[0] = map[int][]int32{}
		for c, w := range d.kinds[kind] {
			if aud := d.aud(v.mine); c != 4 || v.mine {
				base[0][c] = w[aud]
				v.mask |= 1 << c
			}
		}
	} else {
		exact := func(t uint32) *indValue {
			for i := range g.vals {
				if g.vals[i].tick == t {
					return &g.vals[i]
				}
			}
			panic(errIndependent)
		}
		var b *indValue
		n = 1
		if d.flag(3) {
			for i := range g.vals {
				if g.vals[i].tick <= t-usual[0] {
					b = &g.vals[i]
				}
			}
			if usual[2] != 0 && d.flag(4) {
				n, since = 3, usual
				b = exact(t - usual[0])
				base[1], base[2] = exact(t-usual[1]).words, exact(t-usual[2]).words
			}
		} else {
			b = exact(t - uint32(d.golomb()) - 1)
		}
		base[0] = b.words
		v.mask, v.mine, v.owner = b.mask, b.mine, b.owner
	}
	if d.flag(5) {
		v.mask = d.number(len(d.comps[0]))
	}
	v.tick, v.words = t, map[int][]int32{}
	for c := range d.comps[0] {
		if v.mask>>c&1 != 0 {
			v.words[c] = d.component(c, d.comps[d.aud(v.mine)][c], n, base, since)
		}
	}
	g.vals = append(g.vals, v)
	line := fmt.Sprintf("wire %d kind %d born %d owner %d mine %t mask %07b", wire, g.kind, g.born, v.owner, v.mine, v.mask)
	for c := range d.comps[0] {
		if v.mask>>c&1 != 0 {
			line += fmt.Sprintf(" %d%v", c, v.words[c])
		}
	}
	d.log = append(d.log, line)
}

func (d *independent) aud(mine bool) int {
	if mine {
		return 1
	}
	return 0
}

func (d *independent) component(c int, k indComponent, n int, base [3]map[int][]int32, since [3]uint32) []int32 {
	from := [3][]int32{base[0][c], base[1][c], base[2][c]}
	if from[0] == nil {
		n, from[0] = 0, make([]int32, k.n)
	}
	out := append([]int32(nil), from[0]...)
	if len(k.sent) == 0 {
		return out
	}
	ctx := 11 + n
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
			ctx = 13
		case same(from[1], from[2]):
			ctx = 14
		default:
			ctx = 15
		}
	}
	if !d.flag(ctx) {
		return out
	}
	d.before = 0
	for i := range k.n {
		w, ok := k.sent[i]
		switch {
		case !ok:
		case w.ref:
			if d.flag(8) {
				out[i] = int32(d.number(16))
			}
		default:
			out[i] = d.word(w, n, i, from, since)
		}
	}
	return out
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

func floorScale(v, num, den int64) int64 {
	if num == den {
		return v
	}
	q := v * num / den
	if q*den > v*num {
		q--
	}
	return q
}

func (d *independent) word(w indWord, n, i int, from [3][]int32, since [3]uint32) int32 {
	p, group, class := from[0][i], n, min(int(w.size/2), 15)
	if n == 3 {
		mag := func(v int64) int64 { return max(v, -v) }
		d1, d2, d3 := int64(since[0]), int64(since[1]), int64(since[2])
		u := w.difference(from[0][i], from[1][i])
		g := u - floorScale(w.difference(from[1][i], from[2][i]), d2-d1, d3-d2)
		group = 2
		err := mag(u)
		if mag(g) < mag(u) {
			group, err = 3, mag(g)
			by := floorScale(u, d1, d2-d1)
			if !w.float && !w.circle && w.lo <= w.hi {
				by = min(max(int64(p)+by, w.lo), w.hi) - int64(p)
			}
			p = w.moved(p, by)
		}
		class = min(bits.Len64(uint64(floorScale(err, d1, d2-d1))), 15)
	}
	block := 16 + 288*group + 18*class
	if d.flag(block + d.before) {
		d.before = max(d.before, 1)
		return p
	}
	d.before = 2
	m := max(class, 1)
	k := m
	if d.flag(block + 3) {
		for k = m + 1; k < 32 && d.flag(block+4+min(k-m-1, 6)); k++ {
		}
	} else {
		for ; k > 1 && d.flag(block+11+min(m-k, 6)); k-- {
		}
	}
	negative := d.bit() == 1
	x := int64(1)<<(k-1) | int64(d.number(k-1))
	if negative {
		x = -x
	}
	v := w.moved(p, x)
	if w.lo <= w.hi && (int64(v) < w.lo || int64(v) > w.hi) {
		panic(errIndependent)
	}
	return v
}
