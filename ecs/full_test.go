package ecs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
)

// full returns a world that has an OnFull, and as many tables with rows as players may
// have. Owners from 1000 on have them; one entity of each set of components is their first.
func full(t *testing.T, onFull func(ecs.Entity, ecs.Owner)) (w *ecs.World, number ecs.Component[int32], extra ecs.Component[uint16], kinds [32]ecs.Prefab, crowd []ecs.Entity) {
	types := ecs.NewTypes()
	var marks [5]ecs.Component[uint8] // in each combination
	require.NoError(t, types.Register(&number))
	require.NoError(t, types.Register(&extra))
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
	w = ecs.NewWorld(types, ecs.WorldConfig{OnFull: onFull})
	for owner := ecs.Owner(1000); w.Used() < float64(65535-2048)/65535; owner++ {
		for k := 0; k < len(kinds) && w.Used() < float64(65535-2048)/65535; k++ {
			crowd = append(crowd, w.Spawn(&kinds[k], owner))
		}
	}
	return w, number, extra, kinds, crowd
}

// TestOnFull: beyond the limit of tables an entity belongs to nobody, whichever call needs
// the table, and nothing else changes.
func TestOnFull(t *testing.T) {
	costtest.Memory(t)
	type told struct {
		e     ecs.Entity
		owner ecs.Owner
	}
	var all []told
	w, number, extra, kinds, crowd := full(t, func(e ecs.Entity, o ecs.Owner) { all = append(all, told{e, o}) })
	require.Empty(t, all)
	one := func(name string, e ecs.Entity, o ecs.Owner) {
		t.Helper()
		require.Equal(t, []told{{e, o}}, all, name)
		require.True(t, w.Alive(e), name)
		require.Equal(t, ecs.Nobody, w.Owner(e), name)
		all = all[:0]
	}
	before, used := w.Len(), w.Used()

	spawned := w.Spawn(&kinds[3], 7)
	one("spawn", spawned, 7)
	*number.Get(w, spawned) = 5
	ecs.Engine(w).Lock()
	locked := w.Spawn(&kinds[4], 8)
	one("spawn while locked", locked, 8)
	*number.Get(w, locked) = 6
	ecs.Engine(w).Unlock()
	require.Empty(t, all)
	require.EqualValues(t, 5, *number.Get(w, spawned))
	require.EqualValues(t, 6, *number.Get(w, locked))

	owner := w.Owner(crowd[0])
	*number.Get(w, crowd[0]) = 9
	extra.Add(w, crowd[0], 77)
	one("add", crowd[0], owner)
	require.EqualValues(t, 9, *number.Get(w, crowd[0]))
	require.EqualValues(t, 77, *extra.Get(w, crowd[0]))
	again := w.Spawn(&kinds[0], owner) // the table that it left has room
	require.Empty(t, all)
	require.Equal(t, owner, w.Owner(again))
	number.Remove(w, again)
	one("remove", again, owner)
	ecs.Engine(w).Lock()
	extra.Add(w, crowd[1], 78)
	require.Empty(t, all)
	ecs.Engine(w).Unlock()
	one("add at the flush", crowd[1], owner)

	require.NoError(t, w.Transfer(crowd[2], 9))
	one("transfer", crowd[2], 9)
	require.NoError(t, w.Transfer(crowd[2], 10))
	one("transfer of nobody's", crowd[2], 10)

	out := make([]ecs.Entity, 100)
	rows := w.SpawnBatch(&kinds[5], 11, out)
	require.Equal(t, out, rows.Entities())
	require.Len(t, all, 100)
	require.Equal(t, told{out[99], 11}, all[99])
	all = all[:0]
	ecs.Engine(w).Lock()
	rows = w.SpawnBatch(&kinds[6], 11, out)
	require.Len(t, all, 100)
	require.Equal(t, out, rows.Entities())
	ecs.Engine(w).Unlock()
	all = all[:0]
	require.Equal(t, before+203, w.Len())
	require.Less(t, w.Used(), used+0.001, "some tables of nobody's")

	// A table that lost its last row makes room for another.
	w.Spawn(&kinds[7], 12)
	require.NotEmpty(t, all)
	all = all[:0]
	require.Equal(t, 100, w.DestroyBatch(crowd[10:110])) // some tables are nobody's now
	w.Spawn(&kinds[7], 12)
	require.Empty(t, all)
	for owner := range ecs.Owner(100) {
		w.Spawn(&kinds[8], 13+owner)
	}
	require.NotEmpty(t, all)

	// The handles of such entities come back.
	slots := map[string]bool{}
	for range 2000 {
		e := w.Spawn(&kinds[3], 7)
		require.Equal(t, ecs.Nobody, w.Owner(e))
		slot, _, _ := strings.Cut(e.String(), ".")
		slots[slot] = true
		require.True(t, w.Destroy(e))
	}
	require.LessOrEqual(t, len(slots), 400)
}

// TestFullWithoutOnFull: a world without an OnFull panics at the limit, with the fix.
func TestFullWithoutOnFull(t *testing.T) {
	costtest.Memory(t)
	w, _, _, kinds, _ := full(t, nil)
	require.PanicsWithError(t, "ecs: more than 65535 tables: fewer owners or fewer component sets", func() {
		for owner := range ecs.Owner(3000) {
			w.Spawn(&kinds[0], owner+10_000)
		}
	})
}
