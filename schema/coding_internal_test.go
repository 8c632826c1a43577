package schema

import (
	"reflect"
	"sync"
	"testing"

	"github.com/foretick/foretick/internal/quantise"
	"github.com/stretchr/testify/require"
)

// A schema that was read makes its codings when they are asked for, by whichever
// goroutine, keeps a few of them, and they are those of the schema it was read from.
func TestCodingsOfASchemaThatWasRead(t *testing.T) {
	type secret struct {
		All      int8
		Owner    float32 `net:"min=-1,max=1,step=0.01,owner"`
		Allies   [3]bool `net:"allies"`
		Enemies  int64   `net:"enemies"`
		Red      int32   `net:"to=red"`
		Blue     float64 `net:"to=blue"`
		RedGreen uint16  `net:"to=green,allies"`
	}
	s, err := Compile(reflect.TypeFor[secret](), Options{Predicted: true, Audiences: []string{"red", "green", "blue"}})
	require.NoError(t, err)
	read, rest, err := Read(s.AppendSchema(nil))
	require.NoError(t, err)
	require.Empty(t, rest)
	require.Equal(t, s.Plan().Classes, read.Plan().Classes)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for n := range 3 * 256 {
				a := quantise.Audience(n)
				want, got := s.Plan().Coding(a), read.Plan().Coding(a)
				if !reflect.DeepEqual(want.Codes, got.Codes) || !reflect.DeepEqual(want.Units, got.Units) || !reflect.DeepEqual(want.Runs, got.Runs) || want.Whole != got.Whole || want.Audience != got.Audience {
					t.Errorf("Audience %08b: %v, want %v", a, got, want)
					return
				}
				if len(*read.Plan().Few.Made.Load()) > quantise.MostCodings {
					t.Error("too many are kept")
				}
			}
		})
	}
	all.Wait()
}
