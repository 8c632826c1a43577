package ecs_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

// A second part of an owner's entities reports the owner. It neither runs nor rolls back with the owner's other
// entities.
func TestApart(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	apart := ecs.Engine(w).Partition(3)
	require.Equal(t, apart, ecs.Engine(w).Partition(3))
	require.NotEqual(t, apart, ecs.Engine(w).Partition(4))
	require.NotEqual(t, ecs.Owner(3), apart)
	own, other := w.Spawn(&g.mover, 3), w.Spawn(&g.mover, apart)
	require.Equal(t, ecs.Owner(3), w.Owner(own))
	require.Equal(t, ecs.Owner(3), w.Owner(other))
	q := ecs.NewQuery(g.types, ecs.With(&g.pos))
	for _, r := range q.All(w) {
		require.Equal(t, ecs.Owner(3), r.Owner())
	}
	require.Equal(t, []ecs.Entity{own}, q.Owned(w, 3)[0].Entities())
	require.Equal(t, []ecs.Entity{other}, q.Owned(w, apart)[0].Entities())

	h := ecs.Engine(w).NewOwnerHistory(3, 1)
	h.Save(0)
	g.pos.Get(w, own).X, g.pos.Get(w, other).X = 1, 2
	late := w.Spawn(&g.rock, apart)
	h.Restore(0)
	require.Zero(t, g.pos.Get(w, own).X)
	require.Equal(t, float32(2), g.pos.Get(w, other).X)
	require.True(t, w.Alive(late))

	require.NoError(t, w.Transfer(other, 3))
	require.Equal(t, 2, q.Owned(w, 3)[0].Len())
	require.False(t, h.Holds(0), "a transfer between the two parts makes saves void as any does")
	require.NoError(t, w.Transfer(own, apart))
	require.Equal(t, ecs.Owner(3), w.Owner(own))
	require.Panics(t, func() { ecs.Engine(w).Partition(ecs.ClientOnly) })
}

// Names come from the upper end, past those that players have there.
func TestApartFindsAFreeName(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	w.Spawn(&g.rock, ecs.ClientOnly-1)
	require.Equal(t, ecs.ClientOnly-2, ecs.Engine(w).Partition(1))
}

// Systems that leave owners out get none of their rows. The order of the other rows does not change.
func TestExecutePartsWhere(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	for o := range ecs.Owner(4) {
		w.Spawn(&g.rock, o)
	}
	var log []string
	s := ecs.NewSchedule[*frame](g.types)
	for _, name := range []string{"a", "b"} {
		s.Add(name, func(_ *frame, r ecs.Rows) { log = append(log, fmt.Sprint(name, r.Owner())) }, ecs.Read(&g.pos))
	}
	s.Add("once", func(*frame, ecs.Rows) { log = append(log, "once") }, ecs.Once())
	s.Add("other", func(*frame, ecs.Rows) { log = append(log, "other") }, ecs.Once(), ecs.Tags("other"))
	require.NoError(t, s.Build())
	s.ExecutePartsWhere(w, &frame{w: w}, func(system int, o ecs.Owner) bool {
		return s.Systems()[system].Name == "a" || o == 2
	}, 3, 2, 1)
	require.Equal(t, []string{"a1", "a2", "a3", "b2", "once"}, log)

	log = nil
	names := []string{"b", "once", "other"} // the last one has a tag that the world has not
	runs := func(system int) bool { return slices.Contains(names, s.Systems()[system].Name) }
	s.ExecuteOwner(w, &frame{w: w}, runs, 3)
	require.Equal(t, []string{"b3", "once"}, log, "a Once system runs if it is asked for …")
	log, names = nil, names[:1]
	s.ExecuteOwner(w, &frame{w: w}, runs, 3)
	require.Equal(t, []string{"b3"}, log, "… and only then")
}
