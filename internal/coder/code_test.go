package coder

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestResiduals: a difference applied to what it was taken from is the value, and every
// value that the code holds is allowed.
func TestResiduals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawCode(t)
		draw := func(label string) int32 {
			for {
				if v := int32(rapid.Int64Range(lowest(&k), highest(&k)).Draw(t, label)); k.Holds(v) {
					return v
				}
			}
		}
		p, v := draw("from"), draw("to")
		d := k.Residual(p, v)
		got, ok := k.addResidual(p, d)
		require.True(t, ok)
		require.Equal(t, v, got)
		require.Zero(t, k.Residual(v, v))
		if k.Kind == Angle {
			require.LessOrEqual(t, int64(max(d, -d)), (k.Hi-k.Lo+1)/2, "the shorter way")
		}
	})
}

func TestHolds(t *testing.T) {
	bitsOf := func(v float32) int32 { return int32(math.Float32bits(v)) }
	for _, c := range []struct {
		name string
		k    Code
		v    int32
		ok   bool
	}{
		{"the least", Code{Lo: -5, Hi: 9}, -5, true},
		{"below it", Code{Lo: -5, Hi: 9}, -6, false},
		{"the greatest", Code{Lo: -5, Hi: 9}, 9, true},
		{"above it", Code{Lo: -5, Hi: 9}, 10, false},
		{"any word", Code{Lo: 1, Hi: 0}, math.MinInt32, true},
		{"a reference to nothing", Code{Kind: Ref}, 0, true},
		{"a reference", Code{Kind: Ref}, 3, false},
		{"a float", Code{Kind: Float, Lo: 1}, bitsOf(-3.5), true},
		{"not a number", Code{Kind: Float, Lo: 1}, bitsOf(float32(math.NaN())), false},
		{"infinite", Code{Kind: Float, Lo: 1}, bitsOf(float32(math.Inf(-1))), false},
		{"the upper half of a float64", Code{High: true, Lo: 1}, int32(math.Float64bits(1e300) >> 32), true},
		{"the upper half of an infinite one", Code{High: true, Lo: 1}, int32(math.Float64bits(math.Inf(1)) >> 32), false},
	} {
		require.Equal(t, c.ok, c.k.Holds(c.v), c.name)
		if c.k.Kind == Ref {
			continue
		}
		if d := c.k.Residual(0, c.v); c.k.Kind != Angle {
			_, ok := c.k.addResidual(0, d)
			require.Equal(t, c.ok, ok, "%s, as a difference", c.name)
		}
	}
}

// TestOrdered: floats as integers are in the order of the numbers.
func TestOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := rapid.Float32().Draw(t, "x"), rapid.Float32().Draw(t, "y")
		a, b := ordered(int32(math.Float32bits(x))), ordered(int32(math.Float32bits(y)))
		require.Equal(t, x < y, a < b && x != y)
		require.Equal(t, int32(math.Float32bits(x)), ordered(a))
	})
}
