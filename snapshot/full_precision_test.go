package snapshot_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/schema"
)

type glider struct {
	X, Y    float32      `net:"min=-512,max=512,step=0.01"`
	Fine    float64      `net:"min=-10,max=10,step=0.5,sim=0.1"`
	Heading float32      `net:"angle,bits=12"`
	Turret  float32      `net:"angle,bits=16"`
	Spin    [4]float32   `net:"quat,bits=9"`
	Loose   float32      ``
	Trail   []trailPoint `net:"max=3"`
	Fuel    float32      `net:"min=0,max=100,step=0.5,owner"`
}

type trailPoint struct {
	X float32 `net:"min=-8,max=8,step=0.25"`
}

// FullPrecision gives all the values that the simulation has: what others receive is what the
// owner computes with, to the last word.
func TestFullPrecision(t *testing.T) {
	coarse := compile[glider](t, schema.Options{Predicted: true})
	exact := compile[glider](t, schema.Options{Predicted: true, FullPrecision: true})
	require.Equal(t, "X", coarse.Fields()[coarse.Coarse()].Name)
	require.Negative(t, exact.Coarse(), "the fuel is its owner's alone")
	require.Negative(t, compile[glider](t, schema.Options{}).Coarse())
	number := func(rt *rapid.T, most float32) float32 { return rapid.Float32Range(-most, most).Draw(rt, "number") }
	rapid.Check(t, func(rt *rapid.T) {
		v := glider{X: number(rt, 600), Y: number(rt, 600), Fine: float64(number(rt, 12)), Heading: number(rt, 9), Turret: number(rt, 9), Loose: number(rt, 1e9), Fuel: number(rt, 200)}
		for i := range v.Spin {
			v.Spin[i] = number(rt, 1)
		}
		for range rapid.IntRange(0, 3).Draw(rt, "points") {
			v.Trail = append(v.Trail, trailPoint{number(rt, 9)})
		}
		as, is := v, v
		as.Trail, is.Trail = append([]trailPoint(nil), v.Trail...), append([]trailPoint(nil), v.Trail...)
		coarse.Snap(ptr(&as))
		exact.Snap(ptr(&is))
		require.InDelta(rt, 0, math.Remainder(float64(v.Turret-is.Turret), 2*math.Pi), math.Pi/(1<<18)+1e-6, "18 bits are the most that an angle has")
		is.Turret = as.Turret
		require.Equal(rt, as, is, "it simulates in the same steps")

		own, all := make([]int32, exact.Words()), make([]int32, exact.Words())
		exact.Quantise(ptr(&is), schema.GridSim, nil, own)
		exact.Quantise(ptr(&is), schema.GridPublic, nil, all)
		require.Equal(rt, own, all, "there is one grid")
	})
}

// Cover takes the fields that an audience does not receive from a guess, and no other field.
func TestCover(t *testing.T) {
	s := compile[glider](t, schema.Options{Predicted: true, FullPrecision: true})
	words, guess := make([]int32, s.Words()), make([]int32, s.Words())
	told, guessed := glider{X: 1, Loose: 2}, glider{X: 3, Fuel: 40}
	s.Quantise(ptr(&told), schema.GridSim, nil, words)
	s.Quantise(ptr(&guessed), schema.GridSim, nil, guess)
	for a, want := range map[schema.Audience]glider{0: {X: 1, Loose: 2, Fuel: 40}, schema.ToOwner: {X: 1, Loose: 2}} {
		got := append([]int32(nil), words...)
		s.Cover(a, got, guess)
		v := glider{}
		s.Dequantise(got, schema.GridSim, nil, ptr(&v))
		require.InDelta(t, want.X, v.X, 1e-6)
		require.InDelta(t, want.Loose, v.Loose, 1e-6)
		require.InDelta(t, want.Fuel, v.Fuel, 1e-6)
	}
	type private struct {
		N int8 `net:"owner"`
	}
	require.True(t, s.Reaches(0))
	require.False(t, compile[private](t, schema.Options{}).Reaches(0))
	require.True(t, compile[private](t, schema.Options{}).Reaches(schema.ToOwner))
}

// A registry with exact components travels as bytes like any other.
func TestFullPrecisionAsBytes(t *testing.T) {
	r := schema.NewRegistry()
	c, err := r.Component(compile[glider](t, schema.Options{Predicted: true, FullPrecision: true}))
	require.NoError(t, err)
	_, err = r.Prefab("glider", []int{c}, nil)
	require.NoError(t, err)
	again, err := schema.ReadRegistry(r.AppendSchema(nil))
	require.NoError(t, err)
	require.Equal(t, r.Describe(), again.Describe())
}
