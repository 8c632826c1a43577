package schema_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/internal/schematest"
	"github.com/foretick/foretick/schema"
)

type mixed struct {
	Turn [4]float32 `net:"quat,slerp"`
	A    float32    `net:"lerp"`
	B    float64    `net:"lerp"`
	C    uint8      `net:"lerp"`
	D    int64      `net:"lerp"`
	E    float32    `net:"min=-1,max=1,step=0.01,lerp"`
	F    float32    `net:"angle,lerp"`
}

// Displacing a value by its offset from another gives the other; a value never leaves
// its range; nothing is allocated.
func TestDisplace(t *testing.T) {
	s := compile[mixed](t, schema.Options{Predicted: true})
	words := func(v mixed) []int32 {
		w := make([]int32, s.Words())
		s.Quantise(ptr(&v), schema.GridSim, nil, w)
		return w
	}
	draw := func(rt *rapid.T) mixed {
		v := mixed{Turn: turnOf(rt, "turn"), A: rapid.Float32Range(-9, 9).Draw(rt, "a"), B: rapid.Float64Range(-9, 9).Draw(rt, "b")}
		v.Turn[rapid.IntRange(0, 3).Draw(rt, "greatest")] = 1
		v.C, v.D = rapid.Uint8().Draw(rt, "c"), int64(rapid.Int32().Draw(rt, "d"))>>9
		v.E, v.F = rapid.Float32Range(-1, 1).Draw(rt, "e"), rapid.Float32Range(-3, 3).Draw(rt, "f")
		return v
	}
	rapid.Check(t, func(rt *rapid.T) {
		from, to := words(draw(rt)), words(draw(rt))
		var want, got mixed
		s.Dequantise(from, schema.GridSim, nil, ptr(&want))
		for i := range s.Fields() {
			s.Displace(i, to, s.Offset(i, from, to))
		}
		s.Dequantise(to, schema.GridSim, nil, ptr(&got))
		require.Less(rt, schematest.AngleBetween(want.Turn, got.Turn), 0.002)
		require.InDelta(rt, want.A, got.A, 1e-4)
		require.InDelta(rt, want.B, got.B, 1e-4)
		require.Equal(rt, want.C, got.C)
		require.Equal(rt, want.D, got.D)
		require.InDelta(rt, want.E, got.E, 1e-3)
		require.InDelta(rt, 0, math.Remainder(float64(want.F-got.F), 2*math.Pi), 2e-3)
	})
	w := words(mixed{C: 1, D: math.MaxInt64, E: 1})
	for i := range s.Fields() {
		for _, by := range []float32{2, -9, 9, float32(math.Inf(1)), float32(math.NaN())} {
			s.Displace(i, w, schema.Offset{by})
		}
	}
	a, b := words(mixed{Turn: [4]float32{1, 0, 0, 1}, A: 1, C: 3, D: 5}), words(mixed{Turn: [4]float32{0, 0, 0, 1}})
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for i := range s.Fields() {
			s.Displace(i, b, s.Offset(i, a, b))
		}
	}))
}
