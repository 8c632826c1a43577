package schema_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
)

type labelled struct {
	Pos   struct{ X, Y float32 } `net:"min=-8,max=8,step=0.5" unit:"m"`
	Speed float32                `name:"ground speed" unit:"m/s"`
	State uint8                  `enum:"standing,walking,dead"`
	Items []struct {
		Count int16 `name:"amount"`
		Kind  uint8
	} `net:"max=3" enum:"none,sword"`
	Plain int32
}

func labelsOf(t testing.TB) schema.Labels {
	l := schema.Labels{}
	require.NoError(t, l.Add("Body", reflect.TypeFor[labelled]()))
	return l
}

func TestLabels(t *testing.T) {
	l := labelsOf(t)
	require.Equal(t, schema.Labels{
		"Body.Pos.X": {Unit: "m"}, "Body.Pos.Y": {Unit: "m"},
		"Body.Speed":       {Name: "ground speed", Unit: "m/s"},
		"Body.State":       {Values: []string{"standing", "walking", "dead"}},
		"Body.Items.Count": {Name: "amount", Values: []string{"none", "sword"}},
		"Body.Items.Kind":  {Values: []string{"none", "sword"}},
	}, l)
	require.Equal(t, "sword", l.Of("Body", "Items[2].Kind").Text(uint64(1)))
	require.Equal(t, "7", l.Of("Body", "Items[2].Kind").Text(7))
	require.Equal(t, "-1", l.Of("Body", "State").Text(int64(-1)))
	require.Equal(t, "dead", l.Of("Body", "State").Text(2.0))
	require.Equal(t, "1.5 m/s", l.Of("Body", "Speed").Text(float32(1.5)))
	require.Equal(t, "true", l.Of("Body", "Plain").Text(true))
	got, err := schema.ReadLabels(l.Append(nil))
	require.NoError(t, err)
	require.Equal(t, l, got)
}

func TestLabelFaults(t *testing.T) {
	long := reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[int8](), Tag: reflect.StructTag(`unit:"` + strings.Repeat("x", 65) + `"`)}})
	require.ErrorContains(t, schema.Labels{}.Add("T", long), "T.A: label")
	bad := reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[int8](), Tag: `name:"a\nb"`}})
	require.ErrorContains(t, schema.Labels{}.Add("T", bad), "printable")
	many := reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[int8](), Tag: reflect.StructTag(`enum:"` + strings.Repeat("x,", 256) + `"`)}})
	require.ErrorContains(t, schema.Labels{}.Add("T", many), "257 values")
	whole := labelsOf(t).Append(nil)
	for n := range whole {
		_, err := schema.ReadLabels(whole[:n])
		require.ErrorIs(t, err, schema.ErrMalformed, "cut to %d", n)
	}
	_, err := schema.ReadLabels(append(whole, 0))
	require.ErrorIs(t, err, schema.ErrMalformed)
	_, err = schema.ReadLabels([]byte{1, 2, 1, 'b', 1, 'x', 0, 0, 1, 'a', 1, 'x', 0, 0})
	require.ErrorContains(t, err, "order")
	_, err = schema.ReadLabels([]byte{1, 1, 1, 'b', 0, 0, 0})
	require.ErrorContains(t, err, "empty")
}

// FuzzReadLabels feeds any bytes: what is accepted is written as the same bytes again.
func FuzzReadLabels(f *testing.F) {
	f.Add(labelsOf(f).Append(nil))
	f.Add([]byte{1, 0})
	f.Add([]byte{1, 0xff, 0x1f, 1, 'a', 0, 0, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { _, _ = schema.ReadLabels(b) })
		l, err := schema.ReadLabels(b)
		if err != nil {
			require.ErrorIs(t, err, schema.ErrMalformed)
			return
		}
		require.Equal(t, b, l.Append(nil))
	})
}
