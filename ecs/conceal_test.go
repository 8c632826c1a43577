package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

// Whatever way leads to an entity that is concealed is noticed, and none that leads to
// entities that are not.
func TestConcealedEntitiesAreMissed(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	mine, gone := w.Spawn(&g.mover, 1), w.Spawn(&g.mover, 2)
	others, kid := w.Spawn(&g.person, 2), w.Spawn(&g.rock, 1)
	w.Destroy(gone)
	require.NoError(t, w.SetParent(kid, others))
	g.hp.Get(w, others).Points = 7
	q := ecs.NewQuery(g.types, ecs.With(&g.pos))
	require.Len(t, q.All(w), 3, "and its rows are cached")
	was := w.Hash(nil)
	ecs.Engine(w).Conceal(1, ecs.Common)
	ecs.Engine(w).Reveal()
	require.Equal(t, was, w.Hash(nil))
	ecs.Engine(w).Conceal(1, ecs.Common)
	for name, look := range map[string]func(){
		"Find":              func() { require.Nil(t, g.pos.Find(w, others)) },
		"Find, gone":        func() { require.Nil(t, g.pos.Find(w, gone)) },
		"Has":               func() { require.False(t, g.pos.Has(w, others)) },
		"View.Find":         func() { require.Nil(t, g.pos.View(w).Find(others)) },
		"Alive":             func() { require.False(t, w.Alive(others)) },
		"Owner":             func() { w.Owner(others) },
		"Mask":              func() { ecs.Engine(w).Mask(others) },
		"Row":               func() { ecs.Engine(w).Row(others) },
		"Pointer":           func() { require.Nil(t, ecs.Engine(w).Pointer(others, g.pos.ID())) },
		"Value":             func() { _, _ = w.Value(others, "Position.X") },
		"PartOf":            func() { ecs.Engine(w).PartOf(others) },
		"Parent":            func() { w.Parent(kid) },
		"Children":          func() { w.Children(mine) },
		"SetParent":         func() { _ = w.SetParent(mine, others) },
		"Destroy":           func() { require.False(t, w.Destroy(others)) },
		"Transfer":          func() { _ = w.Transfer(others, 1) },
		"Add":               func() { g.hp.Add(w, others, Health{3}) },
		"Remove":            func() { g.hp.Remove(w, others) },
		"All":               func() { q.All(w) },
		"All again":         func() { q.All(w) },
		"Count":             func() { q.Count(w) },
		"Owned":             func() { q.Owned(w, 2) },
		"Owned by nobody":   func() { q.Owned(w, ecs.Nobody) },
		"Owned by a third":  func() { q.Owned(w, 3) },
		"FirstOwned":        func() { q.FirstOwned(w, 2) },
		"Len":               func() { w.Len() },
		"Structure":         func() { ecs.Engine(w).Structure(2) },
		"Poll":              func() { g.anyWatch.Poll(w) },
		"a panic recovered": func() { require.Panics(t, func() { g.pos.Get(w, others) }); w.Alive(others) },
	} {
		ecs.Engine(w).Peeked()
		look()
		require.True(t, ecs.Engine(w).Peeked(), name)
		require.False(t, ecs.Engine(w).Peeked(), "it is told once")
	}
	for name, look := range map[string]func(){
		"Get":         func() { g.pos.Get(w, mine).X++ },
		"Find":        func() { require.NotNil(t, g.pos.Find(w, mine)) },
		"a component": func() { require.Nil(t, g.hp.Find(w, mine)) },
		"Has":         func() { require.False(t, g.hp.Has(w, mine)) },
		"View":        func() { require.Nil(t, g.hp.View(w).Find(mine)) },
		"Alive":       func() { require.True(t, w.Alive(mine)) },
		"Owned":       func() { require.Len(t, q.Owned(w, 1), 2) },
		"Add":         func() { g.hp.Add(w, mine, Health{1}); g.hp.Remove(w, mine) },
		"Spawn":       func() { w.Destroy(w.Spawn(&g.rock, 1)) },
	} {
		look()
		require.False(t, ecs.Engine(w).Peeked(), name)
	}
	ecs.Engine(w).Reveal()
	require.EqualValues(t, 7, g.hp.Get(w, others).Points)
	require.Equal(t, others, w.Parent(kid))
	require.Len(t, q.All(w), 3)
	require.Nil(t, g.pos.Find(w, gone))
	require.False(t, ecs.Engine(w).Peeked(), "nothing is concealed")
}

// Rows that come while others are concealed are there afterwards.
func TestConcealedRowsAndNewOnes(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	es := spread(w, &g.mover, 30, 3)
	ecs.Engine(w).Conceal(1)
	fresh := w.Spawn(&g.mover, 2)
	require.True(t, w.Alive(fresh))
	require.Panics(t, func() { ecs.Engine(w).Conceal(1) }, "twice")
	ecs.Engine(w).Reveal()
	for _, e := range append(es, fresh) {
		require.True(t, w.Alive(e))
	}
	ecs.Engine(w).Lock()
	require.Panics(t, func() { ecs.Engine(w).Conceal(1) }, "locked")
	ecs.Engine(w).Unlock()
}
