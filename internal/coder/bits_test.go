package coder

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestBitOrder: the first bit written is the lowest of the first byte.
func TestBitOrder(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(w *BitWriter)
		want  []byte
	}{
		{"nothing", func(*BitWriter) {}, []byte{}},
		{"a one", func(w *BitWriter) { w.Bool(true) }, []byte{1}},
		{"a zero", func(w *BitWriter) { w.Bool(false) }, []byte{0}},
		{"lowest bits first", func(w *BitWriter) { w.Write(0b01, 2); w.Write(0b11, 2) }, []byte{0b1101}},
		{"higher bits are ignored", func(w *BitWriter) { w.Write(math.MaxUint64, 3) }, []byte{7}},
		{"no bits", func(w *BitWriter) { w.Write(math.MaxUint64, 0) }, []byte{}},
		{"over a byte", func(w *BitWriter) { w.Write(0, 7); w.Write(0x1ff, 9) }, []byte{0x80, 0xff}},
		{"a word", func(w *BitWriter) { w.Write(0x0807060504030201, 64) }, []byte{1, 2, 3, 4, 5, 6, 7, 8}},
		{"golomb 0, 1, 2, 3", func(w *BitWriter) {
			for v := range uint32(4) {
				w.Golomb(v)
			}
		}, []byte{0b0110_0101, 0b0010}},
		{"a gap below the order", func(w *BitWriter) { w.Gap(5) }, []byte{0b0_1011}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w BitWriter
			c.write(&w)
			n := w.Len()
			require.Equal(t, c.want, w.Bytes())
			require.Equal(t, len(c.want), (n+7)/8)
		})
	}
}

// bitOp is one call of a writer, and of the reader that undoes it.
type bitOp struct {
	sort int
	v    uint64
	n    int
}

func drawOps(t *rapid.T) []bitOp {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) bitOp {
		op := bitOp{sort: rapid.IntRange(0, 3).Draw(t, "sort"), v: rapid.Uint64().Draw(t, "v"), n: rapid.IntRange(0, 64).Draw(t, "n")}
		switch op.sort {
		case 0:
			if op.n < 64 {
				op.v &= 1<<op.n - 1
			}
		case 1:
			op.v &= 1
		default: // of any size
			op.v = op.v & math.MaxUint32 >> (op.n / 2)
		}
		return op
	}), 0, 60).Draw(t, "ops")
}

func (op bitOp) write(w *BitWriter) {
	switch op.sort {
	case 0:
		w.Write(op.v, op.n)
	case 1:
		w.Bool(op.v != 0)
	case 2:
		w.Golomb(uint32(op.v))
	default:
		w.Gap(uint32(op.v))
	}
}

func (op bitOp) size() int {
	switch op.sort {
	case 0:
		return op.n
	case 1:
		return 1
	case 2:
		return GolombBits(uint32(op.v))
	}
	return GolombBits(uint32(op.v)>>GapOrder) + GapOrder
}

func (op bitOp) read(r *BitReader) uint64 {
	switch op.sort {
	case 0:
		return r.Read(op.n)
	case 1:
		if r.Bool() {
			return 1
		}
		return 0
	case 2:
		return uint64(r.Golomb())
	}
	return r.Gap()
}

// TestBitsComeBack: whatever is written is read, takes as many bits as it says, and stays
// when it is spliced into another stream at any place.
func TestBitsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ops := drawOps(t)
		head := rapid.SliceOf(rapid.Byte()).Draw(t, "head")
		var w BitWriter
		w.Reset(append([]byte(nil), head...))
		size := 8 * len(head)
		for _, op := range ops {
			op.write(&w)
			size += op.size()
			require.Equal(t, size, w.Len())
		}
		b := w.Bytes()
		require.Equal(t, string(head), string(b[:len(head)]))
		var r BitReader
		r.Reset(b[len(head):])
		for i, op := range ops {
			require.Equal(t, op.v, op.read(&r), "%d: %+v", i, op)
		}
		require.True(t, r.End())

		var spliced BitWriter
		before := rapid.IntRange(0, 70).Draw(t, "before")
		spliced.Write(math.MaxUint64, min(before, 64))
		from := rapid.IntRange(0, size-8*len(head)).Draw(t, "from")
		spliced.Splice(b, 8*len(head)+from, size-8*len(head)-from)
		spliced.Bool(true)
		require.Equal(t, min(before, 64)+size-8*len(head)-from+1, spliced.Len())
		r.Reset(spliced.Bytes())
		r.Read(min(before, 64))
		var plain BitReader
		plain.Reset(b)
		plain.pos = 8*len(head) + from
		for range size - 8*len(head) - from {
			require.Equal(t, plain.Read(1), r.Read(1))
		}
		require.True(t, r.Bool(), "what follows is not changed")
		require.True(t, r.End())
	})
}

// TestBitReaderEnds: beyond the end there are zeros, and the reader says so.
func TestBitReaderEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		b    []byte
		read func(r *BitReader)
		ok   bool
	}{
		{"nothing", nil, func(*BitReader) {}, true},
		{"all of a byte", []byte{0xff}, func(r *BitReader) { r.Read(8) }, true},
		{"one bit more", []byte{0xff}, func(r *BitReader) { r.Read(9) }, false},
		{"padding of zeros", []byte{1}, func(r *BitReader) { r.Read(1) }, true},
		{"padding of ones", []byte{3}, func(r *BitReader) { r.Read(1) }, false},
		{"a byte too many", []byte{1, 0}, func(r *BitReader) { r.Read(8) }, false},
		{"a golomb code without its end", []byte{0}, func(r *BitReader) { r.Golomb() }, false},
		{"a golomb code without its bits", []byte{0x80}, func(r *BitReader) { r.Golomb() }, false},
		{"the greatest golomb code", []byte{0, 0, 0, 0, 1, 0, 0, 0, 0}, func(r *BitReader) { require.Equal(t, uint32(math.MaxUint32), r.Golomb()) }, true},
		{"a golomb code beyond 32 bits", []byte{0, 0, 0, 0, 3, 0, 0, 0, 0}, func(r *BitReader) { r.Golomb() }, false},
		{"a golomb code of 33 zeros", []byte{0, 0, 0, 0, 2, 0, 0, 0, 0, 0}, func(r *BitReader) { r.Golomb() }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r BitReader
			r.Reset(c.b)
			c.read(&r)
			require.Equal(t, c.ok, r.End())
		})
	}
}

// FuzzBitReader reads any bytes by any calls: it never reads past the end without saying
// so, and what it reads writes the same bits.
func FuzzBitReader(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, []byte{0, 7, 1, 66, 130, 9, 255})
	f.Add([]byte{0, 0, 0, 0, 1, 0, 0, 0, 0}, []byte{2})
	f.Fuzz(func(t *testing.T, b, calls []byte) {
		var r BitReader
		r.Reset(b)
		var w BitWriter
		for _, c := range calls {
			op := bitOp{sort: int(c & 3), n: int(c>>2) + int(c>>7)}
			before := r.Left()
			op.v = op.read(&r)
			if r.Left() < 0 || r.Left() > before {
				t.Fatalf("%d bits left of %d after %+v", r.Left(), before, op)
			}
			if r.Bad {
				return
			}
			if op.sort == 3 && op.v > math.MaxUint32 {
				return // no writer writes such a gap
			}
			op.write(&w)
			if w.Len() != 8*len(b)-r.Left() {
				t.Fatalf("%+v takes %d bits, and %d were read", op, w.Len(), 8*len(b)-r.Left())
			}
		}
		var again BitReader
		again.Reset(b)
		n := w.Len()
		got := w.Bytes()
		for i := 0; i < n; i += 8 {
			want := again.Read(min(8, n-i))
			if got[i/8] != byte(want) {
				t.Fatalf("byte %d is %08b, want %08b", i/8, got[i/8], want)
			}
		}
	})
}

func TestGolombBits(t *testing.T) {
	for n := range 32 {
		for _, v := range []uint32{1<<n - 1, 1 << n, 1<<n + 1, math.MaxUint32 >> n} {
			var w BitWriter
			w.Golomb(v)
			require.Equal(t, w.Len(), GolombBits(v))
			require.Equal(t, 2*bits.Len64(uint64(v)+1)-1, GolombBits(v))
		}
	}
}

// TestWidthAndWrap: the least and greatest of a range differ in Width bits, and Wrap is the
// shorter way on a circle.
func TestWidthAndWrap(t *testing.T) {
	for _, c := range []struct {
		lo, hi int64
		want   int
	}{{0, 0, 0}, {0, 1, 1}, {5, 8, 2}, {-4, 3, 3}, {-4, 4, 4}, {math.MinInt32, math.MaxInt32, 32}, {math.MinInt64, math.MaxInt64, 64}} {
		require.Equal(t, c.want, Width(c.lo, c.hi), "%d to %d", c.lo, c.hi)
	}
	for n := int64(2); n <= 256; n *= 2 {
		for d := -3 * n; d <= 3*n; d++ {
			w := Wrap(d, n)
			require.Zero(t, (w-d)%n)
			require.True(t, w >= -n/2 && w < n/2, "%d of %d", d, n)
		}
	}
}
