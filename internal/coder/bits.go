package coder

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// BitWriter appends bits to a byte slice: the first bit written is the least
// significant bit of the first byte. The zero value appends to nil.
type BitWriter struct {
	Buf []byte
	acc uint64
	n   uint // n is the number of bits in acc. It is below 32 between calls.
}

// Reset starts a new stream, appended to the bytes of buf.
func (w *BitWriter) Reset(buf []byte) { w.Buf, w.acc, w.n = buf, 0, 0 }

// Write appends the lowest n bits of v, least significant first; n is 0 to 64,
// and higher bits of v are ignored.
func (w *BitWriter) Write(v uint64, n int) {
	if n > 32 {
		w.putBits(v&0xffffffff, 32)
		v >>= 32
		n -= 32
	}
	w.putBits(v&(1<<uint(n)-1), uint(n))
}

// putBits appends n ≤ 32 bits; v has no others.
func (w *BitWriter) putBits(v uint64, n uint) {
	w.acc |= v << w.n
	w.n += n
	if w.n >= 32 {
		w.Buf = binary.LittleEndian.AppendUint32(w.Buf, uint32(w.acc))
		w.acc >>= 32
		w.n -= 32
	}
}

// Bool appends one bit.
func (w *BitWriter) Bool(b bool) {
	if b {
		w.putBits(1, 1)
	} else {
		w.putBits(0, 1)
	}
}

// Golomb appends v < 2³² in the Exp-Golomb code of order 0. It writes a zero for each
// bit of v+1 after the first, then a one, then those bits. Small numbers are short: 0
// takes one bit, 1 and 2 take three.
func (w *BitWriter) Golomb(v uint32) {
	x := uint64(v) + 1
	n := uint(bits.Len64(x)) - 1
	w.putBits(0, n)
	w.putBits(1, 1)
	w.putBits(x&(1<<n-1), n)
}

// GapOrder is the order of the Exp-Golomb code of gaps between wire ids.
const GapOrder = 4

// Gap appends the gap between two wire ids, in the Exp-Golomb code of order 4.
func (w *BitWriter) Gap(v uint32) {
	w.Golomb(v >> GapOrder)
	w.putBits(uint64(v&(1<<GapOrder-1)), GapOrder)
}

// Gap reads a number written by [BitWriter.Gap].
func (r *BitReader) Gap() uint64 {
	v := uint64(r.Golomb()) << GapOrder
	return v | r.Read(GapOrder)
}

// GolombBits returns the number of bits that [BitWriter.Golomb] takes for a number.
func GolombBits(v uint32) int { return 2*bits.Len64(uint64(v)+1) - 1 }

// Len returns the number of bits written, including the buffer given to Reset.
func (w *BitWriter) Len() int { return len(w.Buf)*8 + int(w.n) }

// Bytes pads the stream with zero bits to a whole byte and returns it, with the
// bytes given to Reset in front. Write no more after it without a Reset.
func (w *BitWriter) Bytes() []byte {
	w.align()
	return w.Buf
}

// align pads the stream with zero bits to a whole byte.
func (w *BitWriter) align() {
	n := len(w.Buf) + int(w.n+7)/8
	w.Buf = binary.LittleEndian.AppendUint64(w.Buf, w.acc)[:n]
	w.acc, w.n = 0, 0
}

// Splice appends n bits of b from bit position pos on.
func (w *BitWriter) Splice(b []byte, pos, n int) {
	from := len(w.Buf)
	if more := n/8 + 24; cap(w.Buf)-from < more {
		w.Buf = slices.Grow(w.Buf, more)
	}
	out := w.Buf[:cap(w.Buf)]
	acc, k := w.acc, w.n
	for {
		binary.LittleEndian.PutUint64(out[from:], acc)
		from += int(k >> 3)
		acc, k = acc>>(k&56), k&7
		if n <= 0 {
			break
		}
		more := min(n, 56)
		acc |= load(b, pos) & (1<<uint(more) - 1) << k
		k += uint(more)
		pos, n = pos+more, n-more
	}
	w.Buf, w.acc, w.n = out[:from], acc, k
}

// load returns at least 57 bits from bit position pos on, zeros beyond the end.
func load(b []byte, pos int) uint64 {
	i := pos >> 3
	if i+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[i:]) >> uint(pos&7)
	}
	var v uint64
	for k := 0; i+k < len(b); k++ {
		v |= uint64(b[i+k]) << uint(8*k)
	}
	return v >> uint(pos&7)
}

// BitReader reads bits from a byte slice in the order that [BitWriter] wrote them.
// Reading past the end returns zeros and sets Bad. Check Bad once at the end, and
// before using a length to allocate or to loop.
type BitReader struct {
	b   []byte
	pos int
	Bad bool
}

// Reset starts reading b from its first bit.
func (r *BitReader) Reset(b []byte) { r.b, r.pos, r.Bad = b, 0, false }

// Read reads n bits, 0 to 64.
func (r *BitReader) Read(n int) uint64 {
	if n > 32 {
		lo := r.Read(32)
		return lo | r.Read(n-32)<<32
	}
	if r.pos+n > len(r.b)*8 {
		r.Bad = true
		r.pos = len(r.b) * 8
		return 0
	}
	v := load(r.b, r.pos) & (1<<uint(n) - 1)
	r.pos += n
	return v
}

// Bool reads one bit.
func (r *BitReader) Bool() bool { return r.Read(1) != 0 }

// Golomb reads a number written by [BitWriter.Golomb].
func (r *BitReader) Golomb() uint32 {
	n := bits.TrailingZeros64(load(r.b, r.pos) | 1<<40)
	if n > 32 || r.pos+n >= len(r.b)*8 {
		r.Bad = true
		return 0
	}
	r.pos += n + 1
	x := 1<<uint(n) | r.Read(n)
	if x-1 > 1<<32-1 {
		r.Bad = true
		return 0
	}
	return uint32(x - 1)
}

// Left returns the number of bits not yet read.
func (r *BitReader) Left() int { return len(r.b)*8 - r.pos }

// End reports whether the stream was read to its end, except less than a byte of zeros.
func (r *BitReader) End() bool {
	n := r.Left()
	return !r.Bad && n < 8 && r.Read(n) == 0
}
