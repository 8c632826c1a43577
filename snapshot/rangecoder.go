package snapshot

import (
	"math"
	"math/bits"
)

// Flags are coded with a binary range coder (G. N. N. Martin, "Range encoding",
// 1979, in the 32-bit form with carries that LZMA made common) whose probabilities
// are static. A flag that is nearly always the same costs nearly nothing.

const (
	probBits = 12 // probabilities are of 4096
	probOne  = 1 << probBits
	topRange = 1 << 24
)

// rangeEncoder turns flags into bytes.
type rangeEncoder struct {
	out     []byte
	low     uint64
	width   uint32
	cache   byte
	begun   bool // cache holds a byte
	pending int  // bytes held back, the cache and 0xff behind it, for a carry
}

func (e *rangeEncoder) reset(out []byte) {
	*e = rangeEncoder{out: out, width: math.MaxUint32, pending: 1}
}

// encode codes flags, each a context and a bit. A probability is that of a 0, of
// 4096.
func (e *rangeEncoder) encode(syms []uint16, probs *[contexts]uint16) {
	low, width := e.low, e.width
	for _, sym := range syms {
		bound := (width >> probBits) * uint32(probs[sym>>1])
		if sym&1 == 0 {
			width = bound
		} else {
			low += uint64(bound)
			width -= bound
		}
		for width < topRange {
			width <<= 8
			e.low = low
			e.shift()
			low = e.low
		}
	}
	e.low, e.width = low, width
}

func (e *rangeEncoder) shift() {
	if e.low < 0xff000000 || e.low > math.MaxUint32 {
		carry := byte(e.low >> 32)
		if e.begun {
			e.out = append(e.out, e.cache+carry)
		}
		for ; e.pending > 1; e.pending-- {
			e.out = append(e.out, 0xff+carry)
		}
		e.cache, e.begun, e.pending = byte(e.low>>24), true, 0
	}
	e.pending++
	e.low = e.low << 8 & math.MaxUint32
}

// finish ends the stream with the number in reach that has the most zeros at its
// end, and leaves those away: the decoder reads zeros behind the last byte.
func (e *rangeEncoder) finish(from int) []byte {
	top := e.low + uint64(e.width) - 1
	for n := 32; n >= 0; n-- {
		if v := top >> n << n; v >= e.low {
			e.low = v
			break
		}
	}
	for range 5 {
		e.shift()
	}
	for len(e.out) > from && e.out[len(e.out)-1] == 0 {
		e.out = e.out[:len(e.out)-1]
	}
	return e.out
}

// rangeDecoder is the inverse of rangeEncoder.
type rangeDecoder struct {
	in    []byte
	pos   int
	code  uint32
	width uint32
}

func (d *rangeDecoder) reset(in []byte) {
	*d = rangeDecoder{in: in, width: math.MaxUint32}
	for range 4 {
		d.code = d.code<<8 | d.next()
	}
}

func (d *rangeDecoder) next() uint32 {
	d.pos++
	if d.pos <= len(d.in) {
		return uint32(d.in[d.pos-1])
	}
	return 0
}

// decode takes a bit whose probability of being 0 is p of 4096.
func (d *rangeDecoder) decode(p uint32) uint32 {
	bound := (d.width >> probBits) * p
	bit := uint32(0)
	if d.code < bound {
		d.width = bound
	} else {
		d.code -= bound
		d.width -= bound
		bit = 1
	}
	for d.width < topRange {
		d.width <<= 8
		d.code = d.code<<8 | d.next()
	}
	return bit
}

// flagCost is what a bit costs at most, in 1/256 bit: −log2(p/4096), rounded up.
func flagCost(p uint32) uint32 {
	// Piecewise linear between powers of two, from above: log2 is concave.
	n := bits.Len32(p) - 1
	return uint32((probBits-n)<<8) - (p-1<<n)<<8>>n + 1
}
