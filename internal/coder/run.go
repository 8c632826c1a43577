package coder

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// A run is a row of neighbouring scalar words, coded against three baselines. Most words
// are in runs. Runs are fast because no word depends on the one before, and the words at
// rest are coded together.

const (
	runBits = 48 // most bits that a word of a run takes
	RunMost = 64 // most words of a run
)

// smallMagnitude is the coding of a magnitude below 256: its code's place (see
// Tables.shorten) and the number of bits after it.
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

// classes has the classes of numbers by their counted bits: see halfOctaves.
var classes = func() (t [128]uint8) {
	for i := range t {
		t[i] = uint8(min(max(i-3, 1), historyClasses-1))
	}
	return t
}()

// halfOctaves is historyClass without a branch, for e/2¹⁵ < 2⁴⁹. It returns at least 1.
func halfOctaves(e uint64) int {
	e <<= 1
	n := bits.Len64(e)
	return int(classes[(2*n+int(e>>(uint(n-2)&63)&1))&127])
}

// RunWord holds a word's properties for a run. A difference x is (x + half) & mask −
// half.
type RunWord struct {
	half, mask  int32
	least, most int32
	flag        bool // flag is true if the word is 0 or 1.
}

// moving is the prediction of a word that moves.
type moving struct {
	newer, older int32 // newer and older are the word's differences between the baselines.
	value        int32
	ctx          uint16 // ctx is the context of the difference, less the column.
	word         uint8
	back         uint8 // back is 1 if the motion is downwards.
}

// predictRun predicts the words of a run. It lists the words that move, and returns their number, the set of
// the words at rest, and the set of those that are 0 or 1.
func (s *Scales) predictRun(ks []RunWord, w0, w1, w2 []int32, to *[RunMost]moving) (n int, rest, flags uint64) {
	n, rest, flags = differences(ks, w0, w1, w2, to)
	s.expect(to[:n])
	for i := range to[:n] {
		g := &to[i]
		k := &ks[g.word]
		g.value = (g.value+w0[g.word]+k.half)&k.mask - k.half
	}
	return n, rest, flags
}

// differences lists the words that move. It returns the same as predictRun.
func differences(ks []RunWord, w0, w1, w2 []int32, to *[RunMost]moving) (n int, rest, flags uint64) {
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
			g := &to[n&(RunMost-1)]
			g.newer, g.older, g.word = u, w, uint8(i)
			n++
		}
	}
	return n, rest, flags
}

// expect predicts the movement of words, and its expected error.
func (s *Scales) expect(to []moving) {
	for i := range to {
		g := &to[i]
		u, w := int64(g.newer), int64(g.older)
		hold, going := abs(u*s.speed), abs(u*s.newer-w*s.older)
		row := halfOctaves(uint64(hold>>6+going>>1)>>15) + rowHold&^int((going-hold)>>63)
		m := &s.motion[SortScalar][row&63]
		move := u*m[0] - w*m[1]
		g.value, g.ctx, g.back = int32((move+1<<15)>>16), uint16(row*surprises), uint8(uint64(move)>>63)
	}
}

// stillContext returns the context of the flag that says whether any of n words at rest
// changed. alone means that nothing else in the run can have changed.
func stillContext(n int, alone bool) int {
	ctx := ctxStill + min(bits.Len(uint(n))-1, 3)
	if alone {
		ctx += 4
	}
	return ctx
}

// Run writes the words of a run.
func (c *Encoder) Run(ks []RunWord, w0, w1, w2, words []int32, past Surprise) {
	n, rest, flags := c.Scales.predictRun(ks, w0, w1, w2, &c.moving)
	t, column := c.Tables, past.class()
	values, codes := t.values[column:], t.codes
	words = words[:len(ks)]
	from, acc, k := len(c.Bits.Buf), c.Bits.acc, c.Bits.n
	if more := 16 + runBits/8*len(ks); cap(c.Bits.Buf)-from < more {
		c.Bits.Buf = slices.Grow(c.Bits.Buf, more)
	}
	out := c.Bits.Buf[:cap(c.Bits.Buf)]
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
			if c.Flags.flag(uint32(x.zero), zero); d == 0 {
				continue
			}
		}
		sign := uint32(d >> 31)
		m := uint32(d) ^ sign - sign
		s := smallMagnitudes[m&255]
		code := uint64(codes[x.book][(uint32(s.place)+(sign^uint32(g.back))&1)&63])
		if m > 255 || code == 0 {
			c.Bits.Buf, c.Bits.acc, c.Bits.n = out[:from], acc, k
			c.magnitude(int(x.book), m, sign != 0, g.back != 0)
			from, acc, k = len(c.Bits.Buf), c.Bits.acc, c.Bits.n
			continue
		}
		binary.LittleEndian.PutUint64(out[from:], acc)
		from += int(k >> 3)
		acc, k = acc>>(k&56), k&7
		more := uint(code & 15)
		acc |= (code>>4 | uint64(m)&(1<<(s.extra&15)-1)<<more) << k
		k += more + uint(s.extra)
	}
	c.Bits.Buf, c.Bits.acc, c.Bits.n = out[:from], acc, k
	for ; flags != 0; flags &= flags - 1 {
		i := bits.TrailingZeros64(flags)
		c.Flag(ctxZero+bitRow(w0[i], w1[i])*surprises+column, words[i] == w0[i])
	}
	if rest != 0 {
		c.rest(ks, rest, n == 0, w0, words, column)
	}
}

// rest writes the words of a run that were at rest.
func (c *Encoder) rest(ks []RunWord, rest uint64, alone bool, w0, words []int32, column int) {
	differ := int32(0)
	for m := rest; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		differ |= words[i] ^ w0[i]
	}
	n := bits.OnesCount64(rest)
	if c.Flag(stillContext(n, alone), differ != 0); differ == 0 {
		return
	}
	ctx := rowHold*surprises + column
	for m := rest; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		q := &ks[i]
		d := (words[i]-w0[i]+q.half)&q.mask - q.half
		if n > 1 {
			c.codeValue(ctx, false, d)
		} else {
			c.nonzero(ctx, false, d)
		}
	}
}

// RunByWord writes what [Encoder.Run] writes, word by word, and counts it in the tally.
// It calls coded after each word.
func (c *Encoder) RunByWord(codes []Code, b *Baselines, words []int32, past Surprise, coded func(*Code)) {
	var all [RunMost]*Code
	rest, moved := all[:0], false
	for i := range codes {
		switch k := &codes[i]; {
		case k.Bit():
		case b.Words[0][k.Word] == b.Words[1][k.Word] && b.Words[1][k.Word] == b.Words[2][k.Word]:
			rest = append(rest, k)
		default:
			moved = true
			c.Scalar(k, b, words, past)
			coded(k)
		}
	}
	for i := range codes {
		if k := &codes[i]; k.Bit() {
			c.Scalar(k, b, words, past)
			coded(k)
		}
	}
	if len(rest) == 0 {
		return
	}
	changed := slices.ContainsFunc(rest, func(k *Code) bool { return words[k.Word] != b.Words[0][k.Word] })
	c.Flag(stillContext(len(rest), !moved), changed)
	coded(rest[0])
	for _, k := range rest {
		switch {
		case !changed:
		case len(rest) > 1:
			c.Scalar(k, b, words, past)
		default:
			c.nonzero(valueContext(SortScalar, rowHold, past), false, k.Residual(b.Words[0][k.Word], words[k.Word]))
		}
		coded(k)
	}
}

// Run reads the words of a run into to, which holds those of the newest baseline. It
// returns false if a value is not allowed.
func (d *Decoder) Run(ks []RunWord, w0, w1, w2, to []int32, past Surprise) bool {
	n, rest, flags := d.Scales.predictRun(ks, w0, w1, w2, &d.moving)
	column := past.class()
	values := d.Tables.values[column:]
	to = to[:len(ks)]
	wrong := false
	for i := range d.moving[:n] {
		g := &d.moving[i]
		x := values[g.ctx]
		v := g.value
		if x.zero == 0 || d.Flags.decode(uint32(x.zero)) == 0 {
			q := &ks[g.word]
			v = (v+d.difference(int(x.book), -int32(g.back))+q.half)&q.mask - q.half
			wrong = wrong || v < q.least || v > q.most
		}
		to[g.word] = v
	}
	for ; flags != 0; flags &= flags - 1 {
		i := bits.TrailingZeros64(flags)
		if !d.Flag(ctxZero + bitRow(w0[i], w1[i])*surprises + column) {
			to[i] = 1 - w0[i]
		}
	}
	if r := bits.OnesCount64(rest); r > 0 && d.Flag(stillContext(r, n == 0)) {
		ctx := rowHold*surprises + column
		for ; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros64(rest)
			if r > 1 && d.Flag(ctxZero+ctx) {
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
func (d *Decoder) difference(book int, back int32) int32 {
	x := load(d.b, d.pos)
	e := d.Tables.short[book][x&(1<<shortCode-1)]
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

// RunByWord reads what [Decoder.Run] reads, word by word. It calls read after each word, in
// the order of [Encoder.RunByWord].
func (d *Decoder) RunByWord(codes []Code, b *Baselines, to []int32, past Surprise, read func(*Code)) (ok bool) {
	var all [RunMost]*Code
	rest, moved := all[:0], false
	for i := range codes {
		switch k := &codes[i]; {
		case k.Bit():
		case b.Words[0][k.Word] == b.Words[1][k.Word] && b.Words[1][k.Word] == b.Words[2][k.Word]:
			rest = append(rest, k)
		default:
			moved = true
			if _, ok := d.Scalar(k, b, to, past); !ok {
				return false
			}
			read(k)
		}
	}
	for i := range codes {
		if k := &codes[i]; k.Bit() {
			if _, ok := d.Scalar(k, b, to, past); !ok {
				return false
			}
			read(k)
		}
	}
	if len(rest) == 0 {
		return true
	}
	changed := d.Flag(stillContext(len(rest), !moved))
	read(rest[0])
	for _, k := range rest {
		ok = true
		switch {
		case !changed:
		case len(rest) > 1:
			_, ok = d.Scalar(k, b, to, past)
		default:
			v := d.magnitude(int(d.Tables.values[valueContext(SortScalar, rowHold, past)].book), false)
			to[k.Word], ok = k.addResidual(b.Words[0][k.Word], v)
		}
		if !ok {
			return false
		}
		read(k)
	}
	return true
}
