package schema_test

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/schema"
)

type sliding struct {
	X     float32 `net:"min=-10,max=10,step=0.1,tol=0.5"`
	Turn  float32 `net:"angle,bits=8,tol=0.2"`
	Heat  int16   `net:"min=-100,max=100,tol=5"`
	Raw   float32 `net:"tol=0.5"`
	Wide  float64 `net:"tol=0.5"`
	On    bool
	Count uint64
}

// Carry adds the error of an earlier value to a later one, within its range, and around its circle for an
// angle.
func TestCarry(t *testing.T) {
	s := compile[sliding](t, schema.Options{Predicted: true})
	require.True(t, s.Tolerant())
	words := func(v sliding) []int32 {
		w := make([]int32, s.Words())
		s.Quantise(unsafe.Pointer(&v), schema.GridSim, nil, w)
		return w
	}
	value := func(w []int32) (v sliding) {
		s.Dequantise(w, schema.GridSim, nil, unsafe.Pointer(&v))
		return v
	}
	was := sliding{X: 1, Turn: 3, Heat: 10, Raw: 1, Wide: 1, On: false, Count: 7}
	is := sliding{X: 1.25, Turn: 3.125, Heat: 12, Raw: 1.25, Wide: 1.5, On: true, Count: 9}
	later := words(sliding{X: 4, Turn: 3.1, Heat: 99, Raw: 3, Wide: 4, On: false, Count: 8})
	require.True(t, s.Carry(later, words(was), words(is)))
	got := value(later)
	require.InDelta(t, 4.25, got.X, 0.01)
	require.InDelta(t, 3.225-2*math.Pi, got.Turn, 0.01, "around the circle")
	require.EqualValues(t, 100, got.Heat, "no further than its range")
	require.EqualValues(t, 3.25, got.Raw)
	require.EqualValues(t, 4.5, got.Wide)
	require.True(t, got.On, "still as predicted: the server's")
	require.EqualValues(t, 8, got.Count, "changed since: stays")
	require.False(t, s.Carry(later, words(was), words(was)))
	require.Equal(t, got, value(later))
	same := words(was)
	require.True(t, s.Carry(same, words(was), words(is)))
	require.Equal(t, words(is), same, "the tick itself takes the server's value")
	require.False(t, compile[position](t, schema.Options{}).Tolerant())
}
