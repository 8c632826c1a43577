package schema_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/schema"
)

type summed struct {
	Held int32
	Step float32    `net:"min=-1,max=1,step=0.1,sum"`
	Fine float64    `net:"min=-1,max=1,step=0.1,sum"`
	Raw  [2]float32 `net:"sum"`
	I8   int8       `net:"sum"`
	I16  int16      `net:"max=300,sum"`
	I64  int64      `net:"sum"`
	U64  uint64     `net:"sum"`
	U32  struct {
		A uint32
		B bool `net:"oneshot"`
	}
	U16 uint16 `net:"max=9,sum"`
}

// Samples add up, one-shots join, and all else is of the later sample.
func TestGather(t *testing.T) {
	s := compile[summed](t, schema.Options{})
	a := summed{1, 0.5, 0.25, [2]float32{1, -2}, 100, -200, -5, 7, struct {
		A uint32
		B bool `net:"oneshot"`
	}{3, true}, 6}
	b := summed{Held: 2, Step: -0.25, Fine: 0.5, Raw: [2]float32{3, -4}, I8: 27, I16: -100, I64: 9, U64: 1, U16: 3}
	require.Equal(t, -1, s.Gather(ptr(&b), ptr(&a)))
	want := a
	want.Held, want.Step, want.Fine, want.Raw, want.I8, want.I16, want.I64, want.U64, want.U16 = 2, 0.25, 0.75, [2]float32{4, -6}, 127, -300, 4, 8, 9
	want.U32.A = 0
	require.Equal(t, want, b)
	s.ClearMomentary(ptr(&b))
	require.Equal(t, summed{Held: 2}, b)
	require.Zero(t, testing.AllocsPerRun(10, func() { s.Gather(ptr(&b), ptr(&a)); s.ClampSums(ptr(&b)); s.Deduct(ptr(&b), ptr(&a), true) }))
}

// A sum that the type cannot hold becomes the type's limit. Gather returns the field, unless Outside finds it by
// its range.
func TestGatherWhatNoTypeHolds(t *testing.T) {
	s := compile[summed](t, schema.Options{})
	field := func(name string) int {
		for i, f := range s.Fields() {
			if f.Name == name {
				require.True(t, f.Sum)
				return i
			}
		}
		panic(name)
	}
	for _, c := range []struct {
		field     string
		a, b, sum summed
	}{
		{"I8", summed{I8: 100}, summed{I8: 28}, summed{I8: 127}},
		{"I8", summed{I8: -100}, summed{I8: -29}, summed{I8: -128}},
		{"I64", summed{I64: math.MaxInt64}, summed{I64: 1}, summed{I64: math.MaxInt64}},
		{"I64", summed{I64: math.MinInt64}, summed{I64: -1}, summed{I64: math.MinInt64}},
		{"U64", summed{U64: math.MaxUint64}, summed{U64: 1}, summed{U64: math.MaxUint64}},
		{"Raw[0]", summed{Raw: [2]float32{math.MaxFloat32}}, summed{Raw: [2]float32{math.MaxFloat32}}, summed{Raw: [2]float32{math.MaxFloat32}}},
		{"Raw[1]", summed{Raw: [2]float32{0, -math.MaxFloat32}}, summed{Raw: [2]float32{0, -math.MaxFloat32}}, summed{Raw: [2]float32{0, -math.MaxFloat32}}},
	} {
		got := c.b
		require.Equal(t, field(c.field), s.Gather(ptr(&got), ptr(&c.a)), c.field)
		require.Equal(t, c.sum, got)
	}
	ranged := summed{I16: math.MaxInt16}
	require.Equal(t, -1, s.Gather(ptr(&ranged), ptr(&summed{I16: 5})), "Outside finds it")
	require.Equal(t, int16(math.MaxInt16), ranged.I16)
	require.Equal(t, field("I16"), s.Outside(ptr(&ranged), 0))
}

// The rest that rounding left stays for the next command. The rest beyond the range stays only if more commands
// are made of the same input.
func TestDeduct(t *testing.T) {
	s := compile[summed](t, schema.Options{})
	send := func(from summed) (sent summed) {
		require.NoError(t, s.Unpack(s.Pack(ptr(&from), nil), ptr(&sent)))
		return sent
	}
	at := summed{Held: 4, Step: 2.36, Fine: 0.34, Raw: [2]float32{5, 6}, I8: 3, I16: 700, I64: 8, U64: 9, U16: 12}
	at.U32.B = true
	first := at
	s.ClampSums(ptr(&first))
	require.Equal(t, -1, s.Outside(ptr(&first), 0))
	s.Deduct(ptr(&at), ptr(new(summed)), true)
	require.False(t, at.U32.B)
	sent := send(first)
	require.Equal(t, int16(300), sent.I16)
	s.Deduct(ptr(&at), ptr(&sent), true)
	require.InDelta(t, 1.36, at.Step, 1e-6)
	require.InDelta(t, 0.04, at.Fine, 1e-9)
	require.Equal(t, summed{Held: 4, Step: at.Step, Fine: at.Fine, I16: 400, U16: 3}, at)
	sent = send(at)
	s.Deduct(ptr(&at), ptr(&sent), false)
	require.InDelta(t, 0.04, at.Fine, 1e-9, "rounding")
	require.Equal(t, summed{Held: 4, Fine: at.Fine}, at, "what is out of the range is lost")

	nan := summed{Step: float32(math.NaN()), Raw: [2]float32{float32(math.NaN())}}
	sent = send(nan)
	s.Deduct(ptr(&nan), ptr(&sent), false)
	require.Equal(t, summed{}, nan)
}
