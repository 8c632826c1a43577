package schema_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/schema"
)

// bounded has a field of each sort that can leave its range, and some that cannot.
type bounded struct {
	A float32 `net:"min=-10,max=10,step=0.5"`
	B float64 `net:"min=0,max=5,step=0.01"`
	C float32 `net:"angle,bits=8"`
	D int16   `net:"min=-7,max=7"`
	E uint8   `net:"max=200"`
	F uint8
	G int64
	H float32
	I [2]float32 `net:"min=-1,max=1,step=0.1"`
	J []int8     `net:"max=3;min=-5,max=5"`
	K [4]float32 `net:"quat"`
	L [4]float64 `net:"quat"`
	M [4]uint16  `net:"quat,bits=9"`
}

// TestOutside: what Outside names is what Snap would bring back into its range, and
// nothing else.
func TestOutside(t *testing.T) {
	s, err := schema.Compile(reflect.TypeFor[bounded](), schema.Options{Predicted: true})
	require.NoError(t, err)
	rnd := rand.New(rand.NewPCG(1, 2))
	number := func(most float64) float64 { return (rnd.Float64()*2 - 1) * most }
	found := map[string]int{}
	for range 20_000 {
		v := bounded{float32(number(15)), number(8), float32(number(100)), int16(number(10)), uint8(rnd.UintN(256)),
			uint8(rnd.UintN(256)), rnd.Int64(), float32(number(1e9)), [2]float32{float32(number(1.2)), float32(number(1.2))}, nil,
			[4]float32{float32(number(1)), 1}, [4]float64{number(1), number(2)}, [4]uint16{uint16(rnd.UintN(5)), uint16(rnd.UintN(520)), 3, 4}}
		if rnd.IntN(20) == 0 {
			v.C, v.K[2], v.L[3] = float32(math.Inf(1)), float32(math.NaN()), math.Inf(-1)
		}
		if rnd.IntN(20) == 0 {
			v.K, v.L = [4]float32{}, [4]float64{} // no rotation
		}
		if rnd.IntN(20) == 0 {
			v.H = float32(math.NaN())
		}
		for range rnd.IntN(4) {
			v.J = append(v.J, int8(number(7)))
		}
		var want []string
		out := func(name string, is bool) {
			if is {
				want = append(want, name)
				found[name]++
			}
		}
		sim := 1. / 16
		out("A", math.Abs(float64(v.A)) > 10+0.25*sim)
		out("B", v.B > 5+0.005*sim || v.B < -0.005*sim)
		out("C", math.IsInf(float64(v.C), 0))
		out("D", v.D < -7 || v.D > 7)
		out("E", v.E > 200)
		out("H", v.H != v.H)
		out("I[0]", math.Abs(float64(v.I[0])) > 1+0.05*sim)
		out("I[1]", math.Abs(float64(v.I[1])) > 1+0.05*sim)
		for k, j := range v.J {
			out([]string{"J[0]", "J[1]", "J[2]"}[k], j < -5 || j > 5)
		}
		out("K", v.K[2] != v.K[2])
		out("L", math.IsInf(v.L[3], 0))
		out("M", v.M[0] > 3 || v.M[1] > 511)
		var got []string
		for f := s.Outside(unsafe.Pointer(&v), 0); f >= 0; f = s.Outside(unsafe.Pointer(&v), f+1) {
			got = append(got, s.Fields()[f].Name)
		}
		require.Equal(t, want, got, "%+v", v)
		s.Snap(unsafe.Pointer(&v))
		require.Equal(t, -1, s.Outside(unsafe.Pointer(&v), 0), "%+v", v)
	}
	require.Len(t, found, 14)
}

// TestSwallowed: a change of less than half a step is found, and its direction; one
// that goes on to another step, that is too small to matter, or that is what a float
// itself rounds by is not.
func TestSwallowed(t *testing.T) {
	type value struct {
		A float32 `net:"min=-1000,max=1000,step=1,sim=1"`
		B float32 `net:"angle,bits=8"`
		C int16
	}
	s, err := schema.Compile(reflect.TypeFor[value](), schema.Options{Predicted: true})
	require.NoError(t, err)
	for _, row := range []struct {
		before, after value
		field         int
		up            bool
	}{
		{value{A: 48}, value{A: 48 * 0.99}, 0, false},
		{value{A: 48}, value{A: 48.3}, 0, true},
		{value{A: -48}, value{A: -48.3}, 0, false},
		{value{A: 48}, value{A: 48}, -1, false},
		{value{A: 48}, value{A: 48.001}, -1, false},
		{value{A: 48}, value{A: 49.3}, -1, false},
		{value{A: 1000}, value{A: 1000.4}, 0, true},
		{value{A: 1000}, value{A: 1003}, -1, false},
		{value{B: 1}, value{B: 1.0004}, 1, true},
		{value{B: 1}, value{B: 1.0004 + 4*math.Pi}, 1, true},
		{value{B: 1}, value{B: 1.1}, -1, false},
		{value{C: 3}, value{C: 3}, -1, false},
	} {
		before := make([]int32, s.Words())
		s.Snap(unsafe.Pointer(&row.before))
		s.Quantise(unsafe.Pointer(&row.before), schema.GridSim, nil, before)
		if row.after.B == 1 || row.after.B == 0 {
			row.after.B = row.before.B
		}
		field, up := s.Swallowed(unsafe.Pointer(&row.after), before, 0)
		require.Equal(t, row.field, field, "%+v", row)
		require.Equal(t, row.up, up, "%+v", row)
		if field >= 0 {
			s.Snap(unsafe.Pointer(&row.after))
			after := make([]int32, s.Words())
			s.Quantise(unsafe.Pointer(&row.after), schema.GridSim, nil, after)
			require.Equal(t, before, after)
			require.Equal(t, -1, func() int { f, _ := s.Swallowed(unsafe.Pointer(&row.after), before, field+1); return f }())
		}
	}
}

// BenchmarkOutside holds looking for values outside of their range against Snap, which
// it precedes.
func BenchmarkOutside(b *testing.B) {
	type body struct {
		X, Y, Z    float32 `net:"min=-100,max=100,step=0.01"`
		VX, VY, VZ float32 `net:"min=-50,max=50,step=0.01"`
		Angle      float32 `net:"angle,bits=10"`
		Health     int16
	}
	s, err := schema.Compile(reflect.TypeFor[body](), schema.Options{Predicted: true})
	require.NoError(b, err)
	v := body{X: 1, Y: 2, Z: 3, VX: 4, VY: 5, VZ: 6, Angle: 1, Health: 9}
	b.Run("outside", func(b *testing.B) {
		for b.Loop() {
			s.Outside(unsafe.Pointer(&v), 0)
		}
	})
	b.Run("snap", func(b *testing.B) {
		for b.Loop() {
			s.Snap(unsafe.Pointer(&v))
		}
	})
	words := make([]int32, s.Words())
	b.Run("quantise", func(b *testing.B) {
		for b.Loop() {
			s.Quantise(unsafe.Pointer(&v), schema.GridSim, nil, words)
		}
	})
}
