package schema_test

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/schema"
)

// SnapWords does what Quantise and Dequantise do one after the other.
func TestSnapWords(t *testing.T) {
	type floats struct {
		X, Y, Z float32 `net:"min=-100,max=100,step=0.01"`
	}
	type mixed struct {
		A float32 `net:"angle,bits=12"`
		B int16   `net:"max=300"`
		C float32 `net:"min=-1,max=1,step=0.25"`
		D float32
		E bool
	}
	fs, err := schema.Compile(reflect.TypeFor[floats](), schema.Options{Name: "floats", Predicted: true})
	require.NoError(t, err)
	ms, err := schema.Compile(reflect.TypeFor[mixed](), schema.Options{Name: "mixed", Predicted: true})
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		float := rapid.Float32()
		f := floats{float.Draw(t, "x"), float.Draw(t, "y"), float.Draw(t, "z")}
		m := mixed{float.Draw(t, "a"), rapid.Int16().Draw(t, "b"), float.Draw(t, "c"), float.Draw(t, "d"), rapid.Bool().Draw(t, "e")}
		for _, c := range []struct {
			s       *schema.Schema
			p, copy unsafe.Pointer
		}{
			{fs, unsafe.Pointer(&f), unsafe.Pointer(&floats{f.X, f.Y, f.Z})},
			{ms, unsafe.Pointer(&m), unsafe.Pointer(&mixed{m.A, m.B, m.C, m.D, m.E})},
		} {
			want, got := make([]int32, c.s.Words()), make([]int32, c.s.Words())
			c.s.Quantise(c.copy, schema.GridSim, nil, want)
			c.s.Dequantise(want, schema.GridSim, nil, c.copy)
			c.s.SnapWords(c.p, nil, got)
			require.Equal(t, want, got)
			again := make([]int32, c.s.Words())
			c.s.Quantise(c.p, schema.GridSim, nil, again)
			require.Equal(t, want, again, "the value was rounded to its words")
		}
	})
}
