package snapshot

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Runs are scalar words side by side, coded against three baselines, which is most of
// what there is. Nothing in a run depends on the word before, and what was at rest is
// told for all at once: that makes them fast.

const (
	runBits = 48 // that a word of a run takes at most
	runMost = 64 // words
)

// smallMagnitude is what a magnitude below 256 is coded as: its code's place, see
// tables.shorten, and the number of bits behind it.
type smallMagnitude struct{ place, extra uint8 }

var smallMagnitudes = func() (t [256]smallMagnitude) {
	for m := range t {
		if m > 0 {
			sym, extra := magnitude(uint32(m))
			t[m] = smallMagnitude{uint8(2*sym + 2), uint8(extra)}
		}
	}
	return t
}()

// classes are those of numbers whose bits were counted, see halfOctaves.
var classes = func() (t [128]uint8) {
	for i := range t {
		t[i] = uint8(min(max(i-3, 1), historyClasses-1))
	}
	return t
}()

// halfOctaves is historyClass without a branch, of e/2¹⁵ < 2⁴⁹, and at least 1.
func halfOctaves(e uint64) int {
	e <<= 1
	n := bits.Len64(e)
	return int(classes[(2*n+int(e>>(uint(n-2)&63)&1))&127])
}

// runWord is what a run needs to know of a word: a difference x is (x + half) & mask −
// half.
type runWord struct {
	half, mask  int32
	least, most int32
	flag        bool // it is 0 or 1
}

// moving is what is expected of a word that moves.
type moving struct {
	newer, older int32 // its differences between the baselines
	value        int32
	ctx          uint16 // of its difference, less the column
	word         uint8
	back         uint8 // 1: the motion is downwards
}

// foresee guesses the words of a run. It lists those that move, and returns how many
// these are, and which are at rest and which are 0 or 1.
func (s *scales) predictRemote(ks []runWord, w0, w1, w2 []int32, to *[runMost]moving) (n int, rest, flags uint64) {
	n, rest, flags = differences(ks, w0, w1, w2, to)
	s.expect(to[:n])
	for i := range to[:n] {
		g := &to[i]
		k := &ks[g.word]
		g.value = (g.value+w0[g.word]+k.half)&k.mask - k.half
	}
	return n, rest, flags
}

// differences lists the words that move.
func differences(ks []runWord, w0, w1, w2 []int32, to *[runMost]moving) (n int, rest, flags uint64) {
	w0, w1, w2 = w0[:len(ks)], w1[:len(ks)], w2[:len(ks)]
	for i := range ks {
		k := &ks[i]
		v := w1[i]
		half, mask := k.half, k.mask
		u := (w0[i]-v+half)&mask - half
		w := (v-w2[i]+half)&mask - half
		switch {
		case k.flag:
			flags |= 1 << (i & 63)
		case u|w == 0:
			rest |= 1 << (i & 63)
		default:
			g := &to[n&(runMost-1)]
			g.newer, g.older, g.word = u, w, uint8(i)
			n++
		}
	}
	return n, rest, flags
}

// expect says how far words are expected to move, and how surely.
func (s *scales) expect(to []moving) {
	for i := range to {
		g := &to[i]
		u, w := int64(g.newer), int64(g.older)
		hold, going := abs(u*s.speed), abs(u*s.newer-w*s.older)
		row := halfOctaves(uint64(hold>>6+going>>1)>>15) + rowHold&^int((going-hold)>>63)
		m := &s.motion[sortScalar][row&63]
		move := u*m[0] - w*m[1]
		g.value, g.ctx, g.back = int32((move+1<<15)>>16), uint16(row*surprises), uint8(uint64(move)>>63)
	}
}

// stillContext is the context of the flag whether of so many words at rest any
// changed; alone: nothing else in the run can have.
func stillContext(n int, alone bool) int {
	ctx := ctxStill + min(bits.Len(uint(n))-1, 3)
	if alone {
		ctx += 4
	}
	return ctx
}

// run writes the words of a run.
func (c *coder) run(ks []runWord, w0, w1, w2, words []int32, past surprise) {
	n, rest, flags := c.scale.predictRemote(ks, w0, w1, w2, &c.moving)
	t, column := c.tab, past.class()
	values, codes := t.values[column:], t.codes
	words = words[:len(ks)]
	from, acc, k := len(c.w.buf), c.w.acc, c.w.n
	if more := 16 + runBits/8*len(ks); cap(c.w.buf)-from < more {
		c.w.buf = slices.Grow(c.w.buf, more)
	}
	out := c.w.buf[:cap(c.w.buf)]
	for i := range c.moving[:n] {
		g := &c.moving[i]
		q := &ks[g.word]
		d := (words[g.word]-g.value+q.half)&q.mask - q.half
		x := values[g.ctx]
		if x.zero != 0 {
			zero := uint32(0)
			if d == 0 {
				zero = 1
			}
			if c.f.flag(uint32(x.zero), zero); d == 0 {
				continue
			}
		}
		sign := uint32(d >> 31)
		m := uint32(d) ^ sign - sign
		s := smallMagnitudes[m&255]
		code := uint64(codes[x.book][(uint32(s.place)+(sign^uint32(g.back))&1)&63])
		if m > 255 || code == 0 {
			c.w.buf, c.w.acc, c.w.n = out[:from], acc, k
			c.magnitude(int(x.book), m, sign != 0, g.back != 0)
			from, acc, k = len(c.w.buf), c.w.acc, c.w.n
			continue
		}
		binary.LittleEndian.PutUint64(out[from:], acc)
		from += int(k >> 3)
		acc, k = acc>>(k&56), k&7
		more := uint(code & 15)
		acc |= (code>>4 | uint64(m)&(1<<(s.extra&15)-1)<<more) << k
		k += more + uint(s.extra)
	}
	c.w.buf, c.w.acc, c.w.n = out[:from], acc, k
	for ; flags != 0; flags &= flags - 1 {
		i := bits.TrailingZeros64(flags)
		c.flag(ctxZero+bitRow(w0[i], w1[i])*surprises+column, words[i] == w0[i])
	}
	if rest != 0 {
		c.rest(ks, rest, n == 0, w0, words, column)
	}
}

// rest writes what became of the words of a run that were at rest.
func (c *coder) rest(ks []runWord, rest uint64, alone bool, w0, words []int32, column int) {
	differ := int32(0)
	for m := rest; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		differ |= words[i] ^ w0[i]
	}
	n := bits.OnesCount64(rest)
	if c.flag(stillContext(n, alone), differ != 0); differ == 0 {
		return
	}
	ctx := rowHold*surprises + column
	for m := rest; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		q := &ks[i]
		d := (words[i]-w0[i]+q.half)&q.mask - q.half
		if n > 1 {
			c.value(ctx, false, d)
		} else {
			c.nonzero(ctx, false, d)
		}
	}
}

// run reads the words of a run into to, which holds those of the newest baseline. It
// returns false if a value may not occur.
func (d *decoder) run(ks []runWord, w0, w1, w2, to []int32, past surprise) bool {
	n, rest, flags := d.scale.predictRemote(ks, w0, w1, w2, &d.moving)
	column := past.class()
	values := d.tab.values[column:]
	to = to[:len(ks)]
	wrong := false
	for i := range d.moving[:n] {
		g := &d.moving[i]
		x := values[g.ctx]
		v := g.value
		if x.zero == 0 || d.rc.decode(uint32(x.zero)) == 0 {
			q := &ks[g.word]
			v = (v+d.difference(int(x.book), -int32(g.back))+q.half)&q.mask - q.half
			wrong = wrong || v < q.least || v > q.most
		}
		to[g.word] = v
	}
	for ; flags != 0; flags &= flags - 1 {
		i := bits.TrailingZeros64(flags)
		if !d.flag(ctxZero + bitRow(w0[i], w1[i])*surprises + column) {
			to[i] = 1 - w0[i]
		}
	}
	if r := bits.OnesCount64(rest); r > 0 && d.flag(stillContext(r, n == 0)) {
		ctx := rowHold*surprises + column
		for ; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros64(rest)
			if r > 1 && d.flag(ctxZero+ctx) {
				continue
			}
			q := &ks[i]
			v := (w0[i]+d.difference(int(values[rowHold*surprises].book), 0)+q.half)&q.mask - q.half
			wrong = wrong || v < q.least || v > q.most
			to[i] = v
		}
	}
	return !wrong
}

// difference reads a difference. back is all bits if the motion is downwards, else
// none.
func (d *decoder) difference(book int, back int32) int32 {
	x := load(d.b, d.pos)
	e := d.tab.short[book][x&(1<<shortCode-1)]
	n := uint(e & 15)
	if n == 0 {
		return d.magnitude(book, back != 0)
	}
	more := uint(e >> 4 & 15)
	m := e>>16 + uint32(x>>n)&(1<<more-1)
	d.pos += int(n + more)
	sign := -int32(e>>8&1) ^ back
	return (int32(m) ^ sign) - sign
}
