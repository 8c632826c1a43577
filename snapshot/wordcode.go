package snapshot

import "math"

// wordKind says how a word's difference is taken.
type wordKind uint8

const (
	wordPlain wordKind = iota // difference of integers, wrapping at 32 bits
	wordAngle                 // difference on a circle
	wordFloat                 // difference of float32 bits in the order of the numbers
	wordRef                   // not a difference: a wire id
	wordText                  // nor this: of a string
)

// wordCode is how one word travels to one audience.
type wordCode struct {
	kind   wordKind
	high   bool // upper half of a float64, which may not be NaN or infinite
	word   int
	lo, hi int64 // allowed values as int32 words; lo > hi: all
	size   int   // bits of the greatest code that is sensible
}

// unit is what is predicted together: a word, a vector, or a rotation.
type unit struct {
	sort    uint8
	from, n int32 // its word codes
	vec     int32 // number of the vector
	run     int32 // how many units from this one on a run takes at once
}

const maxVector = 8 // words

func (l *leaf) wordCodes(to []wordCode, g Grid) []wordCode {
	c := wordCode{word: l.word, lo: 1, hi: 0, size: 32}
	switch {
	case l.op == opQuat:
		return l.quatCodes(to, g)
	case l.op == opRef:
		c.kind = wordRef
	case l.op == opText:
		c.kind, c.size = wordText, int(l.hi)
		for range l.words() {
			to = append(to, c)
			c.word++
		}
		return to
	case l.op == opLength:
		c.lo, c.hi = l.lo, l.hi
	case l.op == opFloat32:
		c.kind = wordFloat
	case l.angle():
		c.kind, c.lo, c.hi = wordAngle, l.grid[g].lo, l.grid[g].hi
	case l.stepped():
		c.lo, c.hi = l.grid[g].lo, l.grid[g].hi
	case !l.wide && l.op <= opUint64 && l.hi <= math.MaxInt32 && (l.lo > math.MinInt32 || l.hi < math.MaxInt32):
		c.lo, c.hi = l.lo, l.hi
	}
	if c.lo <= c.hi {
		c.size = width(c.lo, c.hi)
	}
	to = append(to, c)
	if l.wide {
		c.word++
		c.high = l.op == opFloat64
		to = append(to, c)
	}
	return to
}

// inRun tells whether a word may be part of a run.
func (c *wordCode) inRun() bool { return (c.kind == wordPlain || c.kind == wordAngle) && !c.high }

func (c *wordCode) runWord() runWord {
	k := runWord{flag: c.bit(), mask: -1, least: math.MinInt32, most: math.MaxInt32}
	if c.lo <= c.hi {
		k.least, k.most = int32(c.lo), int32(c.hi)
		if c.kind == wordAngle {
			k.mask, k.half = int32(c.hi-c.lo), int32(-c.lo)
		}
	}
	return k
}

// residual is the signed difference that leads from p to v.
func (c *wordCode) residual(p, v int32) int32 {
	switch c.kind {
	case wordAngle:
		return int32(wrap(int64(v)-int64(p), c.hi-c.lo+1))
	case wordFloat:
		return ordered(v) - ordered(p)
	default:
		return v - p
	}
}

// apply is the inverse of residual; false if the value may not occur.
func (c *wordCode) apply(p, d int32) (int32, bool) {
	switch c.kind {
	case wordAngle:
		n := c.hi - c.lo + 1
		return int32((int64(p)+int64(d)-c.lo)&(n-1) + c.lo), true
	case wordFloat:
		v := ordered(ordered(p) + d) // its own inverse
		return v, v&0x7f800000 != 0x7f800000
	}
	v := p + d
	if c.lo <= c.hi {
		return v, int64(v) >= c.lo && int64(v) <= c.hi // a difference may wrap
	}
	return v, !c.high || v&0x7ff00000 != 0x7ff00000
}

// ordered maps float32 bits to integers in the order of the numbers, and back.
func ordered(v int32) int32 { return v ^ (v>>31)&math.MaxInt32 }
