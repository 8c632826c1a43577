package coder

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Flags use arithmetic coding with static probabilities: a flag that is nearly always the
// same costs nearly nothing. It has two steps. A group of flags narrows an interval of 2³¹
// in 32-bit arithmetic, independent of earlier groups. Then a 64-bit range coder (G. N. N.
// Martin, "Range encoding", 1979) codes the group's final interval as one symbol. A record's
// flags are in separate groups, so that a record can be made once and sent to many.

const (
	probBits   = 12 // probabilities are of 4096
	probOne    = 1 << probBits
	groupOne   = 1 << 31
	groupLeast = 1 << 19 // a group that is narrower ends
	rangeLeast = 1 << 48
)

// group is the interval that some flags ended with.
type group struct{ low, width uint32 }

// Grouper gathers flags into groups.
type Grouper struct {
	low, width uint32
	Groups     []group
}

// Reset drops all groups.
func (g *Grouper) Reset() { g.low, g.width, g.Groups = 0, groupOne, g.Groups[:0] }

// flag adds a flag that is 0 with probability p of 4096. bit is 0 or 1.
func (g *Grouper) flag(p, bit uint32) {
	bound := g.width >> probBits * p
	g.low += bound & -bit
	if g.width = bound + (g.width-bound-bound)&-bit; g.width < groupLeast {
		g.Next()
	}
}

// Next ends a group, unless it is empty.
func (g *Grouper) Next() {
	if g.width != groupOne {
		g.Groups = append(g.Groups, group{g.low, g.width})
		g.low, g.width = 0, groupOne
	}
}

// groupsCost returns the greatest size of groups, in 1/256 bit.
func groupsCost(groups []group) uint32 {
	n := uint32(0)
	for i := range groups {
		n += intervalCost(groups[i].width, 31)
	}
	return n
}

// intervalCost returns −log2(w / 2^one) in 1/256, rounded up. It is linear between
// powers of two, which is never too low, because log2 is concave.
func intervalCost(w uint32, one int) uint32 {
	n := bits.Len32(w) - 1
	return uint32((one-n)<<8) - uint32(uint64(w-1<<n)<<8>>n) + 1
}

// flagCost returns the greatest size of a flag, in 1/256 bit.
func flagCost(p uint32) uint32 { return intervalCost(p, probBits) }

// RangeEncoder turns groups into bytes.
type RangeEncoder struct {
	Out   []byte
	low   uint64
	width uint64
}

// Reset starts a new stream, appended to the bytes of out.
func (e *RangeEncoder) Reset(out []byte) { *e = RangeEncoder{Out: out, width: math.MaxUint64} }

// Encode appends groups.
func (e *RangeEncoder) Encode(groups []group) {
	low, width := e.low, e.width
	for i := range groups {
		step := width >> 31
		add := step * uint64(groups[i].low)
		if low += add; low < add {
			carry(e.Out)
		}
		width = step * uint64(groups[i].width)
		for width < rangeLeast {
			e.Out = append(e.Out, byte(low>>56), byte(low>>48))
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

// Finish ends the stream. It writes the number in range with the most zeros at its end,
// and drops zero bytes at the end: the decoder reads zeros past the last byte.
func (e *RangeEncoder) Finish() []byte {
	for n := 64; ; n-- {
		more := -e.low & (1<<n - 1)
		if more >= e.width {
			continue
		}
		v := e.low + more
		if v < e.low {
			carry(e.Out)
		}
		e.Out = binary.BigEndian.AppendUint64(e.Out, v)
		break
	}
	for n := len(e.Out); n > 0 && e.Out[n-1] == 0; n-- {
		e.Out = e.Out[:n-1]
	}
	return e.Out
}

// rangeDecoder is the inverse of [Grouper] and [RangeEncoder].
type rangeDecoder struct {
	in    []byte
	pos   int
	code  uint64
	width uint64
	step  uint64
	from  uint32 // from is the group's start in its interval.
	at    uint32 // at is the position in the rest of the group.
	left  uint32 // left is the width of the rest of the group.

	counts bool   // counts is true if the groups that end are counted.
	ended  uint64 // ended is the size of the counted groups, in 1/256 bit.
}

func (d *rangeDecoder) Reset(in []byte) {
	*d = rangeDecoder{in: in, width: math.MaxUint64, counts: d.counts}
	for range 4 {
		d.code = d.code<<16 | d.pair()
	}
	d.beginGroup()
}

// pair reads two bytes, or zeros after the last.
func (d *rangeDecoder) pair() (v uint64) {
	if p := d.pos; p+2 <= len(d.in) {
		v = uint64(d.in[p])<<8 | uint64(d.in[p+1])
	} else if p < len(d.in) {
		v = uint64(d.in[p]) << 8
	}
	d.pos += 2
	return v
}

func (d *rangeDecoder) beginGroup() {
	d.step = d.width >> 31
	d.from = uint32(min(d.code/d.step, groupOne-1)) // only forged numbers are beyond
	d.at, d.left = d.from, groupOne
}

// Next moves to the next group, unless this one is empty.
func (d *rangeDecoder) Next() {
	if d.left == groupOne {
		return
	}
	if d.counts {
		d.ended += uint64(intervalCost(d.left, 31))
	}
	d.code -= d.step * uint64(d.from-d.at)
	d.width = d.step * uint64(d.left)
	for d.width < rangeLeast {
		d.code, d.width = d.code<<16|d.pair(), d.width<<16
	}
	d.beginGroup()
}

// decode reads a bit that is 0 with probability p of 4096.
func (d *rangeDecoder) decode(p uint32) uint32 {
	bound := d.left >> probBits * p
	at := d.at - bound
	// zero has all bits set if the flag is 0, because at and bound are below 2³¹
	zero := uint32(int32(at) >> 31)
	d.at = at + bound&zero
	d.left = d.left - bound + (bound+bound-d.left)&zero
	if d.left < groupLeast {
		d.Next()
	}
	return 1 + zero
}
