package ecs_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

func TestSpawnHasTheKindsDefaults(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	e := w.Spawn(&g.person, 3)
	require.True(t, w.Alive(e))
	require.Equal(t, ecs.Owner(3), w.Owner(e))
	require.Equal(t, Health{100}, *g.hp.Get(w, e))
	require.Equal(t, Position{}, *g.pos.Get(w, e))
	require.Nil(t, g.dead.Find(w, e))
	require.Equal(t, 1, w.Len())
}

// Of two calls that destroy an entity before the flush, only the first one counts, even in a slot that is used
// again.
func TestAnEntityIsDestroyedOnce(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	for range 3 {
		var all []ecs.Entity
		for range 200 {
			all = append(all, w.Spawn(&g.mover, 1))
		}
		ecs.Engine(w).Lock()
		for i, e := range all {
			require.Equal(t, i%3 != 0 || w.Destroy(e), true)
			require.Equal(t, i%3 != 0, w.Destroy(e), "%v", e)
			require.False(t, w.Destroy(e))
			require.True(t, w.Alive(e), "until the flush")
		}
		ecs.Engine(w).Unlock()
		require.Zero(t, w.Len())
	}
}

func TestStaleHandlesAreRefused(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	e := w.Spawn(&g.mover, 1)
	require.True(t, w.Destroy(e))
	require.False(t, w.Destroy(e))
	again := w.Spawn(&g.mover, 1)
	require.Equal(t, e.Index(), again.Index())
	require.NotEqual(t, e, again)
	require.False(t, w.Alive(e))
	require.Nil(t, g.pos.Find(w, e))
	require.ErrorIs(t, w.Transfer(e, 2), ecs.ErrStale)
	require.PanicsWithError(t, "ecs: Get Position of 0.1: the entity is gone: use Find where it may be", func() { g.pos.Get(w, e) })
	require.PanicsWithError(t, "ecs: Get Health of 0.2: the entity has none: use Find where it may lack it", func() { g.hp.Get(w, again) })
	require.False(t, w.Alive(ecs.None))
	require.False(t, w.Alive(^ecs.Entity(0)))
}

func TestRangesHaveTheirOwnCounters(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	a := w.Spawn(&g.mover, 1)
	p := ecs.Engine(w).SpawnIn(ecs.RangePredicted, &g.mover, 1)
	l := ecs.Engine(w).SpawnIn(ecs.RangeLocal, &g.mover, 1)
	b := w.Spawn(&g.mover, 1)
	require.Equal(t, "0.1 p1024.1 l1536.1 1.1", a.String()+" "+p.String()+" "+l.String()+" "+b.String())
	require.Equal(t, ecs.RangePredicted, p.Range())
}

func TestStructuralCommandsWaitForTheFlush(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	q := ecs.NewQuery(g.types, ecs.With(&g.pos))
	a := w.Spawn(&g.rock, 0)
	ecs.Engine(w).Lock()
	b := w.Spawn(&g.mover, 0)
	g.pos.Get(w, b).X = 7
	g.vel.Add(w, a, Velocity{X: 1})
	g.hp.Add(w, b, Health{5})
	g.vel.Remove(w, b)
	g.vel.Add(w, b, Velocity{X: 9}) // after the removal
	require.NoError(t, w.Transfer(a, 4))
	require.Equal(t, 1, q.Count(w))
	require.Nil(t, g.vel.Find(w, a))
	ecs.Engine(w).Unlock()
	require.Equal(t, 2, q.Count(w))
	require.Equal(t, float32(7), g.pos.Get(w, b).X)
	require.Equal(t, float32(1), g.vel.Get(w, a).X)
	require.Equal(t, float32(9), g.vel.Get(w, b).X)
	require.Equal(t, int16(5), g.hp.Get(w, b).Points)
	require.Equal(t, ecs.Owner(4), w.Owner(a))
}

func TestQueriesVisitTablesInCanonicalOrder(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	q := ecs.NewQuery(g.types, ecs.With(&g.pos), ecs.Without(&g.dead))
	apart := ecs.Engine(w).Partition(2)
	for _, o := range []ecs.Owner{9, ecs.ClientOnly, ecs.Common, apart, 2, ecs.Nobody} {
		w.Spawn(&g.person, o)
		w.Spawn(&g.rock, o)
		w.Spawn(&g.empty, o)
	}
	var got []ecs.Owner
	for _, r := range q.All(w) {
		got = append(got, r.Owner())
	}
	one := []ecs.Owner{ecs.Nobody, ecs.Common, 2, 2, 9, ecs.ClientOnly}
	require.Equal(t, append(slices.Clone(one), one...), got, "what is Nobody's on a server comes at its place on clients too")
	require.Len(t, q.Owned(w, 9), 2)
	require.Empty(t, q.Owned(w, 77))
}

// Components that a system adds and removes wait for the flush, and can be read until then.
func TestDeferredChanges(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	a, b := w.Spawn(&g.rock, 1), w.Spawn(&g.person, 2)
	require.Zero(t, ecs.Engine(w).Deferred())
	ecs.Engine(w).Lock()
	g.vel.Add(w, a, Velocity{})
	g.hp.Remove(w, b)
	w.Destroy(a)
	require.Equal(t, 3, ecs.Engine(w).Deferred())
	for i, want := range []struct {
		e  ecs.Entity
		id ecs.ID
	}{{a, g.vel.ID()}, {b, g.hp.ID()}} {
		e, id, ok := ecs.Engine(w).DeferredChange(i)
		require.True(t, ok)
		require.Equal(t, want.e, e)
		require.Equal(t, want.id, id)
	}
	_, _, ok := ecs.Engine(w).DeferredChange(2)
	require.False(t, ok, "it destroys")
	ecs.Engine(w).Unlock()
	require.Zero(t, ecs.Engine(w).Deferred())
}

func TestPlaceTakesAGivenHandle(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	e := ecs.MakeEntity(200, 5)
	require.NoError(t, ecs.Engine(w).Place(e, &g.rock, 2))
	require.ErrorIs(t, ecs.Engine(w).Place(e, &g.rock, 2), ecs.ErrOccupied)
	require.True(t, w.Alive(e))
	a := w.Spawn(&g.rock, 2) // in a separate page
	require.NotEqual(t, e.Index(), a.Index())
	next := a + 3 // not taken yet
	require.NoError(t, ecs.Engine(w).Place(next, &g.rock, 2))
	seen := map[uint32]bool{a.Index(): true, next.Index(): true, e.Index(): true}
	for range 100 {
		n := w.Spawn(&g.rock, 2)
		require.False(t, seen[n.Index()], "%v", n)
		seen[n.Index()] = true
	}
	require.True(t, w.Destroy(e))
	require.NoError(t, ecs.Engine(w).Place(e, &g.rock, 3))
	require.Equal(t, ecs.Owner(3), w.Owner(e))
}

func TestSaveAndRestore(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	h := ecs.Engine(w).NewHistory(4)
	a := w.Spawn(&g.person, 1)
	*g.name.Get(w, a) = Name{"ann"}
	*g.score.Get(w) = 5
	h.Save(0)
	b := w.Spawn(&g.person, 1)
	g.pos.Get(w, a).X = 4
	*g.name.Get(w, a) = Name{"bob"}
	*g.score.Get(w) = 6
	w.Destroy(a)
	h.Save(1)
	h.Restore(0)
	require.True(t, w.Alive(a))
	require.False(t, w.Alive(b))
	require.Equal(t, float32(0), g.pos.Get(w, a).X)
	require.Equal(t, "ann", g.name.Get(w, a).Text)
	require.Equal(t, int64(5), *g.score.Get(w))
	require.Equal(t, b, w.Spawn(&g.person, 1))
	h.Restore(1)
	require.False(t, w.Alive(a))
	require.True(t, w.Alive(b))
	require.Equal(t, int64(6), *g.score.Get(w))
	require.Equal(t, 1, w.Len())
	require.Panics(t, func() { h.Restore(3) })
}

func TestChildrenDieWithTheirParent(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	a, b, c := w.Spawn(&g.rock, 0), w.Spawn(&g.mover, 0), w.Spawn(&g.rock, 1)
	require.NoError(t, w.SetParent(b, a))
	require.NoError(t, w.SetParent(c, b))
	require.ErrorIs(t, w.SetParent(a, c), ecs.ErrCycle)
	require.Equal(t, []ecs.Entity{b}, w.Children(a))
	require.Equal(t, b, w.Parent(c))
	h := ecs.Engine(w).NewHistory(1)
	h.Save(0)
	w.Destroy(a)
	require.Equal(t, 0, w.Len())
	h.Restore(0)
	require.Equal(t, []ecs.Entity{c}, w.Children(b))
	require.NoError(t, w.SetParent(c, ecs.None))
	w.Destroy(b)
	require.True(t, w.Alive(c))
	require.Equal(t, ecs.None, w.Parent(c))
}
