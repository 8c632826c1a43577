package schema_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/schema"
)

// A value that would travel as another is found, with its field; one that the grid
// rounds is not.
func TestUnsoundFindsWhatWouldTravelAsAnother(t *testing.T) {
	type part struct {
		Level int16 `net:"min=0,max=100"`
	}
	type all struct {
		X    float32    `net:"min=-1,max=1,step=0.25"`
		Y    float64    // whole
		Aim  float32    `net:"angle"`
		Turn [4]float32 `net:"quat"`
		Slow [4]float64 `net:"quat"`
		In   [2]part
		On   bool
		List []part `net:"max=2"`
		Last uint64 `net:"max=10"`
	}
	nan, inf := math.NaN(), math.Inf(1)
	s := compile[all](t, schema.Options{Predicted: true})
	for _, c := range []struct {
		set   func(v *all)
		field string
	}{
		{func(*all) {}, ""},
		{func(v *all) { v.X = 1.12 }, ""},
		{func(v *all) { v.X = 1.2 }, "X"},
		{func(v *all) { v.X = -1.2 }, "X"},
		{func(v *all) { v.X = float32(nan) }, "X"},
		{func(v *all) { v.Y = 1e300 }, ""},
		{func(v *all) { v.Y = inf }, "Y"},
		{func(v *all) { v.Aim = 100 }, ""},
		{func(v *all) { v.Aim = float32(nan) }, "Aim"},
		{func(v *all) { v.Turn[2] = float32(inf) }, "Turn"},
		{func(v *all) { v.Slow[3] = nan }, "Slow"},
		{func(v *all) { v.In[1].Level = 101 }, "In[1].Level"},
		{func(v *all) { v.In[0].Level = -1 }, "In[0].Level"},
		{func(v *all) { v.List = []part{{Level: 7}} }, ""},
		{func(v *all) { v.Last = 10 }, ""},
		{func(v *all) { v.Last = 11 }, "Last"},
		{func(v *all) { v.Last = math.MaxUint64 }, "Last"},
	} {
		var v all
		c.set(&v)
		at := s.Unsound(ptr(&v))
		if c.field == "" {
			require.Equal(t, -1, at, "%+v", v)
			continue
		}
		require.GreaterOrEqual(t, at, 0, "%s %+v", c.field, v)
		require.Equal(t, c.field, s.Fields()[at].Name)
	}
}
