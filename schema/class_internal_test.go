package schema

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/foretick/foretick/internal/quantise"
	"github.com/stretchr/testify/require"
)

type handle uint64

// ofClass has a field of every class, by its number. A new class needs one here.
var ofClass = map[quantise.Class]any{
	quantise.Bool:    &struct{ F bool }{true},
	quantise.Int8:    &struct{ F int8 }{-5},
	quantise.Int16:   &struct{ F int16 }{-500},
	quantise.Int32:   &struct{ F int32 }{-500_000},
	quantise.Int64:   &struct{ F int64 }{-5_000_000_000},
	quantise.Uint8:   &struct{ F uint8 }{5},
	quantise.Uint16:  &struct{ F uint16 }{500},
	quantise.Uint32:  &struct{ F uint32 }{500_000},
	quantise.Uint64:  &struct{ F uint64 }{5_000_000_000},
	quantise.Float32: &struct{ F float32 }{1.5},
	quantise.Float64: &struct{ F float64 }{1.5},
	quantise.Step32: &struct {
		F float32 `net:"max=8,step=0.5"`
	}{1.5},
	quantise.Step64: &struct {
		F float64 `net:"max=8,step=0.5"`
	}{1.5},
	quantise.Angle32: &struct {
		F float32 `net:"angle"`
	}{0.75},
	quantise.Angle64: &struct {
		F float64 `net:"angle"`
	}{0.75},
	quantise.Ref: &struct{ F handle }{7},
	quantise.Quat: &struct {
		F [4]float32 `net:"quat"`
	}{[4]float32{0, 0, 0.6, 0.8}},
	quantise.Text: &struct {
		F string `net:"max=9"`
	}{"word"},
	quantise.Length: &struct {
		F []int16 `net:"max=3"`
	}{[]int16{1, 2}},
}

// TestClasses walks every class of leaves through what is done with values: none is left
// out by a switch, and none is taken for another.
func TestClasses(t *testing.T) {
	for c := range quantise.NumClasses {
		t.Run(c.Name(), func(t *testing.T) {
			require.NotEmpty(t, c.Name(), "class.go does not name it")
			require.Contains(t, ofClass, c, "add a value of the new class")
			families := 0
			for _, of := range quantise.Families() {
				if of(c) {
					families++
				}
			}
			require.Equal(t, 1, families, "a class is of one family")
			v := reflect.ValueOf(ofClass[c])
			s, err := Compile(v.Type().Elem(), Options{Name: "c", Predicted: true, Ref: reflect.TypeFor[handle]()})
			require.NoError(t, err)
			require.Equal(t, c, s.plan.Leaves[0].Class)
			walkClass(t, s, v)
		})
	}
}

func walkClass(t *testing.T, s *Schema, v reflect.Value) {
	fresh := func() reflect.Value { return reflect.New(v.Type().Elem()) }
	at := v.UnsafePointer()
	require.Equal(t, -1, s.Outside(at, 0))
	require.Equal(t, -1, s.Unsound(at))
	require.Equal(t, -1, s.Unfit(at))
	s.Snap(at)
	words, zero := make([]int32, s.Words()), make([]int32, s.Words())
	s.Quantise(at, GridSim, quantise.SameRefs{}, words)
	s.Quantise(fresh().UnsafePointer(), GridSim, quantise.SameRefs{}, zero)
	require.NotEqual(t, zero, words, "another value has other words")
	require.NotNil(t, s.Value(0, words, GridSim))
	require.NotEqual(t, s.Value(0, zero, GridSim), s.Value(0, words, GridSim))

	back := fresh()
	s.Dequantise(words, GridSim, quantise.SameRefs{}, back.UnsafePointer())
	require.Equal(t, v.Interface(), back.Interface(), "restored")
	again := make([]int32, s.Words())
	s.SnapWords(back.UnsafePointer(), quantise.SameRefs{}, again)
	require.Equal(t, words, again, "snapped")

	for f, want := range map[float32]reflect.Value{0: fresh(), 1: v} {
		got := fresh()
		s.Interpolate(^Audience(0), Knots{From: zero, To: words, Fraction: f}, GridSim, quantise.SameRefs{}, got.UnsafePointer())
		w := make([]int32, s.Words())
		s.Quantise(got.UnsafePointer(), GridSim, quantise.SameRefs{}, w)
		s.Quantise(want.UnsafePointer(), GridSim, quantise.SameRefs{}, again)
		require.Equal(t, again, w, "at an end of the way")
	}
	require.Equal(t, 0, s.FirstDifference(zero, words))
	require.True(t, s.Differs(0, zero, words))
	carried := append([]int32{}, zero...)
	require.True(t, s.Carry(carried, zero, words))
	require.Equal(t, words, carried, "carried on")

	packed := s.PackRefs(at, quantise.SameRefs{}, nil)
	unpacked := fresh()
	require.NoError(t, s.UnpackRefs(packed, quantise.SameRefs{}, unpacked.UnsafePointer()))
	require.Equal(t, packed, s.PackRefs(unpacked.UnsafePointer(), quantise.SameRefs{}, nil))
	require.NotEqual(t, packed, s.PackRefs(fresh().UnsafePointer(), quantise.SameRefs{}, nil))

	read, rest, err := Read(s.AppendSchema(nil))
	require.NoError(t, err)
	require.Empty(t, rest)
	require.Equal(t, s.Describe(), read.Describe(), "as bytes")
	bound, differ := read.Bind(s)
	require.Equal(t, Difference{}, differ)
	bound.Quantise(at, GridSim, quantise.SameRefs{}, again)
	require.Equal(t, words, again, "bound")
	got := fresh()
	bound.Dequantise(words, GridSim, quantise.SameRefs{}, got.UnsafePointer())
	require.Equal(t, v.Interface(), got.Interface(), "bound")

	copier, err := s.Copier()
	require.NoError(t, err)
	if copier != nil {
		got = fresh()
		copier(got.UnsafePointer(), at)
		require.Equal(t, v.Interface(), got.Interface(), "copied")
	}
	s.DropRefs(unsafe.Pointer(got.Pointer()), func(uint64) bool { return false })
}
