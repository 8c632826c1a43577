package snapshot

import "math/bits"

// Contexts: which probability a flag is coded with. The first are those of the
// structure of a snapshot; then come those of fields, and those of values.
const (
	ctxMore       = iota                     // another record follows
	ctxNext                                  // its wire id is the next after the one before
	ctxPlain                                 // it is against the three usual baselines, with their components
	ctxFull                                  // it is against the defaults of its prefab
	ctxUsual                                 // its baseline is the usual one
	ctxHistory                               // the two older usual baselines are used too
	ctxShape                                 // the set of components differs from the baseline's, or it teleported
	ctxMine                                  // the viewer owns it
	ctxOwned                                 // somebody owns it
	ctxRef                                   // a reference changed
	ctxComplete                              // nothing is postponed
	ctxSteady                                // the older baselines lie as they usually do
	ctxOwn                                   // nothing of the viewer's own is
	ctxExpecting                             // what the usual baseline's snapshot held is expected again
	ctxComponent                             // a component changed: 5 contexts, see componentContext
	ctxExpected   = ctxComponent + 5         // what was expected is there: 2×4, see expectation
	ctxUnit       = ctxExpected + 8          // a vector or rotation changed: 2×4×3
	ctxRank       = ctxUnit + 24             // the greatest component is not the expected: 12×13
	ctxRanks      = ctxRank + 12*rankClasses // nor the one after it: 2×12
	ctxStill      = ctxRanks + 24            // of a run's words at rest some changed: 2×4, see stillContext
	ctxZero       = ctxStill + 8             // a difference is 0
	contexts      = ctxZero + valueContexts  // all of them
	rankClasses   = 13                       // by expected error, and one for no history
	valueContexts = sorts * rows * surprises // of values
)

// Sorts of values, each with contexts of its own.
const (
	sortScalar = iota
	sortVector
	sortRotation
	sorts
	sortRef // these are not coded as values
	sortText
	sortLength // of a slice, and its elements behind it
)

// Rows of value contexts: what is expected of the difference before anything of the
// record is known.
const (
	historyClasses = 24                 // by the expected error, in half octaves
	rowHold        = historyClasses     // the same, where to go on was the worse guess
	motionRows     = 2 * historyClasses // with three baselines
	rowDefault     = motionRows         // 8 by the size of the range, against the prefab's defaults
	rowHeld        = motionRows + 8     // the same with one baseline
	rowBit         = motionRows + 16    // 8 for values that are 0 or 1
	rows           = motionRows + 24
	surprises      = 8
)

// coder writes records, or the structure around records.
type coder struct {
	tab   *tables
	scale *scales
	stat  *Statistics
	f     grouper
	prof  *Profile
	w     BitWriter
	syms  []uint16 // for the statistics: contexts and bits of the flags

	moving [runMost]moving // scratch
}

// counts tells whether something is counted while it codes.
func (c *coder) counts() bool { return c.stat != nil || c.prof != nil }

func (c *coder) flag(ctx int, bit bool) {
	b := uint32(0)
	if bit {
		b = 1
	}
	if c.stat != nil {
		c.syms = append(c.syms, uint16(ctx)<<1|uint16(b))
	}
	c.f.flag(uint32(c.tab.probs[ctx]), b)
}

// decoder reads what coder wrote.
type decoder struct {
	tab   *tables
	scale *scales
	rc    rangeDecoder
	BitReader

	moving [runMost]moving // scratch
}

func (d *decoder) flag(ctx int) bool { return d.rc.decode(uint32(d.tab.probs[ctx])) != 0 }

// surprise is how much greater than expected, in half octaves, the differences of a
// component's words before this one were at most.
type surprise int

const unsurprised surprise = -100 // there is none before

// class is the column of value contexts.
func (s surprise) class() int {
	if s == unsurprised {
		return 0
	}
	return min(max(int(s>>1)+4, 1), surprises-1)
}

// then is the surprise behind a word of which an error of class h was expected.
func (s surprise) then(h int, d int32) surprise {
	v := surprise(-8)
	if h != 0 || d != 0 {
		v = surprise(magnitudeClass(d) - h)
	}
	return max(s, v)
}

// historyClass is the number of half octaves of an expected error, given in 1/65536.
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

// A difference is a symbol and the bits behind it. Symbols are twice a magnitude's,
// plus one if the difference points against the predicted motion.
const (
	directSymbols = 7                               // magnitudes 1 to 7
	maxOctave     = 12                              // bits of the greatest magnitude with a symbol
	magnitudes    = directSymbols + 2*(maxOctave-3) // two each octave
	symEscape     = 2 * magnitudes
	symZero       = symEscape + 1 // in contexts without a flag
	symbols       = symZero + 1
)

// magnitude splits a magnitude into its symbol and the number of bits behind it.
func magnitude(m uint32) (sym, extra int) {
	if m <= directSymbols {
		return int(m) - 1, 0
	}
	n := bits.Len32(m)
	return directSymbols + 2*(n-4) + int(m>>uint(n-2))&1, n - 2
}

// value codes a difference d in a context; back tells that the predicted motion is
// downwards.
func (c *coder) value(ctx int, back bool, d int32) {
	x := c.tab.values[ctx]
	if x.zero != 0 {
		c.flag(ctxZero+ctx, d == 0)
	}
	switch {
	case d != 0:
		c.nonzero(ctx, back, d)
	case x.zero == 0:
		code := c.tab.codes[x.book][0]
		c.w.put(uint64(code>>4), uint(code&15))
		if c.stat != nil {
			c.stat.symbols[ctx][symZero]++
		}
	}
}

// nonzero codes a difference that is known not to be 0.
func (c *coder) nonzero(ctx int, back bool, d int32) {
	sign := d < 0
	m := uint32(d)
	if sign {
		m = -m
	}
	c.magnitude(int(c.tab.values[ctx].book), m, sign, back)
	if c.stat != nil {
		sym, _ := split(m, sign != back)
		c.stat.symbols[ctx][sym]++
	}
}

// split is the symbol of a magnitude and the number of bits behind it; against: it
// points against the predicted motion.
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

// magnitude codes a difference that is not 0 in a code.
func (c *coder) magnitude(book int, m uint32, sign, back bool) {
	codes := &c.tab.books[book].codes
	sym, extra := split(m, sign != back)
	code := codes[sym]
	if code == 0 {
		code, sym = codes[symEscape], symEscape
	}
	n := uint(code & 15)
	if sym != symEscape {
		c.w.put(uint64(code>>4)|uint64(m&(1<<uint(extra)-1))<<n, n+uint(extra))
		return
	}
	k := uint(bits.Len32(m))
	less := uint64(0)
	if sign {
		less = 1
	}
	c.w.put(uint64(code>>4)|less<<n|uint64(k-1)<<(n+1), n+6)
	c.w.put(uint64(m&(1<<(k-1)-1)), k-1)
}

// value is the inverse of coder.value.
func (d *decoder) value(ctx int, back bool) int32 {
	x := d.tab.values[ctx]
	if x.zero != 0 && d.flag(ctxZero+ctx) {
		return 0
	}
	return d.magnitude(int(x.book), back)
}

// magnitude is the inverse of coder.magnitude.
func (d *decoder) magnitude(book int, back bool) int32 {
	sym := d.symbol(&d.tab.books[book])
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

// unsplit is the least magnitude of a symbol and the number of bits behind it.
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
func (d *decoder) symbol(b *book) int {
	e := b.decode[load(d.b, d.pos)&(1<<maxCode-1)]
	n := int(e & 15)
	if d.pos+n > len(d.b)*8 || n == 0 {
		d.bad = true
		d.pos = len(d.b) * 8
		return 0
	}
	d.pos += n
	return int(e >> 4)
}
