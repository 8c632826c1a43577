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
	over := make([]int64, len(s.Fields()))
	require.Empty(t, s.Gather(ptr(&b), ptr(&a), over, nil))
	want := a
	want.Held, want.Step, want.Fine, want.Raw, want.I8, want.I16, want.I64, want.U64, want.U16 = 2, 0.25, 0.75, [2]float32{4, -6}, 127, -300, 4, 8, 9
	want.U32.A = 0
	require.Equal(t, want, b)
	s.ClearMomentary(ptr(&b))
	require.Equal(t, summed{Held: 2}, b)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		s.Gather(ptr(&b), ptr(&a), over, nil)
		s.ClampSums(ptr(&b))
		s.Deduct(ptr(&b), ptr(&a), over, 1, nil)
	}))
}

// What the type of a sum cannot hold stays beside it. A type that holds as much as that becomes its limit, and
// Gather appends the field.
func TestGatherWhatNoTypeHolds(t *testing.T) {
	s := compile[summed](t, schema.Options{})
	for _, c := range []struct {
		field     string
		a, b, sum summed
		over      int64
	}{
		{"I8", summed{I8: 100}, summed{I8: 28}, summed{I8: 127}, 1},
		{"I8", summed{I8: -100}, summed{I8: -100}, summed{I8: -128}, -72},
		{"I16", summed{I16: 5}, summed{I16: math.MaxInt16}, summed{I16: math.MaxInt16}, 5},
		{"I64", summed{I64: math.MaxInt64}, summed{I64: 1}, summed{I64: math.MaxInt64}, 0},
		{"I64", summed{I64: math.MinInt64}, summed{I64: -1}, summed{I64: math.MinInt64}, 0},
		{"U64", summed{U64: math.MaxUint64}, summed{U64: 1}, summed{U64: math.MaxUint64}, 0},
		{"Raw[0]", summed{Raw: [2]float32{math.MaxFloat32}}, summed{Raw: [2]float32{math.MaxFloat32}}, summed{Raw: [2]float32{math.MaxFloat32}}, 0},
		{"Raw[1]", summed{Raw: [2]float32{0, -math.MaxFloat32}}, summed{Raw: [2]float32{0, -math.MaxFloat32}}, summed{Raw: [2]float32{0, -math.MaxFloat32}}, 0},
	} {
		at, over := sumField(t, s, c.field), make([]int64, len(s.Fields()))
		got, full := c.b, []int{99}
		if c.over == 0 {
			full = append(full, at)
		}
		require.Equal(t, full, s.Gather(ptr(&got), ptr(&c.a), over, []int{99}), c.field)
		require.Equal(t, c.sum, got)
		require.Equal(t, c.over, over[at], c.field)
	}
	a, b := summed{I64: math.MaxInt64, U64: 3}, summed{I64: 1, U64: math.MaxUint64}
	require.Equal(t, []int{sumField(t, s, "I64"), sumField(t, s, "U64")}, s.Gather(ptr(&b), ptr(&a), make([]int64, len(s.Fields())), nil))
}

func sumField(t *testing.T, s *schema.Schema, name string) int {
	for i, f := range s.Fields() {
		if f.Name == name {
			require.True(t, f.Sum)
			return i
		}
	}
	panic(name)
}

// The next commands take what exceeded the range or was left by rounding, and together no more than so many of them
// can hold.
func TestDeduct(t *testing.T) {
	s := compile[summed](t, schema.Options{})
	over := make([]int64, len(s.Fields()))
	send := func(from summed) (sent summed) {
		s.ClampSums(ptr(&from))
		require.Equal(t, -1, s.Outside(ptr(&from), 0))
		require.NoError(t, s.Unpack(s.Pack(ptr(&from), nil), ptr(&sent)))
		return sent
	}
	at := summed{Held: 4, Step: 2.36, Fine: 0.34, Raw: [2]float32{5, 6}, I8: 3, I16: 700, I64: 8, U64: 9, U16: 12}
	at.U32.B = true
	over[sumField(t, s, "I8")] = -300
	require.Empty(t, s.Deduct(ptr(&at), ptr(new(summed)), over, 3, nil))
	require.False(t, at.U32.B)
	require.Equal(t, int8(-128), at.I8, "what its type could not hold before")
	require.Equal(t, int64(-169), over[sumField(t, s, "I8")])
	sent := send(at)
	require.Equal(t, int16(300), sent.I16)
	require.Empty(t, s.Deduct(ptr(&at), ptr(&sent), over, 3, nil))
	require.InDelta(t, 1.36, at.Step, 1e-6)
	require.InDelta(t, 0.04, at.Fine, 1e-9)
	require.Equal(t, summed{Held: 4, Step: at.Step, Fine: at.Fine, I8: -128, I16: 400, U16: 3}, at)
	sent = send(at)
	lost := []int{sumField(t, s, "Step"), sumField(t, s, "I8"), sumField(t, s, "I16")}
	require.Equal(t, lost, s.Deduct(ptr(&at), ptr(&sent), over, 0, nil), "each field that lost something")
	require.InDelta(t, 0.04, at.Fine, 1e-9, "rounding")
	require.InDelta(t, 0.051, at.Step, 1e-6)
	require.Equal(t, summed{Held: 4, Step: at.Step, Fine: at.Fine}, at, "no command takes what is out of the range")
	require.Equal(t, make([]int64, len(over)), over)

	for _, c := range []struct {
		field      string
		from, want summed
	}{
		{"Step", summed{Step: 7}, summed{Step: 3.051}},
		{"Fine", summed{Fine: -7}, summed{Fine: -3.051}},
		{"I16", summed{I16: 2000}, summed{I16: 900}},
		{"I16", summed{I16: -2000}, summed{I16: -900}},
		{"U16", summed{U16: 65535}, summed{U16: 27}},
	} {
		sent := send(c.from)
		require.Equal(t, []int{sumField(t, s, c.field)}, s.Deduct(ptr(&c.from), ptr(&sent), over, 3, nil), "%+v", c.want)
		require.InDelta(t, c.want.Step, c.from.Step, 1e-6)
		require.InDelta(t, c.want.Fine, c.from.Fine, 1e-9)
		c.want.Step, c.want.Fine = c.from.Step, c.from.Fine
		require.Equal(t, c.want, c.from)
	}

	nan := summed{Step: float32(math.NaN()), Raw: [2]float32{float32(math.NaN())}}
	sent = send(nan)
	require.Equal(t, []int{sumField(t, s, "Step"), sumField(t, s, "Raw[0]")}, s.Deduct(ptr(&nan), ptr(&sent), over, 3, nil))
	require.Equal(t, summed{}, nan)
}
