package coder

import (
	"container/heap"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// weights64 is a heap for the plain Huffman construction.
type weights64 []float64

func (w weights64) Len() int           { return len(w) }
func (w weights64) Less(i, j int) bool { return w[i] < w[j] }
func (w weights64) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *weights64) Push(x any)        { *w = append(*w, x.(float64)) }
func (w *weights64) Pop() (x any)      { x, *w = (*w)[len(*w)-1], (*w)[:len(*w)-1]; return x }

// unbounded returns the bits that the best code of any length takes.
func unbounded(of []float64) (sum float64) {
	h := weights64(append([]float64(nil), of...))
	heap.Init(&h)
	for len(h) > 1 {
		pair := heap.Pop(&h).(float64) + heap.Pop(&h).(float64)
		sum += pair
		heap.Push(&h, pair)
	}
	return sum
}

// TestLearnedCodes: codes learned from any counts are complete, no code is longer than the
// lookup allows, each symbol is read back, and they take as few bits as any code if that
// one has no longer codes.
func TestLearnedCodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var counts [symbols]float64
		for s := range counts {
			if rapid.IntRange(0, 2).Draw(t, "seen") > 0 {
				counts[s] = math.Exp2(float64(rapid.IntRange(0, 12).Draw(t, "octave"))) * rapid.Float64Range(1, 2).Draw(t, "count")
			}
		}
		zero := rapid.Bool().Draw(t, "zero")
		var b book
		b.learn(&counts, zero)
		require.True(t, b.build(), "a learned code is complete")
		if zero {
			require.NotZero(t, b.lengths[symZero])
		}
		space, cost, escaped, longest := 0.0, 0.0, 0.0, uint8(0)
		var coded []float64
		for s, n := range b.lengths {
			if n == 0 {
				escaped += counts[s]
				continue
			}
			space += math.Exp2(-float64(n))
			longest = max(longest, n)
			if s != symEscape {
				cost += float64(n) * counts[s]
				coded = append(coded, counts[s])
			}
		}
		require.InDelta(t, 1, space, 1e-12)
		escaped += counts[symEscape]
		if b.lengths[symEscape] > 0 && len(coded) > 1 && longest < maxCode {
			total := 0.0
			for _, n := range counts {
				total += n
			}
			escape := max(escaped, total/4096, 1e-9)
			require.InEpsilon(t, unbounded(append(coded, escape)), cost+float64(b.lengths[symEscape])*escape, 1e-9)
		}
		var c Encoder
		d := Decoder{}
		for s, code := range b.codes {
			if b.lengths[s] == 0 {
				continue
			}
			c.Bits.Reset(nil)
			c.Bits.putBits(uint64(code>>4), uint(code&15))
			c.Bits.Write(rapid.Uint64().Draw(t, "after"), 16)
			d.Reset(c.Bits.Bytes())
			require.Equal(t, s, d.symbol(&b))
			require.Equal(t, int(b.lengths[s]), d.pos)
		}
	})
}

func TestBuildRefuses(t *testing.T) {
	lengths := func(of map[int]uint8) (b book) {
		for s, n := range of {
			b.lengths[s] = n
		}
		return b
	}
	for _, c := range []struct {
		name string
		b    book
		ok   bool
	}{
		{"two symbols", lengths(map[int]uint8{0: 1, symEscape: 1}), true},
		{"four symbols", lengths(map[int]uint8{0: 1, 1: 2, 2: 3, symEscape: 3}), true},
		{"no symbol", lengths(nil), false},
		{"no escape", lengths(map[int]uint8{0: 1, 1: 1}), false},
		{"room for more", lengths(map[int]uint8{0: 2, symEscape: 1}), false},
		{"too many", lengths(map[int]uint8{0: 1, 1: 1, symEscape: 1}), false},
		{"a code too long", lengths(map[int]uint8{0: 1, 1: maxCode + 1, symEscape: 2}), false},
	} {
		require.Equal(t, c.ok, c.b.build(), c.name)
	}
}

// TestNoCode: bits that are no code, and codes that end beyond the bytes, are refused.
func TestNoCode(t *testing.T) {
	var b book
	b.lengths[0], b.lengths[symEscape] = 1, 1
	require.True(t, b.build())
	var d Decoder
	d.Reset(nil)
	require.Equal(t, 0, d.symbol(&b))
	require.True(t, d.Bad)
	require.False(t, d.End())
}
