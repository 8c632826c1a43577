package coder

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawRotation draws the words of a rotation: the index of the greatest component, and the
// others in units of √2/2^size.
func drawRotation(t *rapid.T, size int, label string) []int32 {
	half := int32(1) << (size - 1)
	for {
		w := []int32{rapid.Int32Range(0, 3).Draw(t, label), 0, 0, 0}
		sum := int64(0)
		for i := 1; i < QuatWords; i++ {
			w[i] = rapid.Int32Range(-half, half-1).Draw(t, label)
			sum += int64(w[i]) * int64(w[i])
		}
		if sum <= int64(1)<<(2*size-1) {
			return w
		}
	}
}

func rotationCodes(size int) []Code {
	half := int64(1) << (size - 1)
	codes := []Code{{Lo: 0, Hi: 3, Size: 2}}
	for i := 1; i < QuatWords; i++ {
		codes = append(codes, Code{Word: i, Lo: -half, Hi: half - 1, Size: size})
	}
	return codes
}

// TestRotationsComeBack: any rotation is read as it was written, whatever the baselines
// predict.
func TestRotationsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(2, 15).Draw(t, "bits")
		codes := rotationCodes(size)
		b := Baselines{N: rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "baselines")}
		for j := range max(b.N, 1) {
			b.Words[j] = drawRotation(t, size, "baseline")
		}
		words := drawRotation(t, size, "now")
		if rapid.IntRange(0, 3).Draw(t, "rest") == 0 {
			words = append([]int32(nil), b.Words[0]...)
		}
		sc := drawScales(t)
		var wrote Surprise
		d := coded(sc, func(c *Encoder) { wrote = c.Rotation(codes, &b, words, Unsurprised) })
		to := append([]int32(nil), b.Words[0]...)
		read, ok := d.Rotation(codes, &b, to, Unsurprised)
		require.True(t, ok)
		require.Equal(t, wrote, read)
		require.Equal(t, words, to)
		require.True(t, d.End())
	})
}

// TestSteadyTurn: a body that keeps turning at one speed is predicted to within a few steps.
func TestSteadyTurn(t *testing.T) {
	const size = 12
	turned := func(angle float64) []int32 {
		q := [4]float64{0, 0, math.Sin(angle / 2), math.Cos(angle / 2)}
		top := 2
		if math.Abs(q[3]) > math.Abs(q[2]) {
			top = 3
		}
		w := []int32{int32(top)}
		for i, x := range q {
			if i != top {
				w = append(w, int32(math.Round(x*math.Copysign(1, q[top])/(math.Sqrt2/(1<<size)))))
			}
		}
		return w
	}
	var sc Scales
	sc.Set(Builtin(), [3]uint32{2, 2, 2})
	for n := range 100 {
		at := float64(n)
		b := Baselines{N: 3, Words: [3][]int32{turned(at), turned(at - 0.02), turned(at - 0.04)}}
		words := turned(at + 0.02)
		r := predictRotation(0, size, &b, &sc)
		k := rotationCodes(size)
		if r.order[0] != uint8(words[0]) {
			continue // two components are about equal
		}
		i := 0
		for c := range 4 {
			if c == int(words[0]) {
				continue
			}
			i++
			require.InDelta(t, words[i], r.guess(c, int(words[0]), &k[i]).value, 6, "after %d turns, component %d", n, c)
		}
	}
}

// TestExpand: the greatest component makes the rotation a unit.
func TestExpand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(2, 15).Draw(t, "bits")
		w := drawRotation(t, size, "rotation")
		q := expand(w, size)
		sum := 0.0
		for _, x := range q {
			sum += float64(x) / 256 * float64(x) / 256
		}
		unit := math.Exp2(float64(2*size - 1))
		require.InDelta(t, 1, sum/unit, 4/math.Sqrt(unit)/256+1e-9)
		back := q
		back.towards(&q)
		require.Equal(t, q, back)
		for i := range back {
			back[i] = -back[i]
		}
		back.towards(&q)
		require.Equal(t, q, back, "the same rotation from the other side")
	})
}
