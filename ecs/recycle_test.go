package ecs_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
)

// TestRecycle has 4096 owners spawn and destroy entities of 32 prefabs, within a tick
// and outside one: 262 144 tables, of which a world holds 65 535.
func TestRecycle(t *testing.T) {
	costtest.Memory(t)
	const owners, prefabs = 4096, 32
	types := ecs.NewTypes()
	var number ecs.Component[int32]
	require.NoError(t, types.Register(&number))
	var marks [5]ecs.Component[uint8] // in each combination
	var kinds [prefabs]ecs.Prefab
	for i := range marks {
		require.NoError(t, types.Register(&marks[i], ecs.Named(fmt.Sprint("mark", i))))
	}
	for k := range kinds {
		with := []ecs.Handle{&number}
		for i := range marks {
			if k>>i&1 != 0 {
				with = append(with, &marks[i])
			}
		}
		require.NoError(t, types.RegisterPrefab(&kinds[k], string(rune('A'+k)), with...))
	}
	all := ecs.NewQuery(types, ecs.Read(&number))
	left := ecs.NewWatch(types, ecs.Read(&number))
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	residents := map[ecs.Entity]int32{}
	for owner := range ecs.Owner(16) {
		e := w.Spawn(&kinds[owner], owner+1)
		*number.Get(w, e) = int32(owner)
		residents[e] = int32(owner)
	}
	_, _ = left.Poll(w)
	for k := range kinds {
		for owner := range ecs.Owner(owners) {
			if owner%2 == 0 {
				w.Lock()
			}
			e := w.Spawn(&kinds[k], owner+1)
			*number.Get(w, e) = -1
			if owner%2 == 0 {
				w.Unlock()
			}
			require.EqualValues(t, -1, *number.Get(w, e))
			require.Equal(t, owner+1, w.Owner(e))
			if owner%97 == 0 {
				require.Equal(t, len(residents)+1, all.Count(w))
			}
			require.True(t, w.Destroy(e))
		}
		require.Less(t, w.Used(), 0.2)
		for e, n := range residents {
			require.Equal(t, n, *number.Get(w, e))
			rows := all.Owned(w, w.Owner(e))
			require.Len(t, rows, 1)
			require.Equal(t, []ecs.Entity{e}, rows[0].Entities())
		}
		entered, gone := left.Poll(w)
		require.Empty(t, entered)
		require.Empty(t, gone)
	}
	require.Equal(t, len(residents), w.Len())
}

// TestRecycleInATick: a system spawns for thousands of owners while it goes through a
// query, so that tables are recycled under its feet.
func TestRecycleInATick(t *testing.T) {
	types := ecs.NewTypes()
	var a, b ecs.Component[int32]
	require.NoError(t, types.Register(&a))
	require.NoError(t, types.Register(&b, ecs.Named("b")))
	var one, two ecs.Prefab
	require.NoError(t, types.RegisterPrefab(&one, "one", &a))
	require.NoError(t, types.RegisterPrefab(&two, "two", &a, &b))
	q := ecs.NewQuery(types, ecs.Read(&a))
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	for owner := range ecs.Owner(3000) {
		w.Spawn(&one, owner+1)
	}
	for round := range 8 {
		w.Lock()
		gone := 0
		for _, rows := range q.All(w) {
			for _, e := range rows.Entities() {
				if w.Owner(e)%2 == 0 {
					gone++
					w.Destroy(e)
				}
				w.Spawn([]*ecs.Prefab{&two, &one}[round%2], w.Owner(e)+ecs.Owner(3000*round))
			}
		}
		before := w.Len()
		w.Unlock()
		require.Equal(t, before-gone, w.Len(), "round %d", round)
		require.Equal(t, w.Len(), q.Count(w))
		n := 0
		w.Lock()
		for _, rows := range q.All(w) { // few stay
			for _, e := range rows.Entities() {
				if n++; n > 2000 {
					w.Destroy(e)
				}
			}
		}
		w.Unlock()
		require.Equal(t, 2000, q.Count(w))
	}
}

// TestHistoryKeepsTables: a history can bring rows back to any table that there was.
func TestHistoryKeepsTables(t *testing.T) {
	types := ecs.NewTypes()
	var a ecs.Component[int32]
	require.NoError(t, types.Register(&a))
	var k ecs.Prefab
	require.NoError(t, types.RegisterPrefab(&k, "k", &a))
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	e := w.Spawn(&k, 1)
	*a.Get(w, e) = 7
	h := w.NewHistory(1)
	h.Save(0)
	w.Destroy(e)
	for owner := range ecs.Owner(10_000) {
		w.Destroy(w.Spawn(&k, owner+2))
	}
	h.Restore(0)
	require.EqualValues(t, 7, *a.Get(w, e))
	require.Greater(t, w.Used(), 0.15)
}
