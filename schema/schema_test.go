package schema_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/schema"
)

func TestCompileErrors(t *testing.T) {
	type badTag struct {
		X float32 `net:"min=0,maks=3"`
	}
	type badStep struct {
		X float32 `net:"min=-1,max=1,step=0.3"`
	}
	type noRange struct {
		X float32 `net:"step=0.1"`
	}
	type noStep struct {
		X float32 `net:"max=3"`
	}
	type tooFine struct {
		X float32 `net:"max=100000,step=0.001"`
	}
	type badSim struct {
		X float32 `net:"max=10,step=0.1,sim=0.03"`
	}
	type stringField struct {
		In struct{ Name string }
	}
	type mapField struct{ In struct{ Bag map[int]int } }
	type longString struct {
		Name string `net:"max=256"`
	}
	type stepString struct {
		Name string `net:"max=9,step=1"`
	}
	type lerpString struct {
		Name string `net:"max=9,lerp"`
	}
	type bareSlice struct {
		In struct{ Items []uint8 }
	}
	type stepSlice struct {
		Path []float32 `net:"min=-1,max=1,step=0.5"`
	}
	type badElement struct {
		Path []float32 `net:"max=4;step=0.5"`
	}
	type halfSlice struct {
		Path []uint8 `net:"max=2.5"`
	}
	type longSlice struct {
		Path []uint8 `net:"max=1025"`
	}
	type wideSlice struct {
		Path [][8]int32 `net:"max=1000"`
	}
	type sliceOfSlices struct {
		Rows [][]uint8 `net:"max=4;max=4"`
	}
	type nested struct {
		Rows []struct {
			Cells []uint8 `net:"max=4"`
		} `net:"max=4"`
	}
	type pointers struct {
		Rows []struct {
			X    int32
			Next *int `net:"-"`
		} `net:"max=4"`
	}
	type emptyElement struct {
		Rows []struct{} `net:"max=4"`
	}
	type oneshots struct {
		Keys []bool `net:"max=4,oneshot"`
	}
	type sums struct {
		Keys []int8 `net:"max=4;sum"`
	}
	type sumBool struct {
		X bool `net:"sum"`
	}
	type sumAngle struct {
		X float32 `net:"angle,sum"`
	}
	type sumTurn struct {
		X [4]float32 `net:"quat,sum"`
	}
	type sumPress struct {
		X float32 `net:"sum,press"`
	}
	type sumLerp struct {
		X float32 `net:"sum,lerp"`
	}
	type sumRange struct {
		X int32 `net:"min=1,max=5,sum"`
	}
	type vectorOfSlices struct {
		V struct{ A, B []uint8 } `net:"vec"`
	}
	type wider struct {
		Rows []struct {
			X int8 `net:"allies"`
		} `net:"max=4,owner"`
	}
	type semicolon struct {
		X float32 `net:"min=0;max=4,step=1"`
	}
	type skippedElement struct {
		X []float32 `net:"max=4;-"`
	}
	type hiddenField struct{ x int }
	type intStep struct {
		X int32 `net:"step=2"`
	}
	type intRange struct {
		X uint8 `net:"max=256"`
	}
	type oneshot struct {
		X float32 `net:"oneshot"`
	}
	type oneshotRange struct {
		X int32 `net:"min=1,max=5,oneshot"`
	}
	type lerpBool struct {
		X bool `net:"lerp"`
	}
	type both struct {
		X float32 `net:"lerp,snap"`
	}
	type twice struct {
		X int32 `net:"max=1,max=2"`
	}
	type bitsRange struct {
		X float32 `net:"angle,bits=40"`
	}
	type turned struct {
		X float32 `net:"min=5,max=1,step=1"`
	}
	type nan struct {
		X float32 `net:"min=NaN,max=1,step=1"`
	}
	type huge struct{ X [5000]int32 }
	type machine struct{ N int }
	type machines struct {
		Of [3]struct{ N uint }
	}
	type kept struct {
		Here uintptr `net:"-"`
	}
	type deep struct {
		Own struct{ N [2]int } `net:"-"`
	}
	type packed struct {
		Turn [4]int `net:"quat"`
	}
	type elements struct {
		Items []uint `net:"max=4"`
	}
	_ = hiddenField{}.x
	for _, c := range []struct {
		v    any
		want string
	}{
		{badTag{}, `badTag.X: unknown item "maks"`},
		{badStep{}, "badStep.X: min=-1 is not a multiple of step=0.3"},
		{noRange{}, "noRange.X: step needs a range"},
		{turned{}, "turned.X: min=5 is not below max=1; say the least value as min"},
		{noStep{}, "noStep.X: a range needs a step"},
		{tooFine{}, "tooFine.X: a float32 does not tell 100000000 steps from 0 apart"},
		{badSim{}, "badSim.X: step=0.1 is not a whole number of sim=0.03"},
		{stringField{}, "stringField.In.Name: has no max; say how many bytes it has at most, as in `net:\"max=24\"`"},
		{mapField{}, "mapField.In.Bag: a map cannot be sent"},
		{longString{}, "longString.Name: max=256 is out of range; use a whole number of bytes from 1 to 255"},
		{stepString{}, "stepString.Name: a string has a max and nothing else of a number"},
		{lerpString{}, "lerpString.Name: a string has nothing to interpolate"},
		{bareSlice{}, "bareSlice.In.Items: has no max; say how many elements it has at most, as in `net:\"max=8\"`"},
		{stepSlice{}, "stepSlice.Path: what a slice has is a max; say the rest of the elements, behind a semicolon"},
		{badElement{}, "badElement.Path[0]: step needs a range"},
		{halfSlice{}, "halfSlice.Path: max=2.5 is out of range"},
		{longSlice{}, "longSlice.Path: max=1025 is out of range; use a whole number of elements from 1 to 1024"},
		{wideSlice{}, "wideSlice.Path: the slice is too long"},
		{sliceOfSlices{}, "sliceOfSlices.Rows[0]: is a slice inside of a slice; use an array there"},
		{nested{}, "nested.Rows[0].Cells: is a pointer or slice inside of a slice"},
		{pointers{}, "pointers.Rows[0].Next: is a pointer or slice inside of a slice"},
		{emptyElement{}, "emptyElement.Rows: its elements have nothing to send"},
		{oneshots{}, "oneshots.Keys: a slice holds no oneshot"},
		{sums{}, "sums.Keys: a slice holds no sum; use an array"},
		{sumBool{}, "sumBool.X: only a number can be a sum; use an integer, or a float without angle, or drop sum"},
		{sumAngle{}, "sumAngle.X: only a number can be a sum"},
		{sumTurn{}, "sumTurn.X: only a number can be a sum"},
		{sumPress{}, "sumPress.X: sum and press exclude each other"},
		{sumLerp{}, "sumLerp.X: a sum has nothing to interpolate"},
		{sumRange{}, "sumRange.X: a sum begins at 0, which is out of its range"},
		{vectorOfSlices{}, "vectorOfSlices.V.A: is part of a vector"},
		{wider{}, "wider.Rows[0].X: is for viewers that do not receive the slice"},
		{semicolon{}, "semicolon.X: a semicolon is for slices"},
		{skippedElement{}, "skippedElement.X: its elements are not sent"},
		{hiddenField{}, "hiddenField.x: is not exported"},
		{intStep{}, "intStep.X: step, sim, angle and bits are for floats"},
		{intRange{}, "intRange.X: min=0 and max=256 are no range of uint8"},
		{oneshot{}, "oneshot.X: only a bool, or an integer that can be 0, can be a oneshot"},
		{oneshotRange{}, "oneshotRange.X: only a bool, or an integer that can be 0, can be a oneshot"},
		{lerpBool{}, "lerpBool.X: a bool has nothing to interpolate"},
		{both{}, "both.X: lerp and snap exclude each other"},
		{twice{}, "twice.X: max is given twice"},
		{bitsRange{}, "bitsRange.X: bits=40 is out of range"},
		{nan{}, `nan.X: min="NaN" is not a number`},
		{huge{}, "huge.X: the array is too long"},
		{3, "int: is not a struct"},
		{machine{}, "machine.N: int has another layout on 32 bits; use int32 or int64"},
		{machines{}, "machines.Of[0].N: uint has another layout on 32 bits; use uint32 or uint64"},
		{kept{}, "kept.Here: uintptr has another layout on 32 bits"},
		{deep{}, "deep.Own.N: int has another layout on 32 bits"},
		{packed{}, "packed.Turn: int has another layout on 32 bits"},
		{elements{}, "elements.Items[0]: uint has another layout on 32 bits"},
	} {
		_, err := schema.Compile(reflect.TypeOf(c.v), schema.Options{Predicted: true})
		require.ErrorContains(t, err, c.want)
		var te *schema.TagError
		require.True(t, errors.As(err, &te))
		require.NotEmpty(t, te.Fix)
	}
	_, err := schema.Compile(nil, schema.Options{})
	require.Error(t, err)
	_, err = schema.Compile(reflect.TypeOf(command{}), schema.Options{Ref: reflect.TypeOf("")})
	require.ErrorContains(t, err, "Ref")
}

func TestDescribe(t *testing.T) {
	s := compile[position](t, schema.Options{Predicted: true})
	require.Equal(t, `component position predicted=true
position.X float32 words=1 lo=-51200 hi=51200 step=0.01 ratio=16 lerp
position.Y float32 words=1 lo=-51200 hi=51200 step=0.01 ratio=16 lerp
position.Aim float32 words=1 lo=-2048 hi=2047 step=0.0015339807878856412 ratio=16 angle lerp
`, s.Describe())
	all := compile[everything](t, schema.Options{Name: "all"})
	require.Equal(t, "all", all.Name())
	require.False(t, strings.Contains(all.Describe(), "Skipped"))
	require.Equal(t, "In.Y[1]", all.Fields()[len(all.Fields())-1].Name)
	require.True(t, all.Fields()[len(all.Fields())-1].Lerp)
}

// TestGrids: the simulation grid is idempotent, 0 is exact, the public index is
// derived, NaN is 0 and what lies outside is clamped.
func TestGrids(t *testing.T) {
	s := compile[position](t, schema.Options{Predicted: true})
	rapid.Check(t, func(rt *rapid.T) {
		p := position{X: rapid.Float32().Draw(rt, "x"), Y: rapid.Float32Range(-600, 600).Draw(rt, "y"), Aim: rapid.Float32Range(-10, 10).Draw(rt, "aim")}
		q := p
		s.Snap(ptr(&q))
		r := q
		s.Snap(ptr(&r))
		require.Equal(rt, q, r)
		require.InDelta(rt, min(max(p.Y, -512), 512), q.Y, 0.0004)
		require.InDelta(rt, 0, math.Remainder(float64(p.Aim-q.Aim), 2*math.Pi), 0.0001)
		require.GreaterOrEqual(rt, float64(q.Aim), -math.Pi-1e-6)
		var fine, again, pub, pub2 [3]int32
		s.Quantise(ptr(&p), schema.GridSim, nil, fine[:])
		s.Quantise(ptr(&q), schema.GridSim, nil, again[:])
		require.Equal(rt, fine, again)
		var back position
		s.Dequantise(fine[:], schema.GridSim, nil, ptr(&back))
		require.Equal(rt, q, back)
		s.Quantise(ptr(&p), schema.GridPublic, nil, pub[:])
		s.Quantise(ptr(&q), schema.GridPublic, nil, pub2[:])
		require.Equal(rt, pub, pub2)
		require.Equal(rt, int32(math.Floor(float64(fine[1])/16+0.5)), pub[1])
	})
	p := position{X: float32(math.NaN()), Y: float32(math.Inf(1)), Aim: float32(math.Inf(-1))}
	s.Snap(ptr(&p))
	require.Equal(t, position{X: 0, Y: 512, Aim: 0}, p)
	p = position{X: -1e-9, Aim: math.Pi}
	s.Snap(ptr(&p))
	require.Zero(t, p.X)
	require.InDelta(t, -math.Pi, p.Aim, 1e-6)
	require.Equal(t, -1, s.FirstDifference([]int32{1, 2, 3}, []int32{1, 2, 3}))
	require.Equal(t, 1, s.FirstDifference([]int32{1, 2, 3}, []int32{1, 3, 4}))
}

func TestEverything(t *testing.T) {
	s := compile[everything](t, schema.Options{})
	v := everything{B: true, I8: -128, I16: -5, I32: math.MinInt32, I64: math.MinInt64, I: -1, U8: 255, U16: 65535, U32: math.MaxUint32, U64: math.MaxUint64, U: 7, F32: -1.5, F64: math.Pi, R: 5000000000, RU: 4000000000, S64: -999.999, A64: -1, Skipped: "kept"}
	v.In.X, v.In.Y = 9.5, [2]int8{3, -4}
	words := make([]int32, s.Words())
	s.Quantise(ptr(&v), schema.GridPublic, nil, words)
	w := everything{Skipped: "kept"}
	s.Dequantise(words, schema.GridPublic, nil, ptr(&w))
	require.InDelta(t, v.A64, w.A64, 0.0001)
	require.InDelta(t, v.S64, w.S64, 1e-9)
	w.A64, w.S64 = v.A64, v.S64
	require.Equal(t, v, w)

	b := s.Pack(ptr(&v), []byte("x"))
	require.Len(t, b, 1+s.PackedSize())
	var u everything
	require.NoError(t, s.Unpack(b[1:], ptr(&u)))
	u.Skipped = "kept"
	u.A64, u.S64 = v.A64, v.S64
	require.Equal(t, v, u)
	require.ErrorIs(t, s.Unpack(b, ptr(&u)), schema.ErrMalformed)
}

func TestPackEnforcesRanges(t *testing.T) {
	s := compile[command](t, schema.Options{})
	c := command{MoveX: 5, MoveY: float32(math.NaN()), Slot: 100, At: [2]float64{math.Inf(1), 2}, Who: 9}
	b := s.Pack(ptr(&c), nil)
	var d command
	require.NoError(t, s.Unpack(b, ptr(&d)))
	require.Equal(t, command{MoveX: 1, Slot: 12, At: [2]float64{math.MaxFloat64, 2}}, d)
	bad := append([]byte(nil), b...)
	bad[0], bad[1] = 0xff, 0xff // MoveX: 511 of 0…256
	require.ErrorIs(t, s.Unpack(bad, ptr(&d)), schema.ErrMalformed)

	require.NoError(t, s.UnpackRefs(s.PackRefs(ptr(&c), sameRefs{}, nil), sameRefs{}, ptr(&d)))
	require.Equal(t, entityRef(9), d.Who)

	c = command{Fire: true, Held: true}
	e := command{Jump: true}
	s.Gather(ptr(&e), ptr(&c), make([]int64, len(s.Fields())), nil)
	require.Equal(t, command{Fire: true, Jump: true}, e)
	s.ClearMomentary(ptr(&c))
	require.Equal(t, command{Held: true}, c)
}

func TestLerp(t *testing.T) {
	s := compile[position](t, schema.Options{})
	a, b := make([]int32, 3), make([]int32, 3)
	s.Quantise(ptr(&position{X: 1, Y: -2, Aim: 3}), schema.GridPublic, nil, a)
	s.Quantise(ptr(&position{X: 3, Y: 2, Aim: -3}), schema.GridPublic, nil, b)
	var p position
	s.Interpolate(^schema.Audience(0), schema.Knots{From: a, To: b, Fraction: 0.25}, schema.GridPublic, nil, ptr(&p))
	require.InDelta(t, 1.5, p.X, 1e-6)
	require.InDelta(t, -1, p.Y, 1e-6)
	require.InDelta(t, 3+0.25*(2*math.Pi-6), p.Aim, 0.002, "along the shorter arc")
	s.Interpolate(^schema.Audience(0), schema.Knots{From: a, To: b, Fraction: 1}, schema.GridPublic, nil, ptr(&p))
	require.InDelta(t, 3, p.X, 1e-6)

	g := compile[gun](t, schema.Options{})
	x, y := make([]int32, g.Words()), make([]int32, g.Words())
	g.Quantise(ptr(&gun{Ammo: 3, Kind: 1}), schema.GridPublic, nil, x)
	g.Quantise(ptr(&gun{Ammo: 9, Kind: 2}), schema.GridPublic, nil, y)
	mine := gun{Ammo: 50, Secret: 5}
	g.Interpolate(0, schema.Knots{From: x, To: y, Fraction: 0.9}, schema.GridPublic, nil, ptr(&mine))
	require.Equal(t, gun{Ammo: 50, Secret: 5, Kind: 1}, mine)
	g.DequantiseMasked(y, schema.GridPublic, nil, ptr(&mine))
	require.Equal(t, gun{Ammo: 50, Secret: 5, Kind: 2}, mine)
}

func TestTolerance(t *testing.T) {
	type loose struct {
		X float32 `net:"min=-10,max=10,step=0.1,tol=0.05"`
		A float32 `net:"angle,bits=10,tol=0.01"`
		F float32 `net:"tol=0.5"`
		N int32   `net:"tol=2"`
	}
	s := compile[loose](t, schema.Options{Predicted: true})
	q := func(l loose) []int32 {
		w := make([]int32, s.Words())
		s.Quantise(ptr(&l), schema.GridSim, nil, w)
		return w
	}
	at := loose{X: 1, A: math.Pi, F: 1, N: 5}
	require.Equal(t, -1, s.FirstDifference(q(at), q(loose{X: 1.04, A: -math.Pi + 0.005, F: 1.4, N: 7})))
	require.Equal(t, 0, s.FirstDifference(q(at), q(loose{X: 1.06, A: math.Pi, F: 1, N: 5})))
	require.Equal(t, 1, s.FirstDifference(q(at), q(loose{X: 1, A: 3.1, F: 1, N: 5})))
	require.Equal(t, 2, s.FirstDifference(q(at), q(loose{X: 1, A: math.Pi, F: 1.6, N: 5})))
	require.Equal(t, 3, s.FirstDifference(q(at), q(loose{X: 1, A: math.Pi, F: 1, N: 8})))
}

// A tag without its quotes would be none for package reflect, and the field go as
// its bits.
func TestMalformedTag(t *testing.T) {
	for _, tag := range []reflect.StructTag{"net:min=-1,max=1,step=0.1", "net=\"owner\""} {
		bare := reflect.StructOf([]reflect.StructField{{Name: "X", Type: reflect.TypeFor[float32](), Tag: tag}})
		_, err := schema.Compile(bare, schema.Options{Name: "bare"})
		require.ErrorContains(t, err, "bare.X: its tag "+string(tag)+" is malformed; put the items into quotes")
	}
	other := reflect.StructOf([]reflect.StructField{{Name: "X", Type: reflect.TypeFor[float32](), Tag: `network:"x"`}})
	_, err := schema.Compile(other, schema.Options{Name: "other"})
	require.NoError(t, err)
}
