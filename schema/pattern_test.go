package schema_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/schematest"
	"github.com/foretick/foretick/schema"
)

type wild struct{ schematest.Wild[entityRef] }

// A value of each class is packed to what is unpacked, whatever bits it holds. What arrives
// is inside its range. A float without a step arrives as it is, unless Outside names it.
func TestEveryPatternPacks(t *testing.T) {
	for _, o := range []schema.Options{{}, {Predicted: true}} {
		s := compile[wild](t, o)
		r := rand.New(rand.NewPCG(1, 2))
		found := map[string]int{}
		for range 3000 {
			var v, got wild
			schematest.Scatter(r, reflect.ValueOf(&v).Elem())
			require.NoError(t, s.UnpackRefs(s.PackRefs(ptr(&v), sameRefs{}, nil), sameRefs{}, ptr(&got)), "%+v", v)
			require.Equal(t, -1, s.Outside(ptr(&got), 0), "%+v", got)
			require.Equal(t, -1, s.Unsound(ptr(&got)), "%+v", got)
			require.Equal(t, -1, s.Unfit(ptr(&got)), "%+v", got)
			for f := s.Outside(ptr(&v), 0); f >= 0; f = s.Outside(ptr(&v), f+1) {
				found[strings.TrimPrefix(s.Fields()[f].Name, "Wild.")]++
			}
			raw := func(f float64, name string, arrived float64) {
				if name = strings.TrimPrefix(name, "Wild."); f-f != 0 {
					found[name]--
				} else {
					require.Equal(t, f, arrived)
				}
			}
			raw(float64(v.F32), "F32", float64(got.F32))
			raw(v.F64, "F64", got.F64)
			raw(float64(v.Vec[1]), "Vec[1]", float64(got.Vec[1]))
			for k, f := range v.Doubles[:min(len(v.Doubles), 3)] {
				raw(f, s.Fields()[index(s, "Wild.Doubles")+1+k].Name, got.Doubles[k])
			}
		}
		for _, name := range []string{"F32", "F64", "Vec[1]", "Doubles[0]", "Doubles[2]"} {
			require.Contains(t, found, name)
			require.Zero(t, found[name], "Outside names %s where it is not finite, and only there", name)
		}
	}
}

// index returns the index of a field.
func index(s *schema.Schema, name string) int {
	for i, f := range s.Fields() {
		if f.Name == name {
			return i
		}
	}
	return -1
}
