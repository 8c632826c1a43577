package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

func TestOthersKeepTheirOrder(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	es := spread(w, &g.mover, 30, 3)
	q := ecs.NewQuery(g.types, ecs.With(&g.pos))
	order := func(o ecs.Owner) []ecs.Entity {
		var out []ecs.Entity
		for _, r := range q.Owned(w, o) {
			out = append(out, r.Entities()...)
		}
		return out
	}
	two := append([]ecs.Entity(nil), order(2)...)
	w.Destroy(es[0])
	require.NoError(t, w.Transfer(es[3], 3))
	ecs.Engine(w).ReleaseOwner(1)
	require.Empty(t, order(1))
	require.Equal(t, two, order(2))
	require.Equal(t, es[3], order(3)[len(order(3))-1])
	require.Equal(t, 21, w.Len())
	w.DestroyAll(q)
	require.Equal(t, 0, w.Len())
}

func TestTransferMakesOwnerSavesVoid(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	a, _ := w.Spawn(&g.mover, 1), w.Spawn(&g.mover, 2)
	one, two, three := ecs.Engine(w).NewOwnerHistory(1, 1), ecs.Engine(w).NewOwnerHistory(2, 1), ecs.Engine(w).NewOwnerHistory(3, 1)
	for _, h := range []*ecs.History{one, two, three} {
		require.False(t, h.Holds(0))
		h.Save(0)
		require.True(t, h.Holds(0))
	}
	require.NoError(t, w.Transfer(a, 2))
	require.False(t, one.Holds(0))
	require.False(t, two.Holds(0))
	require.True(t, three.Holds(0))
	require.Panics(t, func() { two.Restore(0) })
	two.Save(0)
	w.Destroy(a)
	two.Restore(0)
	require.True(t, w.Alive(a))
	require.Equal(t, ecs.Owner(2), w.Owner(a))
}

// TestIndicesOfStraysComeHome moves entities away from the owner whose handles
// they have, for ever: the indices must not run out.
func TestIndicesOfStraysComeHome(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	highest := uint32(0)
	for range 20_000 {
		e := w.Spawn(&g.mover, 1)
		require.NoError(t, w.Transfer(e, 2))
		w.Destroy(e)
		highest = max(highest, e.Index())
	}
	require.Less(t, highest, uint32(1024))
	require.Equal(t, 0, w.Len())
}

func TestWatchDeliversOnceAndIsRolledBack(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	h := ecs.Engine(w).NewHistory(1)
	a, b := w.Spawn(&g.rock, 2), w.Spawn(&g.mover, 1)
	h.Save(0)
	poll := func() (in, out []ecs.Entity) {
		in, out = g.anyWatch.Poll(w)
		return append([]ecs.Entity(nil), in...), append([]ecs.Entity(nil), out...)
	}
	in, out := poll()
	require.Equal(t, []ecs.Entity{b, a}, in, "by owner")
	require.Empty(t, out)
	in, out = poll()
	require.Empty(t, in)
	require.Empty(t, out)
	told := ecs.Engine(w).NewHistory(1)
	told.Save(0) // what was reported is part of the save
	g.dead.Add(w, b, Dead{})
	w.Destroy(a)
	c := w.Spawn(&g.rock, 2)
	w.Destroy(w.Spawn(&g.rock, 2)) // came and went unseen
	require.NoError(t, w.Transfer(c, 3))
	in, out = poll()
	require.Equal(t, []ecs.Entity{c}, in)
	require.Equal(t, []ecs.Entity{b, a}, out)
	told.Restore(0)
	in, out = poll()
	require.Empty(t, in, "told before the save")
	require.Empty(t, out)
	h.Restore(0)
	in, _ = poll()
	require.Equal(t, []ecs.Entity{b, a}, in, "the tick runs again and is told again")
	require.Panics(t, func() { ecs.NewWatch(g.types) })
}

func TestPlaceBringsAnIndexHome(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	e := w.Spawn(&g.rock, 1)
	require.NoError(t, w.Transfer(e, 2))
	w.Destroy(e) // away: its index waits
	require.NoError(t, ecs.Engine(w).Place(e, &g.rock, 1))
	w.Destroy(e) // at home: free at once
	require.Equal(t, e.Index(), w.Spawn(&g.rock, 1).Index())
}

func TestWatchKeepsWhatMovedOnThroughARestore(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	e := w.Spawn(&g.rock, 1)
	g.anyWatch.Poll(w)
	require.NoError(t, w.Transfer(e, 2))
	h := ecs.Engine(w).NewOwnerHistory(1, 1)
	h.Save(0) // the watch still has e under owner 1
	in, out := g.anyWatch.Poll(w)
	require.Empty(t, in)
	require.Empty(t, out)
	h.Restore(0)
	in, out = g.anyWatch.Poll(w)
	require.Empty(t, in)
	require.Empty(t, out, "it matches, under owner 2")
}

func TestRestoreOfAChildWhoseParentIsGone(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	parent, child := w.Spawn(&g.rock, 2), w.Spawn(&g.rock, 1)
	require.NoError(t, w.SetParent(child, parent))
	h := ecs.Engine(w).NewOwnerHistory(1, 1)
	h.Save(0)
	w.Destroy(parent)
	require.False(t, w.Alive(child))
	h.Restore(0)
	require.True(t, w.Alive(child))
	require.Equal(t, ecs.None, w.Parent(child))
	require.Equal(t, 1, w.Len())
}

func TestGenerationsComeRound(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	last := ecs.MakeEntity(0, 1<<24-1) // the greatest generation of index 0
	require.NoError(t, ecs.Engine(w).Place(last, &g.rock, 1))
	w.Destroy(last)
	require.NoError(t, ecs.Engine(w).Place(ecs.MakeEntity(0, 1), &g.rock, 1))
	require.False(t, w.Alive(last))
	require.ErrorIs(t, ecs.Engine(w).Place(5, &g.rock, 1), ecs.ErrStale, "generation 0 is nobody's")
	require.Error(t, ecs.Engine(w).Place(ecs.MakeEntity(3<<30, 1), &g.rock, 1), "no such range")
}

// TestRestoreLeavesEntitiesOfOthersInItsPages places another's entity among an
// owner's indices: the owner's restore must not bring it back.
func TestRestoreLeavesEntitiesOfOthersInItsPages(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	a := w.Spawn(&g.rock, 1)
	placed := a + 1
	require.NoError(t, ecs.Engine(w).Place(placed, &g.rock, 2))
	h := ecs.Engine(w).NewOwnerHistory(1, 1)
	h.Save(0)
	w.Destroy(placed)
	b := w.Spawn(&g.rock, 1)
	h.Restore(0)
	require.True(t, w.Alive(a))
	require.False(t, w.Alive(b))
	require.False(t, w.Alive(placed))
	require.Equal(t, 1, w.Len())
}

func TestWatchIsRolledBackWhereNothingMoved(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	e := w.Spawn(&g.rock, 1)
	h := ecs.Engine(w).NewHistory(1)
	h.Save(0)
	for range 2 {
		in, _ := g.anyWatch.Poll(w)
		require.Equal(t, []ecs.Entity{e}, in)
		h.Restore(0)
	}
}
