package snapshot_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/snapshot"
)

// TestLookAs compares views that share with views that each look alone. They come at
// different times, change their eyes, look at different rates, and entities come and go, so
// that slots are used again. Both are told the same, in every tick.
func TestLookAs(t *testing.T) {
	type viewer struct {
		near, alone *snapshot.AreaView
		every, eye  int
	}
	type change struct {
		id snapshot.NetID
		on bool
	}
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 3))
		a, err := snapshot.NewArea(snapshot.AreaConfig{Enter: 30, Leave: 45})
		require.NoError(t, err)
		eyes := [2][][3]float32{{{0, 0, 0}}, {{20, 0, 0}, {-80, 10, 0}}}
		type body struct {
			id   snapshot.NetID
			x, y float32
		}
		var bodies []body
		next, asked, alone, looks := snapshot.NetID(1), 0, 0, 0
		counted := func(n *int) func(snapshot.NetID) snapshot.Relevance {
			return func(id snapshot.NetID) snapshot.Relevance {
				*n++
				return []snapshot.Relevance{snapshot.ByDistance, snapshot.Always, snapshot.Never}[int(id/10)%3]
			}
		}
		var views []*viewer
		for tick := range 600 {
			for len(bodies) < 80 {
				bodies = append(bodies, body{next, r.Float32()*200 - 100, r.Float32()*200 - 100})
				next++
			}
			if r.IntN(4) == 0 {
				i := r.IntN(len(bodies))
				bodies = append(bodies[:i], bodies[i+1:]...)
			}
			a.Begin()
			for i := range bodies {
				b := &bodies[i]
				b.x, b.y = b.x+r.Float32()*6-3, b.y+r.Float32()*6-3
				if b.id%23 == 0 {
					a.PutAlways(b.id, b.id%2 == 0)
				} else {
					a.Put(b.id, b.x, b.y, 0, b.id%10 == 0)
				}
			}
			switch {
			case len(views) < 8 && r.IntN(20) == 0:
				views = append(views, &viewer{a.NewView(), a.NewView(), []int{1, 1, 2, 3}[r.IntN(4)], r.IntN(2)})
			case len(views) > 4 && r.IntN(60) == 0:
				views = views[1:] // the view leaves without notice
			case len(views) > 0 && r.IntN(60) == 0:
				views[r.IntN(len(views))].eye ^= 1
			}
			var first [2]*snapshot.AreaView
			for _, v := range views {
				if tick%v.every != 0 {
					continue
				}
				looks++
				var told, want []change
				note := func(to *[]change) func(snapshot.NetID, bool) {
					return func(id snapshot.NetID, on bool) { *to = append(*to, change{id, on}) }
				}
				set := note(&told)
				if f := first[v.eye]; f != nil {
					v.near.LookAs(f, eyes[v.eye], counted(&asked), set)
				} else {
					first[v.eye] = v.near
					v.near.Look(eyes[v.eye], counted(&asked), set)
				}
				v.alone.Look(eyes[v.eye], counted(&alone), note(&want))
				require.Equal(t, want, told, "seed %d tick %d", seed, tick)
				for _, b := range bodies {
					if v.alone.Has(b.id) != v.near.Has(b.id) || v.alone.Priority(b.id) != v.near.Priority(b.id) {
						require.Fail(t, "they differ", "seed %d tick %d entity %d", seed, tick, b.id)
					}
				}
			}
		}
		require.Greater(t, looks, 1000)
		require.Less(t, asked, alone*9/10, "looks are shared, but for those that look first or less often")
	}
}

// TestLookAsAllocatesNothing: ten views of one place, two of which look at half the rate.
func TestLookAsAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	a, err := snapshot.NewArea(snapshot.AreaConfig{Enter: 30, Leave: 45})
	require.NoError(t, err)
	var views [10]*snapshot.AreaView
	for i := range views {
		views[i] = a.NewView()
	}
	r, tick, told, asked := rand.New(rand.NewPCG(1, 1)), 0, 0, 0
	at := make([][2]float32, 300)
	for i := range at {
		at[i] = [2]float32{r.Float32()*120 - 60, r.Float32()*120 - 60}
	}
	eyes := [][3]float32{{}}
	set := func(snapshot.NetID, bool) { told++ }
	ask := func(snapshot.NetID) snapshot.Relevance { asked++; return snapshot.ByDistance }
	turn := func() {
		tick++
		a.Begin()
		for i := range at {
			at[i][0] += r.Float32()*4 - 2
			a.Put(snapshot.NetID(i+1+tick/50), at[i][0], at[i][1], 0, i == 0) // some go, others come
		}
		views[0].Look(eyes, ask, set)
		for i, v := range views[1:] {
			if i > 1 || tick%2 == 0 {
				v.LookAs(views[0], eyes, ask, set)
			}
		}
	}
	for range 2000 {
		turn()
	}
	told, asked = 0, 0
	allocs := testing.AllocsPerRun(400, turn)
	require.Less(t, allocs, 0.5) // maps may be put in order now and then
	require.Greater(t, told, 5000)
	require.Less(t, asked, 401*3+1, "one look a tick, and those of the slow two")
	t.Logf("%.2f allocations a tick, %d changes told, %d asked", allocs, told, asked)
}
