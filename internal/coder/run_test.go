package coder

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRunIsWordByWord: a run written in one piece has the same bytes as word by word, which is used while
// something is counted, and it is read back. The words are of every kind: they move, rest, jump to the ends of
// their ranges and wrap.
func TestRunIsWordByWord(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	kinds := []Code{
		{Lo: 0, Hi: 1, Size: 1},
		{Lo: -1000, Hi: 1000, Size: 11},
		{Lo: 1, Hi: 0, Size: 32},
		{Lo: math.MinInt32, Hi: math.MaxInt32, Size: 32},
		{Kind: Angle, Lo: -2048, Hi: 2047, Size: 12},
	}
	var sc Scales
	escapes, still := 0, 0
	for range 10_000 {
		sc.Set(Builtin(), [3]uint32{1 + rng.Uint32N(9), 1 + rng.Uint32N(3), 1 + rng.Uint32N(5)})
		codes, ks := make([]Code, 1+rng.IntN(RunMost)), []RunWord{}
		var b Baselines
		b.N = 3
		words := make([]int32, len(codes))
		for i := range b.Words {
			b.Words[i] = make([]int32, len(codes))
		}
		active := rng.IntN(4)
		for i := range codes {
			codes[i] = kinds[rng.IntN(len(kinds))]
			k := &codes[i]
			k.Word = i
			ks = append(ks, k.RunWord())
			at, speed := randomIn(rng, k), int64(0)
			if rng.IntN(4) < active {
				speed = int64(rng.NormFloat64() * math.Exp2(float64(rng.IntN(14))))
			}
			for j, ago := range []int64{1, 2, 5} {
				b.Words[j][i] = brought(k, at-ago*speed+speed*rng.Int64N(3)/2)
			}
			words[i] = brought(k, at)
			if rng.IntN(4) >= active {
				words[i] = b.Words[0][i]
			} else if rng.IntN(9) == 0 {
				words[i] = brought(k, randomIn(rng, k))
			}
		}
		past := Surprise(rng.IntN(30) - 8)
		if rng.IntN(3) == 0 {
			past = Unsurprised
		}
		quick, slow := Encoder{Tables: Builtin(), Scales: &sc}, Encoder{Tables: Builtin(), Scales: &sc}
		quick.Flags.Reset()
		slow.Flags.Reset()
		quick.Run(ks, b.Words[0], b.Words[1], b.Words[2], words, past)
		slow.RunByWord(codes, &b, words, past, func(*Code) {})
		quick.Flags.Next()
		slow.Flags.Next()
		require.Equal(t, slow.Flags.Groups, quick.Flags.Groups)
		long := slow.Bits.Len()
		require.Equal(t, long, quick.Bits.Len())
		bits := slow.Bits.Bytes()
		require.Equal(t, bits, quick.Bits.Bytes())
		if long > 12*len(codes) {
			escapes++
		}
		if long == 0 {
			still++
		}

		var rc RangeEncoder
		rc.Reset(nil)
		rc.Encode(quick.Flags.Groups)
		d := Decoder{Tables: Builtin(), Scales: &sc}
		d.Flags.Reset(rc.Finish())
		d.Reset(bits)
		got := append([]int32{}, b.Words[0]...)
		require.True(t, d.Run(ks, b.Words[0], b.Words[1], b.Words[2], got, past))
		require.Equal(t, words, got)
		require.True(t, d.End())
	}
	require.Greater(t, escapes, 100)
	require.Greater(t, still, 100)
}

// TestRunRefuses: a value outside its range is refused, whether its word moved or was at
// rest, alone or with others.
func TestRunRefuses(t *testing.T) {
	var sc Scales
	sc.Set(Builtin(), [3]uint32{1, 1, 1})
	wide, narrow := Code{Lo: -1000, Hi: 1000, Size: 11}, Code{Lo: -10, Hi: 10, Size: 5}
	for _, c := range []struct {
		name  string
		older int32 // by which the first word moved
		words []int32
		ok    bool
	}{
		{"moved", 2, []int32{10, 1, 1}, true},
		{"moved too far up", 2, []int32{11, 1, 1}, false},
		{"moved too far down", 2, []int32{-11, 1, 1}, false},
		{"at rest", 0, []int32{1, 10, -10}, true},
		{"at rest, and leaves its range", 0, []int32{1, 1, 11}, false},
		{"the same below", 0, []int32{-11, 1, 1}, false},
		{"the only one at rest", 2, []int32{3}, true},
		{"the only one, and leaves its range", 0, []int32{11}, false},
		{"the first leaves its range, others move", 3, []int32{11, 2, 2}, false},
	} {
		var ks, strict []RunWord
		b := Baselines{N: 3}
		for i := range c.words {
			ks, strict = append(ks, wide.RunWord()), append(strict, narrow.RunWord())
			for j := range b.Words {
				v := int32(1)
				if i == 0 {
					v -= int32(j) * c.older
				}
				b.Words[j] = append(b.Words[j], v)
			}
		}
		write := func(e *Encoder) { e.Run(ks, b.Words[0], b.Words[1], b.Words[2], c.words, Unsurprised) }
		d, to := coded(&sc, write), append([]int32(nil), b.Words[0]...)
		require.True(t, d.Run(ks, b.Words[0], b.Words[1], b.Words[2], to, Unsurprised), c.name)
		require.Equal(t, c.words, to, c.name)
		d, to = coded(&sc, write), append([]int32(nil), b.Words[0]...)
		require.Equal(t, c.ok, d.Run(strict, b.Words[0], b.Words[1], b.Words[2], to, Unsurprised), c.name)
	}
}

func randomIn(rng *rand.Rand, k *Code) int64 {
	if k.Lo > k.Hi {
		return int64(int32(rng.Uint32()))
	}
	switch rng.IntN(6) {
	case 0:
		return k.Lo
	case 1:
		return k.Hi
	}
	return k.Lo + rng.Int64N(k.Hi-k.Lo+1)
}

// brought is a value as a word may hold it.
func brought(k *Code, v int64) int32 {
	switch {
	case k.Kind == Angle:
		return int32(Wrap(v, k.Hi-k.Lo+1))
	case k.Lo <= k.Hi:
		return int32(min(max(v, k.Lo), k.Hi))
	}
	return int32(v)
}

// BenchmarkRun writes and reads a run alone: ten words of which seven move, two rest
// and one is a bit.
func BenchmarkRun(b *testing.B) {
	const runs = 256
	var sc Scales
	sc.Set(Builtin(), [3]uint32{6, 1, 2})
	var ks []RunWord
	for i := range 10 {
		k := Code{Lo: -1 << 20, Hi: 1 << 20, Size: 22}
		if i == 9 {
			k = Code{Lo: 0, Hi: 1, Size: 1}
		}
		ks = append(ks, k.RunWord())
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var words [runs][4][]int32
	for i := range words {
		for j := range words[i] {
			words[i][j] = make([]int32, len(ks))
		}
		for k := range 7 {
			speed := rng.NormFloat64() * 12
			at := rng.Float64() * 1000
			for j, ago := range []float64{0, 6, 7, 9} {
				words[i][j][k] = int32(math.Round(at - ago*speed + rng.NormFloat64()))
			}
		}
	}
	c := Encoder{Tables: Builtin(), Scales: &sc}
	d := Decoder{Tables: Builtin(), Scales: &sc}
	var rc RangeEncoder
	to := make([]int32, len(ks))
	encode := func() {
		c.Flags.Reset()
		c.Bits.Reset(c.Bits.Buf[:0])
		for i := range words {
			w := &words[i]
			c.Run(ks, w[1], w[2], w[3], w[0], Unsurprised)
		}
	}
	encode()
	c.Flags.Next()
	rc.Reset(nil)
	rc.Encode(c.Flags.Groups)
	bits := append([]byte(nil), c.Bits.Bytes()...)
	flags := rc.Finish()
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			encode()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/runs/7, "ns/field")
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			d.Flags.Reset(flags)
			d.Reset(bits)
			for i := range words {
				w := &words[i]
				copy(to, w[1])
				if !d.Run(ks, w[1], w[2], w[3], to, Unsurprised) {
					b.Fatal("a value that may not occur")
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/runs/7, "ns/field")
	})
}
