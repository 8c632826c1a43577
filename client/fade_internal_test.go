package client

import (
	"math"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/stretchr/testify/require"
)

// The drawn value stays where it was at a correction, even while others still fade. This is true for
// rotations, floats with and without a step, and integers.
func TestCorrectionsAddUp(t *testing.T) {
	type pose struct {
		Turn [4]float32 `net:"quat,slerp"`
		X    float32    `net:"min=-512,max=512,step=0.01,lerp"`
		Free float32    `net:"lerp"`
		Deep int64      `net:"lerp"`
	}
	described, err := schema.Compile(reflect.TypeFor[pose](), schema.Options{})
	require.NoError(t, err)
	words := func(angle float64, axis int, v float32) []int32 {
		p := pose{X: v, Free: v, Deep: int64(v)}
		p.Turn[axis], p.Turn[3] = float32(math.Sin(angle/2)), float32(math.Cos(angle/2))
		out := make([]int32, described.Words())
		described.Quantise(unsafe.Pointer(&p), schema.GridSim, nil, out)
		return out
	}
	c := &layout.Component{Schema: described}
	f := fades{fade: prediction.Fade{Limit: 100}}
	drawn := func(is []int32) []int32 {
		k := f.offset(c, 1, 0, schema.Knots{From: is, To: is})
		x, y := k.From, k.To
		require.Equal(t, x, y)
		return append([]int32(nil), x...)
	}
	was := words(0, 0, 0)
	for i, is := range [][]int32{words(1, 0, 3), words(0.4, 1, -6), words(-1.2, 2, 9), words(0.3, 0, 9), words(2, 1, -20)} {
		f.age(30 * time.Millisecond)
		before := drawn(was)
		for field := range described.Fields() {
			f.addFade(1, 0, field, described, was, is)
		}
		after := drawn(is)
		for field, info := range described.Fields() {
			far, least := described.Offset(field, before, after).Size(), 0.02
			if info.Name == "Deep" {
				least = 1
			}
			require.LessOrEqual(t, float64(far), least, "correction %d moves %s", i, info.Name)
		}
		was = is
	}
	require.Len(t, f.items, 4)
	f.age(10 * time.Second)
	require.Empty(t, f.items, "all has faded")
	require.Equal(t, was, drawn(was))

	f.fade.Limit = 0.5
	next := words(1, 2, -10) // every difference is too large
	for field := range described.Fields() {
		f.addFade(1, 0, field, described, was, next)
	}
	require.Equal(t, next, drawn(next), "a large correction is shown at once")
}
