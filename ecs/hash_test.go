package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

// TestHashIsCanonical builds the same things in another order, with other
// handles and owners' tables made the other way round.
func TestHashIsCanonical(t *testing.T) {
	g := newGame(t)
	build := func(order []int) *ecs.World {
		w := ecs.NewWorld(g.types, ecs.WorldConfig{})
		for range order {
			w.Destroy(w.Spawn(&g.rock, 0)) // shifts handles
		}
		for _, n := range order {
			e := w.Spawn(&g.mover, ecs.Owner(n%3))
			g.pos.Get(w, e).X = float32(n)
			if n%2 == 0 {
				g.hp.Add(w, e, Health{int16(n)})
			}
		}
		*g.score.Get(w) = 4
		return w
	}
	key := func(r ecs.Rows, i int) uint64 { return uint64(g.pos.Slice(r)[i].X) }
	a, b := build([]int{1, 2, 3, 4, 5}), build([]int{5, 3, 1, 2, 4})
	require.Equal(t, a.Hash(key), b.Hash(key))
	*g.score.Get(b) = 5
	require.NotEqual(t, a.Hash(key), b.Hash(key))
	require.Equal(t, a.Hash(key, g.pos.ID()), b.Hash(key, g.pos.ID()), "singletons count only in the whole")
	q := ecs.NewQuery(g.types, ecs.With(&g.hp))
	g.hp.Slice(q.All(b)[0])[0].Points++
	require.Equal(t, a.Hash(key, g.pos.ID()), b.Hash(key, g.pos.ID()))
	require.NotEqual(t, a.Hash(key, g.hp.ID()), b.Hash(key, g.hp.ID()))
	skip := func(ecs.Rows, int) uint64 { return ecs.SkipRow }
	require.Equal(t, a.Hash(skip, g.pos.ID()), b.Hash(skip, g.hp.ID()))
	// Two equal rows do not cancel, and swapping two keys' values shows.
	c := ecs.NewWorld(g.types, ecs.WorldConfig{})
	none := c.Hash(nil, g.pos.ID())
	c.Spawn(&g.rock, 0)
	c.Spawn(&g.rock, 0)
	require.NotEqual(t, none, c.Hash(skip0, g.pos.ID()))
}

func skip0(ecs.Rows, int) uint64 { return 0 }

func TestHashSeesParents(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	a, b, c := w.Spawn(&g.rock, 0), w.Spawn(&g.rock, 0), w.Spawn(&g.rock, 0)
	require.NoError(t, w.SetParent(c, a))
	before := w.Hash(nil)
	require.NoError(t, w.SetParent(c, b))
	require.NotEqual(t, before, w.Hash(nil))
	require.NoError(t, w.SetParent(c, a))
	require.Equal(t, before, w.Hash(nil))
}
