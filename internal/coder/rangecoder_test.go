package coder

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// groupedFlag is a flag with its probability, and whether it ends a group.
type groupedFlag struct {
	p, bit uint32
	next   bool
}

func drawFlags(t *rapid.T) []groupedFlag {
	likely := rapid.IntRange(0, 4).Draw(t, "likely") // in how many of four the flags are as expected
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) groupedFlag {
		f := groupedFlag{p: rapid.Uint32Range(1, probOne-1).Draw(t, "p"), bit: rapid.Uint32Range(0, 1).Draw(t, "bit"), next: rapid.IntRange(0, 9).Draw(t, "next") == 0}
		if rapid.IntRange(0, 3).Draw(t, "as expected") < likely {
			f.bit = 0
			if f.p < probOne/2 {
				f.bit = 1
			}
		}
		return f
	}), 0, 400).Draw(t, "flags")
}

func encodeFlags(flags []groupedFlag) (g Grouper, out []byte) {
	g.Reset()
	for _, f := range flags {
		g.flag(f.p, f.bit)
		if f.next {
			g.Next()
		}
	}
	g.Next()
	var e RangeEncoder
	e.Reset(nil)
	e.Encode(g.Groups)
	return g, e.Finish()
}

// TestFlagsComeBack: flags of any probability, in any groups, are read as they were
// written. They take no more than their cost says, and nearly as little as their
// probabilities allow.
func TestFlagsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		flags := drawFlags(t)
		g, out := encodeFlags(flags)
		require.LessOrEqual(t, float64(len(out)), float64(groupsCost(g.Groups))/256/8+2)
		cost, entropy := uint32(0), 0.0
		var d rangeDecoder
		d.Reset(out)
		for i, f := range flags {
			require.Equal(t, f.bit, d.decode(f.p), "flag %d", i)
			if f.next {
				d.Next()
			}
			p := f.p
			if f.bit != 0 {
				p = probOne - p
			}
			cost += flagCost(p)
			entropy -= math.Log2(float64(p) / probOne)
		}
		require.GreaterOrEqual(t, float64(cost)/256, entropy, "a cost is never too low")
		require.LessOrEqual(t, float64(8*len(out)), entropy*1.05+float64(len(g.Groups))*0.2+24)
	})
}

// TestFlagsInParts: a record's groups are the same wherever the record is, so encoding in parts makes the same
// bytes as encoding at once.
func TestFlagsInParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, whole := encodeFlags(drawFlags(t))
		var e RangeEncoder
		e.Reset(nil)
		for at := 0; at < len(g.Groups); {
			n := rapid.IntRange(1, len(g.Groups)-at).Draw(t, "part")
			e.Encode(g.Groups[at : at+n])
			at += n
		}
		require.Equal(t, whole, e.Finish())
	})
}

// TestFinish: the bytes end with no zero, because the decoder reads zeros past the end.
func TestFinish(t *testing.T) {
	for _, c := range []struct {
		name string
		bits []uint32
		p    uint32
		most int
	}{
		{"nothing", nil, 1, 0},
		{"the likely side", []uint32{0, 0, 0, 0}, probOne - 1, 0},
		{"the unlikely side", []uint32{1}, probOne - 1, 2},
		{"halves", []uint32{1, 0, 1, 1, 0, 0, 1, 0}, probOne / 2, 2},
		{"all ones", []uint32{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var flags []groupedFlag
			for _, b := range c.bits {
				flags = append(flags, groupedFlag{p: c.p, bit: b})
			}
			_, out := encodeFlags(flags)
			require.LessOrEqual(t, len(out), c.most)
			if n := len(out); n > 0 {
				require.NotZero(t, out[n-1])
			}
		})
	}
}

func TestCarry(t *testing.T) {
	for _, c := range []struct{ b, want []byte }{
		{[]byte{0}, []byte{1}}, {[]byte{3, 0xff}, []byte{4, 0}}, {[]byte{1, 0xff, 0xff}, []byte{2, 0, 0}}, {nil, nil},
	} {
		carry(c.b)
		require.Equal(t, c.want, c.b)
	}
}

func TestIntervalCost(t *testing.T) {
	for w := uint32(1); w <= probOne; w++ {
		exact := -math.Log2(float64(w)/probOne) * 256
		require.GreaterOrEqual(t, float64(flagCost(w)), exact, "%d", w)
		require.LessOrEqual(t, float64(flagCost(w)), exact+24, "%d", w)
	}
}

// FuzzRangeDecoder reads flags from any bytes: it always ends, and the flags that it reads
// are flags that can be written.
func FuzzRangeDecoder(f *testing.F) {
	_, out := encodeFlags([]groupedFlag{{p: 100, bit: 1}, {p: 4000, bit: 0, next: true}, {p: 2048, bit: 1}})
	f.Add(out, []byte{100, 255, 3, 77})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, in, probs []byte) {
		var d rangeDecoder
		d.Reset(in)
		var flags []groupedFlag
		for i, p := range probs {
			fl := groupedFlag{p: min(max(uint32(p)*16+uint32(i&15), 1), probOne-1), next: p&7 == 0}
			if fl.bit = d.decode(fl.p); fl.bit > 1 {
				t.Fatalf("flag %d is %d", i, fl.bit)
			}
			if fl.next {
				d.Next()
			}
			if d.left < groupLeast || d.left > groupOne {
				t.Fatalf("after flag %d the group is %d wide", i, d.left)
			}
			flags = append(flags, fl)
		}
		_, out := encodeFlags(flags)
		var again rangeDecoder
		again.Reset(out)
		for i, fl := range flags {
			if got := again.decode(fl.p); got != fl.bit {
				t.Fatalf("flag %d is %d, was %d", i, got, fl.bit)
			}
			if fl.next {
				again.Next()
			}
		}
	})
}

// TestManyFlags: over very many flags numbers carry, also over several bytes.
func TestManyFlags(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	flags := make([]groupedFlag, 200_000)
	for i := range flags {
		flags[i] = groupedFlag{p: 1 + rng.Uint32N(probOne-1), bit: rng.Uint32N(2), next: rng.IntN(9) == 0}
	}
	_, out := encodeFlags(flags)
	var d rangeDecoder
	d.Reset(out)
	for i, f := range flags {
		if got := d.decode(f.p); got != f.bit {
			t.Fatalf("flag %d is %d", i, got)
		}
		if f.next {
			d.Next()
		}
	}
}
