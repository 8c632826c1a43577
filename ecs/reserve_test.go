package ecs_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
)

// An entity placed with a reserved handle, rolled back and placed again keeps
// its handle, next to ordinary spawns and another owner's.
func TestReservedHandlesSurviveRollback(t *testing.T) {
	costtest.Memory(t)
	const slots = 8
	type held struct {
		e ecs.Entity
		v float32
	}
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	q := ecs.NewQuery(g.types, ecs.With(&g.pos))
	list := func(o ecs.Owner) (out []held) {
		for _, r := range q.Owned(w, o) {
			for i := range r.Len() {
				out = append(out, held{r.Entity(i), g.pos.Slice(r)[i].X})
			}
		}
		return out
	}
	rng := rand.New(rand.NewPCG(1, 2))
	own, common := ecs.Engine(w).NewOwnerHistory(1, slots), ecs.Engine(w).NewOwnerHistory(ecs.Common, slots)
	var reservedHandles, retired []ecs.Entity
	var saves [slots][]held
	restores, again := 0, 0
	for step := range 20_000 {
		switch rng.IntN(8) {
		case 0, 1:
			e := ecs.Engine(w).Reserve(ecs.RangePredicted, 1)
			require.False(t, w.Alive(e))
			require.False(t, slices.Contains(reservedHandles, e))
			require.Equal(t, ecs.RangePredicted, e.Range())
			reservedHandles = append(reservedHandles, e)
			require.NoError(t, ecs.Engine(w).Place(e, &g.mover, 1))
			g.pos.Get(w, e).X = float32(step)
		case 2: // an entity that a rollback removed comes back with its handle
			for _, e := range reservedHandles {
				if !w.Alive(e) && rng.IntN(2) == 0 {
					again++
					require.NoError(t, ecs.Engine(w).Place(e, &g.mover, 1))
				}
			}
		case 3:
			g.pos.Get(w, w.Spawn(&g.mover, 1)).X = float32(step)
			w.Spawn(&g.mover, 2)
			e := ecs.Engine(w).Reserve(ecs.RangeServer, ecs.Common)
			require.NoError(t, ecs.Engine(w).Place(e, &g.rock, ecs.Common))
		case 4:
			if all := list(1); len(all) > 0 {
				w.Destroy(all[rng.IntN(len(all))].e)
			}
		case 5:
			slot := step % slots
			own.Save(slot)
			common.Save(slot)
			saves[slot] = list(1)
		case 6:
			slot, other := rng.IntN(slots), list(2)
			require.Equal(t, own.Holds(slot), common.Holds(slot), "nothing here voids saves")
			if own.Holds(slot) {
				restores++
				own.Restore(slot)
				common.Restore(slot)
				require.Equal(t, saves[slot], list(1))
				require.Equal(t, other, list(2))
			}
		case 7:
			if len(reservedHandles) < 40 {
				continue
			}
			for _, e := range reservedHandles[:20] {
				w.Destroy(e)
				require.True(t, ecs.Engine(w).Unreserve(e))
				retired = append(retired, e)
			}
			reservedHandles = slices.Clone(reservedHandles[20:])
			for _, e := range list(ecs.Common) {
				w.Destroy(e.e)
				require.True(t, ecs.Engine(w).Unreserve(e.e))
			}
			for slot := range slots { // so that no save has the entities any more
				own.Save(slot)
				common.Save(slot)
				saves[slot] = list(1)
			}
		}
	}
	require.Greater(t, restores, 1000)
	require.Greater(t, again, 1000)
	require.Greater(t, len(retired), 1000)
	for _, e := range retired {
		require.False(t, w.Alive(e), "a handle given back is stale for good")
	}
	require.Less(t, int(ecs.Engine(w).Reserve(ecs.RangePredicted, 1).Index()&0xFFFFFF), 1<<16, "indices are used again")
}

func TestReserveRefuses(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	e := ecs.Engine(w).Reserve(ecs.RangePredicted, 1)
	require.NoError(t, ecs.Engine(w).Place(e, &g.mover, 1))
	require.False(t, ecs.Engine(w).Unreserve(e), "it lives")
	require.False(t, ecs.Engine(w).Unreserve(w.Spawn(&g.mover, 1)), "it was spawned")
	require.False(t, ecs.Engine(w).Unreserve(ecs.MakeEntity(1<<24-5, 1)))
	w.Destroy(e)
	require.True(t, ecs.Engine(w).Unreserve(e))
	next := ecs.Engine(w).Reserve(ecs.RangePredicted, 1)
	require.Equal(t, e.Index(), next.Index())
	require.NotEqual(t, e, next)
	require.Panics(t, func() { ecs.Engine(w).Reserve(9, 1) })
}
