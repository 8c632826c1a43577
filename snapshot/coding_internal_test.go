package snapshot

import (
	"reflect"
	"sync"
	"testing"

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
	s, err := Compile(reflect.TypeFor[secret](), SchemaOptions{Predicted: true, Audiences: []string{"red", "green", "blue"}})
	require.NoError(t, err)
	read, rest, err := ReadSchema(s.AppendSchema(nil))
	require.NoError(t, err)
	require.Empty(t, rest)
	require.Equal(t, s.classes, read.classes)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for n := range 3 * 256 {
				a := audience(n)
				want, got := s.coding(a), read.coding(a)
				if !reflect.DeepEqual(want.codes, got.codes) || !reflect.DeepEqual(want.units, got.units) || !reflect.DeepEqual(want.runs, got.runs) || want.whole != got.whole || want.a != got.a {
					t.Errorf("audience %08b: %v, want %v", a, got, want)
					return
				}
				if len(*read.few.made.Load()) > mostCodings {
					t.Error("too many are kept")
				}
			}
		})
	}
	all.Wait()
}
