package snapshot

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRunIsWordByWord: what a run writes in one piece is what it writes word by word
// while something is counted, and is read back, over words of every kind that move,
// rest, jump to the ends of their ranges and wrap.
func TestRunIsWordByWord(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	kinds := []wordCode{
		{lo: 0, hi: 1, size: 1},
		{lo: -1000, hi: 1000, size: 11},
		{lo: 1, hi: 0, size: 32},
		{lo: math.MinInt32, hi: math.MaxInt32, size: 32},
		{kind: wordAngle, lo: -2048, hi: 2047, size: 12},
	}
	var sc scales
	escapes, still := 0, 0
	for range 10_000 {
		sc.set(builtin(), [3]uint32{1 + rng.Uint32N(9), 1 + rng.Uint32N(3), 1 + rng.Uint32N(5)})
		codes, ks := make([]wordCode, 1+rng.IntN(runMost)), []runWord{}
		var b baselines
		b.n = 3
		words := make([]int32, len(codes))
		for i := range b.words {
			b.words[i] = make([]int32, len(codes))
		}
		active := rng.IntN(4)
		for i := range codes {
			codes[i] = kinds[rng.IntN(len(kinds))]
			k := &codes[i]
			k.word = i
			ks = append(ks, k.runWord())
			at, speed := randomIn(rng, k), int64(0)
			if rng.IntN(4) < active {
				speed = int64(rng.NormFloat64() * math.Exp2(float64(rng.IntN(14))))
			}
			for j, ago := range []int64{1, 2, 5} {
				b.words[j][i] = brought(k, at-ago*speed+speed*rng.Int64N(3)/2)
			}
			words[i] = brought(k, at)
			if rng.IntN(4) >= active {
				words[i] = b.words[0][i]
			} else if rng.IntN(9) == 0 {
				words[i] = brought(k, randomIn(rng, k))
			}
		}
		past := surprise(rng.IntN(30) - 8)
		if rng.IntN(3) == 0 {
			past = unsurprised
		}
		quick, slow := coder{tab: builtin(), scale: &sc}, coder{tab: builtin(), scale: &sc}
		quick.f.reset()
		slow.f.reset()
		quick.run(ks, b.words[0], b.words[1], b.words[2], words, past)
		(&recordWriter{coder: &slow}).countedRun(nil, codes, &b, words, past)
		quick.f.next()
		slow.f.next()
		require.Equal(t, slow.f.groups, quick.f.groups)
		long := slow.w.Len()
		require.Equal(t, long, quick.w.Len())
		bits := slow.w.Bytes()
		require.Equal(t, bits, quick.w.Bytes())
		if long > 12*len(codes) {
			escapes++
		}
		if long == 0 {
			still++
		}

		var rc rangeEncoder
		rc.reset(nil)
		rc.encode(quick.f.groups)
		d := decoder{tab: builtin(), scale: &sc}
		d.rc.reset(rc.finish())
		d.Reset(bits)
		got := append([]int32{}, b.words[0]...)
		require.True(t, d.run(ks, b.words[0], b.words[1], b.words[2], got, past))
		require.Equal(t, words, got)
		require.True(t, d.end())
	}
	require.Greater(t, escapes, 100)
	require.Greater(t, still, 100)
}

func randomIn(rng *rand.Rand, k *wordCode) int64 {
	if k.lo > k.hi {
		return int64(int32(rng.Uint32()))
	}
	switch rng.IntN(6) {
	case 0:
		return k.lo
	case 1:
		return k.hi
	}
	return k.lo + rng.Int64N(k.hi-k.lo+1)
}

// brought is a value as a word may hold it.
func brought(k *wordCode, v int64) int32 {
	switch {
	case k.kind == wordAngle:
		return int32(wrap(v, k.hi-k.lo+1))
	case k.lo <= k.hi:
		return int32(min(max(v, k.lo), k.hi))
	}
	return int32(v)
}

// BenchmarkRun writes and reads a run alone: ten words of which seven move, two rest
// and one is a bit.
func BenchmarkRun(b *testing.B) {
	const runs = 256
	var sc scales
	sc.set(builtin(), [3]uint32{6, 1, 2})
	var ks []runWord
	for i := range 10 {
		k := wordCode{lo: -1 << 20, hi: 1 << 20, size: 22}
		if i == 9 {
			k = wordCode{lo: 0, hi: 1, size: 1}
		}
		ks = append(ks, k.runWord())
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
	c := coder{tab: builtin(), scale: &sc}
	d := decoder{tab: builtin(), scale: &sc}
	var rc rangeEncoder
	to := make([]int32, len(ks))
	encode := func() {
		c.f.reset()
		c.w.Reset(c.w.buf[:0])
		for i := range words {
			w := &words[i]
			c.run(ks, w[1], w[2], w[3], w[0], unsurprised)
		}
	}
	encode()
	c.f.next()
	rc.reset(nil)
	rc.encode(c.f.groups)
	bits := append([]byte(nil), c.w.Bytes()...)
	flags := rc.finish()
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			encode()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/runs/7, "ns/field")
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			d.rc.reset(flags)
			d.Reset(bits)
			for i := range words {
				w := &words[i]
				copy(to, w[1])
				if !d.run(ks, w[1], w[2], w[3], to, unsurprised) {
					b.Fatal("a value that may not occur")
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/runs/7, "ns/field")
	})
}
