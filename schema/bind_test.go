package schema_test

import (
	"math"
	"testing"
	"unsafe"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
	"github.com/stretchr/testify/require"
)

// elder and younger are one component in two builds of a game.
type elder struct {
	X, Y  float32 `net:"min=-512,max=512,step=0.01,lerp"`
	Ammo  uint8   `net:"max=60,owner"`
	Score int16
	Mode  uint8
	Gone  int32 `net:"min=5,max=9"`
	Who   entityRef
	Turn  [4]float32 `net:"quat,bits=9,lerp"`
	Fire  bool       `net:"oneshot"`
	Open  bool
	Far   int64
	Wide  uint64
}

type younger struct {
	New   [2]float32 // added
	Turn  [4]float64 `net:"quat,bits=10,lerp"` // wider, and reordered
	Y     float64    `net:"min=-512,max=512,step=0.001,lerp"`
	X     float32    `net:"min=-512,max=512,step=0.01,lerp"`
	Score int32      // wider
	Ammo  uint8      `net:"max=60,owner"`
	Mode  entityRef  // something else by the same name
	Who   entityRef
	Fire  bool `net:"oneshot"`
	Open  uint8
	Far   uint16
	Wide  int64
}

func bound(t *testing.T, wire, own *schema.Schema) (*schema.Schema, schema.Difference) {
	read, _, err := schema.Read(wire.AppendSchema(nil))
	require.NoError(t, err)
	return read.Bind(own)
}

// TestBind: values of one build's words arrive in the other build's type by name.
func TestBind(t *testing.T) {
	old, now := compile[elder](t, schema.Options{Name: "c", Predicted: true}), compile[younger](t, schema.Options{Name: "c", Predicted: true})
	s, d := bound(t, old, now)
	require.Equal(t, schema.Difference{
		Missing: []string{"New[0]", "New[1]", "Mode"}, Unknown: []string{"Mode", "Gone"},
		Changed: []string{"Y", "Score", "Turn", "Open", "Far", "Wide"},
	}, d)
	require.Equal(t, old.Describe(), s.Describe(), "it codes what the other does")
	require.Equal(t, now.Type(), s.Type())
	v := elder{X: 1.25, Y: -3.5, Ammo: 9, Score: -300, Mode: 4, Gone: 6, Who: 77, Turn: [4]float32{0, 0, 0, 1}, Fire: true, Open: true, Far: 70000, Wide: math.MaxUint64}
	words := make([]int32, old.Words())
	old.Quantise(ptr(&v), schema.GridSim, sameRefs{}, words)
	got := younger{New: [2]float32{8, 9}, Mode: 5}
	s.Dequantise(words, schema.GridSim, sameRefs{}, ptr(&got))
	want := younger{New: [2]float32{8, 9}, Turn: [4]float64{0, 0, 0, 1}, Y: float64(float32(-3.5)), X: 1.25, Score: -300, Ammo: 9, Mode: 5, Who: 77, Fire: true, Open: 1, Far: math.MaxUint16, Wide: math.MaxInt64}
	require.Equal(t, want, got)
	got.Ammo = 3
	s.DequantiseMasked(words, schema.GridSim, sameRefs{}, ptr(&got))
	require.EqualValues(t, 3, got.Ammo, "a field for the owner")
	got.Ammo = 9

	// Back again: what is not known here is zero, in its range.
	again, known := make([]int32, old.Words()), make([]int32, old.Words())
	s.Quantise(ptr(&got), schema.GridSim, sameRefs{}, again)
	s.Known(words, schema.GridSim, known)
	require.Equal(t, known, again)
	var back elder
	old.Dequantise(again, schema.GridSim, sameRefs{}, ptr(&back))
	want2 := v
	want2.Mode, want2.Gone, want2.Far, want2.Wide = 0, 5, math.MaxUint16, math.MaxInt64
	require.Equal(t, want2, back)
	require.Equal(t, -1, s.FirstDifference(again, words), "what is not known, or does not fit, is no difference")
	again[0]++
	require.Equal(t, 0, s.FirstDifference(again, words))
	again[0]--

	// Packed, as a command is.
	packed := s.PackRefs(ptr(&got), sameRefs{}, nil)
	require.Equal(t, old.PackRefs(ptr(&want2), sameRefs{}, nil), packed)
	var unpacked younger
	require.NoError(t, s.UnpackRefs(packed, sameRefs{}, ptr(&unpacked)))
	require.Equal(t, got.Score, unpacked.Score)
	require.Zero(t, unpacked.New)
	require.ErrorIs(t, s.Unpack(packed[1:], ptr(&unpacked)), schema.ErrMalformed)
	s.ClearMomentary(ptr(&got))
	require.False(t, got.Fire)
	s.Gather(ptr(&got), ptr(&unpacked), make([]int64, len(s.Fields())), nil)
	require.True(t, got.Fire)
}

// TestBindSnapsAndBlends: a prediction in the wider type snaps to the other build's grid, and drawn values are
// blended.
func TestBindSnapsAndBlends(t *testing.T) {
	old, now := compile[elder](t, schema.Options{Name: "c", Predicted: true}), compile[younger](t, schema.Options{Name: "c", Predicted: true})
	s, _ := bound(t, old, now)
	v := younger{X: 1.23456, Y: 1.23456, Turn: [4]float64{0, 0, 0, 1}, New: [2]float32{1, 2}}
	s.Snap(ptr(&v))
	twice := v
	s.Snap(ptr(&twice))
	require.Equal(t, v, twice)
	require.InDelta(t, 1.23456, v.Y, 0.001)
	require.EqualValues(t, v.X, v.Y)
	require.Equal(t, [2]float32{1, 2}, v.New)
	a, b := make([]int32, s.Words()), make([]int32, s.Words())
	s.Quantise(ptr(&v), schema.GridSim, nil, a)
	v.X, v.Y = 2, -2
	s.Quantise(ptr(&v), schema.GridSim, nil, b)
	half := younger{New: [2]float32{7, 7}}
	s.Interpolate(^schema.Audience(0), schema.Knots{From: a, To: b, Fraction: 0.5}, schema.GridSim, nil, ptr(&half))
	require.InDelta(t, (1.23456+2)/2, half.X, 0.001)
	require.InDelta(t, (1.23456-2)/2, half.Y, 0.001)
	require.Equal(t, [2]float32{7, 7}, half.New)
}

// TestBindSteppedFloats: what is fast for a component of floats with a step alone
// still takes the other build's order.
func TestBindSteppedFloats(t *testing.T) {
	type old struct {
		X, Y, Z float32 `net:"min=-8,max=8,step=0.25"`
	}
	type now struct {
		Z float32 `net:"min=-8,max=8,step=0.25"`
		X float32 `net:"min=-8,max=8,step=0.25"`
	}
	o := schema.Options{Name: "c", Predicted: true}
	wire := compile[old](t, o)
	s, _ := bound(t, wire, compile[now](t, o))
	v := now{X: 1.26, Z: -3.01}
	words := make([]int32, s.Words())
	s.SnapWords(ptr(&v), nil, words)
	require.Equal(t, now{X: 1.265625, Z: -3.015625}, v)
	var back old
	wire.Dequantise(words, schema.GridSim, nil, ptr(&back))
	require.Equal(t, old{X: 1.265625, Z: -3.015625}, back)
	require.Equal(t, -1, s.FirstDifference(words, []int32{words[0], 99, words[2]}))
	require.Equal(t, 2, s.FirstDifference(words, []int32{words[0], words[1], 0}))
}

// TestBindAnyNumbers: every sort of number becomes every other, to the nearest value.
func TestBindAnyNumbers(t *testing.T) {
	type ints struct{ A, B, C, D, E, F, G int64 }
	type small struct {
		A bool
		B uint8
		C int16
		D float32
		E float64
		F uint64
		G int64
	}
	wire, own := compile[ints](t, schema.Options{Name: "n"}), compile[small](t, schema.Options{Name: "n"})
	s, d := bound(t, wire, own)
	require.Len(t, d.Changed, 6)
	for _, c := range []struct {
		from ints
		want small
	}{
		{ints{1, 2, 3, 4, 5, 6, 7}, small{true, 2, 3, 4, 5, 6, 7}},
		{ints{-9, -2, -40000, -4, -5, -6, -7}, small{false, 0, math.MinInt16, -4, -5, 0, -7}},
		{ints{5, 700, 40000, 1 << 40, 1 << 50, math.MaxInt64, math.MinInt64}, small{true, 255, math.MaxInt16, 1 << 40, 1 << 50, math.MaxInt64, math.MinInt64}},
	} {
		words := make([]int32, wire.Words())
		wire.Quantise(ptr(&c.from), schema.GridPublic, nil, words)
		var got small
		s.Dequantise(words, schema.GridPublic, nil, ptr(&got))
		require.Equal(t, c.want, got)
	}
	back, _ := bound(t, own, wire)
	for _, c := range []struct {
		from small
		want ints
	}{
		{small{true, 200, -5, 2.5, -1e30, math.MaxUint64, -1}, ints{1, 200, -5, 2, math.MinInt64, math.MaxInt64, -1}},
		{small{D: 3.5, E: 1e19}, ints{D: 4, E: math.MaxInt64}},
	} {
		words := make([]int32, own.Words())
		own.Quantise(ptr(&c.from), schema.GridPublic, nil, words)
		var got ints
		back.Dequantise(words, schema.GridPublic, nil, ptr(&got))
		require.Equal(t, c.want, got)
	}
}

// TestBoundSchemasDoNotAllocate: a client of another build pays time, not garbage.
func TestBoundSchemasDoNotAllocate(t *testing.T) {
	costtest.Allocations(t)
	old, now := compile[elder](t, schema.Options{Name: "c", Predicted: true}), compile[younger](t, schema.Options{Name: "c", Predicted: true})
	s, _ := bound(t, old, now)
	v := &younger{X: 1, Y: 2, Turn: [4]float64{0, 0, 0, 1}}
	a, b := make([]int32, s.Words()), make([]int32, s.Words())
	packed := make([]byte, 0, s.PackedSize())
	require.Zero(t, testing.AllocsPerRun(100, func() {
		s.Snap(unsafe.Pointer(v))
		s.Quantise(unsafe.Pointer(v), schema.GridSim, nil, a)
		s.Known(a, schema.GridSim, b)
		s.FirstDifference(a, b)
		s.Dequantise(a, schema.GridSim, nil, unsafe.Pointer(v))
		s.Interpolate(^schema.Audience(0), schema.Knots{From: a, To: b, Fraction: 0.5}, schema.GridSim, nil, unsafe.Pointer(v))
		packed = s.Pack(unsafe.Pointer(v), packed[:0])
		if s.Unpack(packed, unsafe.Pointer(v)) != nil {
			panic("unpack")
		}
	}))
}
