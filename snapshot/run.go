package snapshot

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// This file codes runs of words that stand alone against three baselines, which is
// most of what there is: what coder.scalar and decoder.scalar do word for word, in
// one piece and nearly without branches.

// smallMagnitude is what a magnitude below 256 is coded as.
type smallMagnitude struct{ sym, extra, class uint8 }

var smallMagnitudes = func() (t [256]smallMagnitude) {
	for m := range t {
		if m > 0 {
			sym, extra := magnitude(uint32(m))
			t[m] = smallMagnitude{uint8(2 * sym), uint8(extra), uint8(magnitudeClass(int32(m)))}
		}
	}
	return t
}()

// classes are those of numbers whose bits were counted, see halfOctaves.
var classes = func() (t [128]uint8) {
	for i := range t {
		t[i] = uint8(min(max(i-3, 0), historyClasses-1))
	}
	return t
}()

// halfOctaves is historyClass without a branch, of e/2¹⁵ < 2⁴⁹.
func halfOctaves(e uint64) int {
	e <<= 1
	n := bits.Len64(e)
	return int(classes[(2*n+int(e>>(uint(n-2)&63)&1))&127])
}

// columns are those of value contexts by surprise, see surprise.class.
var columns = func() (t [64]uint8) {
	for s := surprise(-32); s < 32; s++ {
		t[s&63] = uint8(s.class())
	}
	t[unsurprised&63] = uint8(unsurprised.class())
	return t
}()

// grown is the greater of two, without a branch.
func (s surprise) grown(to surprise) surprise {
	d := s - to
	return s - d&(d>>63)
}

// runWord is what a run needs to know of a word: a difference x is (x + half) & mask −
// half.
type runWord struct {
	half, mask  int32
	least, most int32
	flag        bool // it is 0 or 1
	ranged      bool // predictions are kept from least to most
}

// foreseen is what is expected of a word.
type foreseen struct {
	value int32
	row   uint16
	class uint8 // of the error
	back  uint8 // 1: the motion is downwards
}

// foresee guesses the words of a run. This is apart from coding, so that a branch
// there that was not foretold costs no arithmetic here.
func (s *scales) foresee(ks []runWord, w0, w1, w2 []int32, to []foreseen) {
	w0, w1, w2, to = w0[:len(ks)], w1[:len(ks)], w2[:len(ks)], to[:len(ks)]
	motion := &s.motion[sortScalar]
	speed, newest, older := s.speed, s.newer, s.older
	for i := range ks {
		k := &ks[i]
		v0, v1 := w0[i], w1[i]
		half, mask := k.half, k.mask
		n := int64((v0-v1+half)&mask - half)
		o := int64((v1-w2[i]+half)&mask - half)
		if n|o == 0 || k.flag {
			to[i] = foreseen{value: v0, row: rowHold}
			if k.flag {
				to[i].row = uint16(bitRow(v0, v1))
			}
			continue
		}
		hold, going := abs(n*speed), abs(n*newest-o*older)
		h := halfOctaves(uint64(hold>>6+going>>1) >> 15)
		row := h + rowHold&^int((going-hold)>>63)
		m := &motion[row&63]
		move := n*m[0] - o*m[1]
		x := int64(v0) + (move+1<<15)>>16
		if k.ranged {
			x = min(max(x, int64(k.least)), int64(k.most))
		}
		to[i] = foreseen{(int32(x)+half)&mask - half, uint16(row), uint8(h), uint8(uint64(move) >> 63)}
	}
}

const (
	runBits = 48 // that a word of a run takes at most
	runMost = 64 // words
)

// run writes words that stand alone, from one on, against three baselines.
func (c *coder) run(ks []runWord, b *baselines, words []int32, past surprise) surprise {
	c.scale.foresee(ks, b.words[0], b.words[1], b.words[2], c.foreseen[:])
	t, f := c.tab, &c.f
	low, width := f.low, f.width
	words, seen := words[:len(ks)], c.foreseen[:len(ks)]
	acc, n, from := c.w.acc, c.w.n, len(c.w.buf)
	if more := 16 + runBits/8*len(ks); cap(c.w.buf)-from < more {
		c.w.buf = slices.Grow(c.w.buf, more)
	}
	out := c.w.buf[:cap(c.w.buf)]
	for i := range ks {
		g := &seen[i]
		d := (words[i]-g.value+ks[i].half)&ks[i].mask - ks[i].half
		x := t.values[uint(g.row)<<3+uint(columns[past&63])]
		bound := width >> probBits * uint32(x.zero)
		class := -int(g.class)
		switch {
		case d == 0:
			low, width = low+bound, width-bound
			if class == 0 {
				class = -8
			}
		case g.row >= rowBit:
			width = bound
		default:
			width = bound
			sign := uint32(d >> 31)
			m := uint32(d) ^ sign - sign
			q := smallMagnitudes[m&255]
			code := uint64(t.codes[x.book][(uint32(q.sym)+(sign^uint32(g.back))&1)&63])
			if m > 255 || code == 0 {
				c.w.buf, c.w.acc, c.w.n = out[:from], acc, n
				c.magnitude(int(x.book), m, sign != 0, g.back != 0)
				from, acc, n = len(c.w.buf), c.w.acc, c.w.n
				class += magnitudeClass(d)
				break
			}
			binary.LittleEndian.PutUint64(out[from:], acc)
			from += int(n >> 3)
			acc, n = acc>>(n&56), n&7
			more := uint(code & 15)
			acc |= (code>>4 | uint64(m)&(1<<(q.extra&15)-1)<<more) << n
			n += more + uint(q.extra)
			class += int(q.class)
		}
		if width < groupLeast {
			f.groups = append(f.groups, group{low, width})
			low, width = 0, groupOne
		}
		if g.row < rowBit {
			past = past.grown(surprise(class))
		}
	}
	f.low, f.width = low, width
	c.w.buf, c.w.acc, c.w.n = out[:from], acc, n
	return past
}

// run reads words that stand alone, against three baselines. It returns false if a
// value may not occur.
func (d *decoder) run(ks []runWord, b *baselines, to []int32, past surprise) (surprise, bool) {
	d.scale.foresee(ks, b.words[0], b.words[1], b.words[2], d.foreseen[:])
	t, rc := d.tab, &d.rc
	at, left := rc.at, rc.left
	to, seen := to[:len(ks)], d.foreseen[:len(ks)]
	wrong := false
	for i := range ks {
		g := &seen[i]
		x := t.values[uint(g.row)<<3+uint(columns[past&63])]
		bound := left >> probBits * uint32(x.zero)
		same := at >= bound
		if same {
			at, left = at-bound, left-bound
		} else {
			left = bound
		}
		if left < groupLeast {
			rc.at, rc.left = at, left
			rc.next()
			at, left = rc.at, rc.left
		}
		v, class := g.value, -int(g.class)
		switch {
		case g.row >= rowBit:
			if !same {
				v = 1 - v
			}
			to[i] = v
			continue
		case !same:
			diff, h := d.difference(int(x.book), -int32(g.back))
			k := &ks[i]
			v = (v+diff+k.half)&k.mask - k.half
			wrong = wrong || v < k.least || v > k.most
			class += h
		case class == 0:
			class = -8
		}
		to[i] = v
		past = past.grown(surprise(class))
	}
	rc.at, rc.left = at, left
	return past, !wrong
}

// difference reads a difference that is not 0, and its class. back is all bits if the
// motion is downwards, else none.
func (d *decoder) difference(book int, back int32) (v int32, class int) {
	x := load(d.b, d.pos)
	e := d.tab.short[book][x&(1<<shortCode-1)]
	n := uint(e & 15)
	if n == 0 {
		v = d.magnitude(book, back != 0)
		return v, magnitudeClass(v)
	}
	more := uint(e >> 4 & 15)
	m := e>>16 + uint32(x>>n)&(1<<more-1)
	d.pos += int(n + more)
	sign := -int32(e>>8&1) ^ back
	v = int32(m)
	if m < 256 {
		class = int(smallMagnitudes[m].class)
	} else {
		class = magnitudeClass(v)
	}
	return (v ^ sign) - sign, class
}
