package snapshot

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Flags are coded arithmetically, with static probabilities: a flag that is nearly
// always the same costs nearly nothing. This is done in two steps. A group of flags
// narrows an interval of 2³¹ in 32-bit arithmetic, which depends on nothing before
// it; a range coder of 64 bits (G. N. N. Martin, "Range encoding", 1979) codes the
// interval that a group ended with as one symbol. A record's flags are groups of
// their own, so that a record can be made once and sent to many.

const (
	probBits   = 12 // probabilities are of 4096
	probOne    = 1 << probBits
	groupOne   = 1 << 31
	groupLeast = 1 << 19 // a group that is narrower ends
	rangeLeast = 1 << 48
)

// group is the interval that some flags ended with.
type group struct{ low, width uint32 }

// grouper gathers flags into groups.
type grouper struct {
	low, width uint32
	groups     []group
}

func (g *grouper) reset() { g.low, g.width, g.groups = 0, groupOne, g.groups[:0] }

// flag adds a flag of which p of 4096 is the probability to be 0. bit is 0 or 1.
func (g *grouper) flag(p, bit uint32) {
	bound := g.width >> probBits * p
	g.low += bound & -bit
	if g.width = bound + (g.width-bound-bound)&-bit; g.width < groupLeast {
		g.next()
	}
}

// next ends a group, unless it is empty.
func (g *grouper) next() {
	if g.width != groupOne {
		g.groups = append(g.groups, group{g.low, g.width})
		g.low, g.width = 0, groupOne
	}
}

// groupsCost is what groups cost at most, in 1/256 bit.
func groupsCost(groups []group) uint32 {
	n := uint32(0)
	for i := range groups {
		n += intervalCost(groups[i].width, 31)
	}
	return n
}

// intervalCost is −log2(w / 2^one) in 1/256, rounded up: piecewise linear between
// powers of two, which is above, as log2 is concave.
func intervalCost(w uint32, one int) uint32 {
	n := bits.Len32(w) - 1
	return uint32((one-n)<<8) - uint32(uint64(w-1<<n)<<8>>n) + 1
}

// flagCost is what a bit costs at most, in 1/256 bit.
func flagCost(p uint32) uint32 { return intervalCost(p, probBits) }

// rangeEncoder turns groups into bytes.
type rangeEncoder struct {
	out   []byte
	low   uint64
	width uint64
}

func (e *rangeEncoder) reset(out []byte) { *e = rangeEncoder{out: out, width: math.MaxUint64} }

func (e *rangeEncoder) encode(groups []group) {
	low, width := e.low, e.width
	for i := range groups {
		step := width >> 31
		add := step * uint64(groups[i].low)
		if low += add; low < add {
			carry(e.out)
		}
		width = step * uint64(groups[i].width)
		for width < rangeLeast {
			e.out = append(e.out, byte(low>>56), byte(low>>48))
			low, width = low<<16, width<<16
		}
	}
	e.low, e.width = low, width
}

// carry adds 1 to the number that ends with the last byte.
func carry(b []byte) {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i]++; b[i] != 0 {
			return
		}
	}
}

// finish ends the stream with the number in reach that has the most zeros at its
// end, and leaves those away: the decoder reads zeros behind the last byte.
func (e *rangeEncoder) finish() []byte {
	for n := 64; ; n-- {
		more := -e.low & (1<<n - 1)
		if more >= e.width {
			continue
		}
		v := e.low + more
		if v < e.low {
			carry(e.out)
		}
		e.out = binary.BigEndian.AppendUint64(e.out, v)
		break
	}
	for n := len(e.out); n > 0 && e.out[n-1] == 0; n-- {
		e.out = e.out[:n-1]
	}
	return e.out
}

// rangeDecoder is the inverse of grouper and rangeEncoder.
type rangeDecoder struct {
	in    []byte
	pos   int
	code  uint64
	width uint64
	step  uint64
	from  uint32 // where in its interval the group lies
	at    uint32 // and where in what is left of that
	left  uint32 // how wide that is
}

func (d *rangeDecoder) reset(in []byte) {
	*d = rangeDecoder{in: in, width: math.MaxUint64}
	for range 4 {
		d.code = d.code<<16 | d.pair()
	}
	d.begin()
}

// pair takes two bytes; zeros behind the last.
func (d *rangeDecoder) pair() (v uint64) {
	if p := d.pos; p+2 <= len(d.in) {
		v = uint64(d.in[p])<<8 | uint64(d.in[p+1])
	} else if p < len(d.in) {
		v = uint64(d.in[p]) << 8
	}
	d.pos += 2
	return v
}

func (d *rangeDecoder) begin() {
	d.step = d.width >> 31
	d.from = uint32(min(d.code/d.step, groupOne-1)) // beyond lie forged numbers only
	d.at, d.left = d.from, groupOne
}

// next goes on to the next group, unless this one is empty.
func (d *rangeDecoder) next() {
	if d.left == groupOne {
		return
	}
	d.code -= d.step * uint64(d.from-d.at)
	d.width = d.step * uint64(d.left)
	for d.width < rangeLeast {
		d.code, d.width = d.code<<16|d.pair(), d.width<<16
	}
	d.begin()
}

// decode takes a bit whose probability of being 0 is p of 4096.
func (d *rangeDecoder) decode(p uint32) uint32 {
	bound := d.left >> probBits * p
	at := d.at - bound
	zero := uint32(int32(at) >> 31) // all bits, if the flag is 0: both are below 2³¹
	d.at = at + bound&zero
	d.left = d.left - bound + (bound+bound-d.left)&zero
	if d.left < groupLeast {
		d.next()
	}
	return 1 + zero
}
