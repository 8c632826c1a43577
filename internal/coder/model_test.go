package coder

import (
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestMagnitudes: each magnitude has one symbol, and a symbol and the bits after it say
// which.
func TestMagnitudes(t *testing.T) {
	for m := uint32(1); m < 1<<maxOctave; m++ {
		for _, against := range []bool{false, true} {
			sym, extra := split(m, against)
			require.Less(t, sym, symEscape)
			require.Equal(t, against, sym&1 != 0)
			least, n := unsplit(sym)
			require.Equal(t, extra, n)
			require.Equal(t, m, least+m&(1<<extra-1))
			if m < 256 {
				s := smallMagnitudes[m]
				require.Equal(t, sym&^1, int(s.place)-2)
				require.Equal(t, extra, int(s.extra))
			}
		}
	}
	for _, m := range []uint32{1 << maxOctave, math.MaxInt32, 1 << 31, math.MaxUint32} {
		sym, _ := split(m, false)
		require.Equal(t, symEscape, sym)
	}
}

// TestHalfOctaves: classes of errors go up by half octaves, and the computation without a
// branch agrees.
func TestHalfOctaves(t *testing.T) {
	require.Equal(t, 0, historyClass(0))
	last := 0
	for n := range 62 {
		for _, e := range []int64{1 << n, 1<<n + 1<<n/2} {
			h := historyClass(e)
			require.GreaterOrEqual(t, h, last)
			require.True(t, h <= last+1 || last == 1 && h == 3, "%d after %d", h, last) // there is nothing between 1 and 2
			last = h
		}
	}
	require.Equal(t, historyClasses-1, last)
	for n := range 49 {
		for _, e := range []uint64{1 << n, 1<<n | 1<<n>>1, 1<<n | (1<<n - 1)} {
			require.Equal(t, max(historyClass(int64(e)<<15), 1), halfOctaves(e), "%d", e)
		}
	}
}

// coded writes with write, and returns a decoder of what was written.
func coded(sc *Scales, write func(c *Encoder)) *Decoder {
	c := Encoder{Tables: Builtin(), Scales: sc}
	c.Flags.Reset()
	write(&c)
	c.Flags.Next()
	var rc RangeEncoder
	rc.Reset(nil)
	rc.Encode(c.Flags.Groups)
	d := &Decoder{Tables: Builtin(), Scales: sc}
	d.Flags.Reset(rc.Finish())
	d.Reset(c.Bits.Bytes())
	return d
}

// TestValuesComeBack: in every context any difference is read as it was written.
func TestValuesComeBack(t *testing.T) {
	edges := []int32{0, 1, -1, 7, -7, 8, 255, -256, 1<<maxOctave - 1, -1 << maxOctave, math.MaxInt32, math.MinInt32}
	for ctx := range valueContexts {
		for _, back := range []bool{false, true} {
			d := coded(nil, func(c *Encoder) {
				for _, v := range edges {
					c.codeValue(ctx, back, v)
					if v != 0 {
						c.nonzero(ctx, back, v)
					}
				}
			})
			for _, v := range edges {
				require.Equal(t, v, d.decodeValue(ctx, back), "context %d", ctx)
				if v != 0 {
					require.Equal(t, v, d.magnitude(int(d.Tables.values[ctx].book), back), "context %d", ctx)
				}
			}
			require.True(t, d.End())
		}
	}
}

// drawBaselines draws values that both ends hold, of words that codes allow.
func drawBaselines(t *rapid.T, codes []Code) (b Baselines, words []int32) {
	b.N = rapid.SampledFrom([]int{0, 1, 3, 3}).Draw(t, "baselines")
	still := rapid.Bool().Draw(t, "still")
	draw := func(k *Code, label string) int32 {
		for {
			if v := int32(rapid.Int64Range(lowest(k), highest(k)).Draw(t, label)); k.Kind == Ref || k.Holds(v) {
				return v
			}
		}
	}
	n := codes[len(codes)-1].Word + 1
	words = make([]int32, n)
	for j := range max(b.N, 1) {
		b.Words[j] = make([]int32, n)
	}
	for i := range codes {
		k := &codes[i]
		v := draw(k, "newest")
		for j := range max(b.N, 1) {
			if j > 0 && !still && rapid.IntRange(0, 1).Draw(t, "moved") > 0 {
				v = draw(k, "older")
			}
			b.Words[j][k.Word] = v
		}
		words[k.Word] = b.Words[0][k.Word]
		if rapid.IntRange(0, 2).Draw(t, "changes") > 0 {
			words[k.Word] = draw(k, "now")
		}
	}
	return b, words
}

func lowest(k *Code) int64 {
	if k.Lo <= k.Hi {
		return k.Lo
	}
	return math.MinInt32
}

func highest(k *Code) int64 {
	if k.Lo <= k.Hi {
		return k.Hi
	}
	return math.MaxInt32
}

func drawScales(t *rapid.T) *Scales {
	sc := &Scales{}
	sc.Set(Builtin(), [3]uint32{rapid.Uint32Range(1, 60).Draw(t, "ago"), rapid.Uint32Range(1, 40).Draw(t, "to second"), rapid.Uint32Range(1, 40).Draw(t, "to third")})
	return sc
}

func drawCode(t *rapid.T) Code {
	k := rapid.SampledFrom([]Code{
		{Lo: 0, Hi: 1, Size: 1},
		{Lo: -300, Hi: 900, Size: 11},
		{Lo: 1, Hi: 0, Size: 32},
		{Lo: 1, Hi: 0, Size: 32, High: true},
		{Lo: math.MinInt32, Hi: math.MaxInt32, Size: 32},
		{Lo: 1, Hi: 0, Size: 32, Kind: Float},
		{Lo: -512, Hi: 511, Size: 10, Kind: Angle},
	}).Draw(t, "code")
	return k
}

// TestScalarsComeBack, and so do the surprises that later words depend on.
func TestScalarsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		codes := make([]Code, rapid.IntRange(1, 6).Draw(t, "words"))
		for i := range codes {
			codes[i] = drawCode(t)
			codes[i].Word = i
		}
		b, words := drawBaselines(t, codes)
		sc := drawScales(t)
		var wrote []Surprise
		d := coded(sc, func(c *Encoder) {
			past := Unsurprised
			for i := range codes {
				past = c.Scalar(&codes[i], &b, words, past)
				wrote = append(wrote, past)
			}
		})
		to, past := append([]int32(nil), b.Words[0]...), Unsurprised
		for i := range codes {
			var ok bool
			past, ok = d.Scalar(&codes[i], &b, to, past)
			require.True(t, ok)
			require.Equal(t, wrote[i], past)
		}
		require.Equal(t, words, to)
		require.True(t, d.End())
	})
}

func TestVectorsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := drawCode(t)
		codes := make([]Code, rapid.IntRange(2, MaxVector).Draw(t, "words"))
		for i := range codes {
			codes[i] = one
			codes[i].Word = i
		}
		b, words := drawBaselines(t, codes)
		sc := drawScales(t)
		past := Surprise(rapid.IntRange(-8, 20).Draw(t, "past"))
		var wrote Surprise
		d := coded(sc, func(c *Encoder) { wrote = c.Vector(codes, &b, words, past) })
		to := append([]int32(nil), b.Words[0]...)
		read, ok := d.Vector(codes, &b, to, past)
		require.True(t, ok)
		require.Equal(t, wrote, read)
		require.Equal(t, words, to)
		require.True(t, d.End())
	})
}

func TestTextsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, MaxText).Draw(t, "most")
		draw := func(label string) []byte {
			s := rapid.StringN(-1, -1, most).Draw(t, label)
			return []byte(s)
		}
		codes := make([]Code, TextWords(int64(most)))
		for i := range codes {
			codes[i] = Code{Kind: Text, Word: i, Lo: 1, Hi: 0, Size: most}
		}
		was, now := draw("was"), draw("now")
		if rapid.Bool().Draw(t, "begin alike") {
			now = []byte(strings.ToValidUTF8(string(append(append([]byte(nil), was...), now...)[:min(most, len(was)+len(now))]), ""))
		}
		b := Baselines{N: 1, Words: [3][]int32{make([]int32, len(codes))}}
		PackText(was, b.Words[0])
		words := make([]int32, len(codes))
		PackText(now, words)
		require.True(t, SoundText(words, most))
		require.Equal(t, string(now), string(UnpackText(nil, words)))
		d := coded(nil, func(c *Encoder) { c.Text(codes, &b, words, Unsurprised) })
		to := append([]int32(nil), b.Words[0]...)
		_, ok := d.Text(codes, &b, to, Unsurprised)
		require.True(t, ok)
		require.Equal(t, words, to)
		require.True(t, d.End())
	})
}

// TestSoundText names what no string has as words.
func TestSoundText(t *testing.T) {
	for _, c := range []struct {
		name  string
		words []int32
		ok    bool
	}{
		{"empty", []int32{0, 0, 0}, true},
		{"three bytes", []int32{3, 'a' | 'b'<<8 | 'c'<<16, 0}, true},
		{"a negative length", []int32{-1, 0, 0}, false},
		{"too long", []int32{8, 0x61616161, 0x61616161}, false},
		{"bytes after the end", []int32{1, 'a' | 'b'<<8, 0}, false},
		{"a word after the end", []int32{1, 'a', 1}, false},
		{"no UTF-8", []int32{1, 0xff, 0}, false},
	} {
		require.Equal(t, c.ok, SoundText(c.words, 7), c.name)
	}
}

// TestSpans: an element is coded against the baselines that hold it.
func TestSpans(t *testing.T) {
	length := &Code{}
	b := func(n int, lengths ...int32) *Baselines {
		b := &Baselines{N: n}
		for i, l := range lengths {
			b.Words[i] = []int32{l}
		}
		return b
	}
	for _, c := range []struct {
		name string
		b    *Baselines
		n    int
		want [3]Elements
	}{
		{"as long in all", b(3, 4, 4, 4), 4, [3]Elements{{0, 4, 3}, {4, 4, 1}, {4, 4, 0}}},
		{"longer now", b(3, 4, 4, 4), 6, [3]Elements{{0, 4, 3}, {4, 4, 1}, {4, 6, 0}}},
		{"shorter now", b(3, 4, 4, 4), 1, [3]Elements{{0, 1, 3}, {1, 1, 1}, {1, 1, 0}}},
		{"longer since the second", b(3, 5, 2, 3), 6, [3]Elements{{0, 2, 3}, {2, 5, 1}, {5, 6, 0}}},
		{"the third was empty", b(3, 5, 2, 0), 5, [3]Elements{{0, 0, 3}, {0, 5, 1}, {5, 5, 0}}},
		{"one baseline", b(1, 3), 4, [3]Elements{{0, 3, 1}, {3, 3, 1}, {3, 4, 0}}},
		{"the prefab's defaults", b(0, 2), 4, [3]Elements{{0, 2, 0}, {2, 2, 0}, {2, 4, 0}}},
	} {
		require.Equal(t, c.want, c.b.Spans(length, c.n), c.name)
	}
}

// TestScales: motion at a constant speed, and at a constant acceleration, is continued.
func TestScales(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ago := [3]int64{rapid.Int64Range(1, 64).Draw(t, "ago"), rapid.Int64Range(1, 30).Draw(t, "second"), rapid.Int64Range(1, 30).Draw(t, "third")}
		speed, acceleration := rapid.Int64Range(-500, 500).Draw(t, "speed"), rapid.Int64Range(-20, 20).Draw(t, "acceleration")
		at := func(tick int64) int64 { return speed*tick + acceleration*tick*tick }
		var s Scales
		s.Set(Builtin(), [3]uint32{uint32(ago[0]), uint32(ago[1]), uint32(ago[2])})
		now, one, two := at(0), at(-ago[1]), at(-ago[1]-ago[2])
		hold, going := s.errors(now-one, one-two)
		exact := float64(now-one) * float64(ago[0]) / float64(ago[1])
		require.InDelta(t, math.Abs(exact), float64(hold)/65536, 1+math.Abs(exact)/1000)
		curve := float64(acceleration*ago[0]) * float64(ago[0])
		require.InDelta(t, math.Abs(curve), float64(going)/65536, 2+(math.Abs(exact)+math.Abs(float64(one-two)*64))/1000)
	})
}

// TestTables: the built-in tables are read back from their bytes, and each kind of damage
// is refused.
func TestTables(t *testing.T) {
	whole := Builtin().Bytes()
	again, err := ParseTables(whole)
	require.NoError(t, err)
	require.Equal(t, Builtin(), again)
	change := func(at int, b ...byte) []byte {
		c := append([]byte(nil), whole...)
		copy(c[at:], b)
		return c
	}
	books := fixedTables
	for name, b := range map[string][]byte{
		"nothing":         nil,
		"another version": change(0, tablesVersion+1),
		"cut":             whole[:len(whole)-1],
		"longer":          append(append([]byte(nil), whole...), 0),
		"a certain flag":  change(1, 0, 0),
		"beyond certain":  change(1, byte(probOne&0xff), byte(probOne>>8)),
		"a code too many": change(books-1-valueContexts, 0xff),
		"a broken code":   change(books, 0xff, 0xff),
		"no codes at all": change(books-1, 0),
	} {
		_, err := ParseTables(b)
		require.Error(t, err, name)
	}
	require.True(t, bits.OnesCount64(again.Hash) > 0 && strings.Contains(again.Describe(), "tables"))
}
