package coder

import "math/bits"

// Contexts choose the probability of a flag. The first are for the structure of a
// snapshot, then come those for fields, then those for values.
const (
	CtxMore       = iota                     // another record follows
	CtxNext                                  // the record's wire id is the next after the one before
	CtxPlain                                 // the record has the three usual baselines and their components
	CtxFull                                  // the record is against the defaults of its prefab
	CtxUsual                                 // the record's baseline is the usual one
	CtxHistory                               // the two older usual baselines are used too
	CtxShape                                 // components differ from the baseline's, or the entity teleported
	CtxMine                                  // the viewer owns the entity
	CtxOwned                                 // the entity has an owner
	CtxRef                                   // a reference changed
	CtxComplete                              // nothing is postponed
	CtxSteady                                // the older baselines are at their usual distances
	CtxOwn                                   // nothing of the viewer's own is postponed
	CtxExpecting                             // the records of the usual baseline's snapshot are expected again
	CtxComponent                             // a component changed: 5 contexts, see plan.Context
	CtxExpected   = CtxComponent + 5         // an expected record is there: 2×4, see expectation
	ctxUnit       = CtxExpected + 8          // a vector or rotation changed: 2×4×3
	ctxRank       = ctxUnit + 24             // the greatest component is not the expected one: 12×13
	ctxRanks      = ctxRank + 12*rankClasses // it is not the second expected one either: 2×12
	ctxStill      = ctxRanks + 24            // some of a run's words at rest changed: 2×4, see stillContext
	ctxZero       = ctxStill + 8             // a difference is 0
	contexts      = ctxZero + valueContexts  // number of contexts
	rankClasses   = 13                       // classes of the expected error, and one for no history
	valueContexts = sorts * rows * surprises // contexts of values
)

// Sorts of values. Each sort has its own contexts.
const (
	SortScalar = iota
	SortVector
	SortRotation
	sorts
	SortRef // SortRef and the sorts after it are not coded as values
	SortText
	SortLength // length of a slice; its elements follow
)

// Rows of value contexts. A value's row depends on its expected difference, as far as it is known before
// anything of the record is.
const (
	historyClasses = 24                 // classes of the expected error, in half octaves
	rowHold        = historyClasses     // first row for words that constant speed predicts worse
	motionRows     = 2 * historyClasses // rows with three baselines
	rowDefault     = motionRows         // first of 8 rows by the size of the range, against the defaults
	rowHeld        = motionRows + 8     // first of 8 rows by the size of the range, with one baseline
	rowBit         = motionRows + 16    // first of 8 rows for values that are 0 or 1
	rows           = motionRows + 24
	surprises      = 8
)

// Encoder writes records, or the structure around records.
type Encoder struct {
	Tables *Tables
	Scales *Scales
	Tally  *Tally
	Flags  Grouper
	Bits   BitWriter
	Syms   []uint16 // Syms has the contexts and bits of the flags, for the statistics.

	moving [RunMost]moving // moving is scratch.
}

// Flag codes a flag in a context.
func (c *Encoder) Flag(ctx int, bit bool) {
	b := uint32(0)
	if bit {
		b = 1
	}
	if c.Tally != nil {
		c.Syms = append(c.Syms, uint16(ctx)<<1|uint16(b))
	}
	c.Flags.flag(uint32(c.Tables.probs[ctx]), b)
}

// Decoder reads the output of an [Encoder].
type Decoder struct {
	Tables *Tables
	Scales *Scales
	Flags  rangeDecoder
	BitReader

	moving [RunMost]moving // moving is scratch.
}

// Flag is the inverse of [Encoder.Flag].
func (d *Decoder) Flag(ctx int) bool { return d.Flags.decode(uint32(d.Tables.probs[ctx])) != 0 }

// Surprise compares a component's words before this one with their expected
// differences. It is the greatest excess, in half octaves.
type Surprise int

const Unsurprised Surprise = -100 // no word came before

// class returns the column of value contexts.
func (s Surprise) class() int {
	if s == Unsurprised {
		return 0
	}
	return min(max(int(s>>1)+4, 1), surprises-1)
}

// then returns the surprise after a word with difference d and an expected error of
// class h.
func (s Surprise) then(h int, d int32) Surprise {
	v := Surprise(-8)
	if h != 0 || d != 0 {
		v = Surprise(magnitudeClass(d) - h)
	}
	return max(s, v)
}

// historyClass returns the number of half octaves of an expected error in 1/65536.
func historyClass(e int64) int {
	e >>= 15
	if e == 0 {
		return 0
	}
	n := bits.Len64(uint64(e))
	c := 2*n - 1
	if n > 1 {
		c += int(e>>(uint(n)-2)) & 1
	}
	return min(c, historyClasses-1)
}

func magnitudeClass(d int32) int { return historyClass(abs(int64(d)) << 16) }

// A difference is a symbol and the bits after it. Symbols are twice a magnitude's,
// plus one if the difference points against the predicted motion.
const (
	directSymbols = 7                               // magnitudes 1 to 7
	maxOctave     = 12                              // bits of the greatest magnitude with a symbol
	magnitudes    = directSymbols + 2*(maxOctave-3) // two each octave
	symEscape     = 2 * magnitudes
	symZero       = symEscape + 1 // in contexts without a flag
	symbols       = symZero + 1
)

// magnitude splits a magnitude into its symbol and the number of bits after it.
func magnitude(m uint32) (sym, extra int) {
	if m <= directSymbols {
		return int(m) - 1, 0
	}
	n := bits.Len32(m)
	return directSymbols + 2*(n-4) + int(m>>uint(n-2))&1, n - 2
}

// codeValue codes a difference d in a context. back means that the predicted motion is
// downwards.
func (c *Encoder) codeValue(ctx int, back bool, d int32) {
	x := c.Tables.values[ctx]
	if x.zero != 0 {
		c.Flag(ctxZero+ctx, d == 0)
	}
	switch {
	case d != 0:
		c.nonzero(ctx, back, d)
	case x.zero == 0:
		code := c.Tables.codes[x.book][0]
		c.Bits.putBits(uint64(code>>4), uint(code&15))
		if c.Tally != nil {
			c.Tally.symbols[ctx][symZero]++
		}
	}
}

// nonzero codes a difference that is known not to be 0.
func (c *Encoder) nonzero(ctx int, back bool, d int32) {
	sign := d < 0
	m := uint32(d)
	if sign {
		m = -m
	}
	c.magnitude(int(c.Tables.values[ctx].book), m, sign, back)
	if c.Tally != nil {
		sym, _ := split(m, sign != back)
		c.Tally.symbols[ctx][sym]++
	}
}

// split returns the symbol of a magnitude and the number of bits after it. against
// means that it points against the predicted motion.
func split(m uint32, against bool) (sym, extra int) {
	if m >= 1<<maxOctave {
		return symEscape, 0
	}
	sym, extra = magnitude(m)
	sym *= 2
	if against {
		sym++
	}
	return sym, extra
}

// magnitude codes a difference that is not 0 with the code of a book.
func (c *Encoder) magnitude(book int, m uint32, sign, back bool) {
	codes := &c.Tables.books[book].codes
	sym, extra := split(m, sign != back)
	code := codes[sym]
	if code == 0 {
		code, sym = codes[symEscape], symEscape
	}
	n := uint(code & 15)
	if sym != symEscape {
		c.Bits.putBits(uint64(code>>4)|uint64(m&(1<<uint(extra)-1))<<n, n+uint(extra))
		return
	}
	k := uint(bits.Len32(m))
	less := uint64(0)
	if sign {
		less = 1
	}
	c.Bits.putBits(uint64(code>>4)|less<<n|uint64(k-1)<<(n+1), n+6)
	c.Bits.putBits(uint64(m&(1<<(k-1)-1)), k-1)
}

// decodeValue is the inverse of [Encoder.codeValue].
func (d *Decoder) decodeValue(ctx int, back bool) int32 {
	x := d.Tables.values[ctx]
	if x.zero != 0 && d.Flag(ctxZero+ctx) {
		return 0
	}
	return d.magnitude(int(x.book), back)
}

// magnitude is the inverse of [Encoder.magnitude].
func (d *Decoder) magnitude(book int, back bool) int32 {
	sym := d.symbol(&d.Tables.books[book])
	if sym == symZero {
		return 0
	}
	if sym == symEscape {
		v := d.Read(6)
		k := int(v>>1) + 1
		m := uint32(1)<<uint(k-1) | uint32(d.Read(k-1))
		if v&1 != 0 {
			m = -m
		}
		return int32(m)
	}
	m, extra := unsplit(sym)
	m += uint32(d.Read(extra))
	if (sym&1 != 0) != back {
		m = -m
	}
	return int32(m)
}

// unsplit returns the least magnitude of a symbol and the number of bits after it.
func unsplit(sym int) (m uint32, extra int) {
	m = uint32(sym/2) + 1
	if m > directSymbols {
		at := int(m) - 1 - directSymbols
		extra = at/2 + 2
		m = uint32(2+at&1) << uint(extra)
	}
	return m, extra
}

// symbol reads a Huffman code.
func (d *Decoder) symbol(b *book) int {
	e := b.decode[load(d.b, d.pos)&(1<<maxCode-1)]
	n := int(e & 15)
	if d.pos+n > len(d.b)*8 || n == 0 {
		d.Bad = true
		d.pos = len(d.b) * 8
		return 0
	}
	d.pos += n
	return int(e >> 4)
}
