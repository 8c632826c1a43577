package published_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/published"
)

type value struct {
	a    uint64
	list []uint64
}

// TestHeldValueStays: a reader that never ends keeps its value, and the writer goes on.
func TestHeldValueStays(t *testing.T) {
	var c published.Cell[value]
	require.Nil(t, c.Hold())
	put := func(n uint64) {
		d := c.Draft()
		d.a, d.list = n, append(d.list[:0], n, n)
		c.Publish()
	}
	put(1)
	held := c.Hold()
	for n := uint64(2); n < 100; n++ {
		put(n)
		now := c.Hold()
		require.Equal(t, value{n, []uint64{n, n}}, now.Value)
		now.Release()
		require.Equal(t, value{1, []uint64{1, 1}}, held.Value)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { put(7) }))
	held.Release()
}

// TestManyReaders: no reader ever sees half of a value. The race detector watches.
func TestManyReaders(t *testing.T) {
	const last = 20_000
	var c published.Cell[value]
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for newest := uint64(0); newest < last; {
				p := c.Hold()
				if p == nil {
					continue
				}
				v := &p.Value
				if v.a < newest || len(v.list) != 2 || v.list[0] != v.a || v.list[1] != v.a {
					t.Errorf("half a value, or an older one than %d: %v", newest, *v)
					p.Release()
					return
				}
				newest = v.a
				p.Release()
			}
		})
	}
	for n := uint64(1); n <= last; n++ {
		d := c.Draft()
		d.a, d.list = n, append(d.list[:0], n, n)
		c.Publish()
	}
	readers.Wait()
}
