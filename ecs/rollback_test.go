package ecs_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/ecs"
)

// churnGame is what both worlds of the rollback property run: shared systems
// whose structural changes depend on row order, so that a different order
// becomes a different world.
type churnGame struct {
	*game
	sched *ecs.Schedule[*frame]
	rng   ecs.Range
}

func newChurnGame(t testing.TB) *churnGame {
	g := &churnGame{game: newGame(t)}
	g.sched = ecs.NewSchedule[*frame](g.types)
	g.sched.Add("move", g.move, ecs.Write(&g.pos), ecs.Read(&g.vel))
	g.sched.Add("breed", g.breed, ecs.Read(&g.pos), ecs.Create(&g.pos, &g.vel, &g.hp))
	require.NoError(t, g.sched.Build())
	return g
}

func (g *churnGame) move(_ *frame, r ecs.Rows) {
	pos, vel := g.pos.Slice(r), g.vel.Slice(r)
	for i := range pos {
		pos[i].X += vel[i].X + float32(i) // depends on the row
	}
}

func (g *churnGame) breed(f *frame, r ecs.Rows) {
	pos := g.pos.Slice(r)
	for i := range pos {
		e := r.Entity(i)
		switch n := int(pos[i].X); {
		case n%7 == 3 && r.Len() < 40: // not w.Len, because that counts other players' rows too
			c := ecs.Engine(f.w).SpawnIn(g.rng, &g.mover, r.Owner())
			g.pos.Get(f.w, c).X = float32(n % 50)
			g.vel.Get(f.w, c).X = float32(n % 3)
		case n%11 == 5:
			f.w.Destroy(e)
		case n%5 == 1:
			g.hp.Add(f.w, e, Health{int16(n)})
		case n%5 == 2:
			g.hp.Remove(f.w, e)
		}
	}
}

// input applies the input of a tick.
func (g *churnGame) input(w *ecs.World, o ecs.Owner, v int) {
	e := ecs.Engine(w).SpawnIn(g.rng, &g.mover, o)
	g.pos.Get(w, e).X = float32(v)
	g.vel.Get(w, e).X = float32(v % 4)
}

// list is the exact content of some owners' rows, order and handles included.
func (g *churnGame) list(w *ecs.World, owners ...ecs.Owner) string {
	return g.listAs(func(e ecs.Entity) string { return e.String() }, w, owners...)
}

// listAnyPage is list for two worlds of which one mispredicted. It may have
// claimed a page of slots earlier, which no restore returns: handles are equal
// except for the page's number.
func (g *churnGame) listAnyPage(w *ecs.World, owners ...ecs.Owner) string {
	return g.listAs(func(e ecs.Entity) string { return fmt.Sprint(e.Range(), e.Index()%64, e.Generation()) }, w, owners...)
}

func (g *churnGame) listAs(name func(ecs.Entity) string, w *ecs.World, owners ...ecs.Owner) string {
	s := ""
	q := ecs.NewQuery(g.types)
	for _, o := range owners {
		for _, r := range q.Owned(w, o) {
			s += fmt.Sprint(o, r.Mask())
			for _, e := range r.Entities() {
				s += name(e) + " "
			}
			if r.Has(g.pos.ID()) {
				s += fmt.Sprint(g.pos.Slice(r))
			}
			if r.Has(g.hp.ID()) {
				s += fmt.Sprint(g.hp.Slice(r))
			}
		}
	}
	return s
}

// byPlace takes the canonical place as the key.
func byPlace() func(ecs.Rows, int) uint64 {
	n := uint64(0)
	return func(ecs.Rows, int) uint64 {
		n++
		return n
	}
}

// TestRollbackOfAWorldLeavesNoTrace mispredicts, restores and runs again: the
// world equals, in values, order and handles, one that never mispredicted.
func TestRollbackOfAWorldLeavesNoTrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newChurnGame(&testing.T{})
		straight, rolled := ecs.NewWorld(g.types, ecs.WorldConfig{}), ecs.NewWorld(g.types, ecs.WorldConfig{})
		h := ecs.Engine(rolled).NewHistory(8)
		owners := []ecs.Owner{1, 2}
		for tick := range rapid.IntRange(1, 20).Draw(t, "ticks") {
			v := rapid.IntRange(0, 100).Draw(t, "input")
			o := rapid.SampledFrom(owners).Draw(t, "owner")
			h.Save(tick % 8)
			for range rapid.IntRange(0, 3).Draw(t, "mispredicted ticks") {
				g.input(rolled, o, rapid.IntRange(0, 100).Draw(t, "wrong"))
				g.sched.Execute(rolled, &frame{w: rolled})
			}
			h.Restore(tick % 8)
			for _, w := range []*ecs.World{straight, rolled} {
				g.input(w, o, v)
				g.sched.Execute(w, &frame{w: w})
			}
			require.True(t, g.listAnyPage(straight, owners...) == g.listAnyPage(rolled, owners...))
			require.Equal(t, straight.Hash(byPlace()), rolled.Hash(byPlace()))
		}
	})
}

// TestRollbackOfAnOwnerWhileOthersChurn mispredicts one player's part while
// others' rows come and go. Replaying the right inputs for that player gives
// what a world without the misprediction holds, in order and handles; the
// others' rows stay as they were.
func TestRollbackOfAnOwnerWhileOthersChurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newChurnGame(&testing.T{})
		straight, rolled := ecs.NewWorld(g.types, ecs.WorldConfig{}), ecs.NewWorld(g.types, ecs.WorldConfig{})
		h := ecs.Engine(rolled).NewOwnerHistory(1, 4)
		for range rapid.IntRange(1, 10).Draw(t, "rollbacks") {
			h.Save(0)
			inputs := rapid.SliceOfN(rapid.IntRange(0, 100), 0, 4).Draw(t, "inputs")
			for _, v := range inputs {
				other := rapid.IntRange(0, 100).Draw(t, "other")
				for _, w := range []*ecs.World{straight, rolled} {
					g.input(w, 2, other)
					g.sched.ExecutePlayer(w, &frame{w: w}, 2)
				}
				g.input(straight, 1, v)
				g.input(rolled, 1, rapid.IntRange(0, 100).Draw(t, "wrong"))
				for _, w := range []*ecs.World{straight, rolled} {
					g.sched.ExecutePlayer(w, &frame{w: w}, 1)
				}
			}
			before := g.list(rolled, 2)
			h.Restore(0)
			require.True(t, before == g.list(rolled, 2))
			for _, v := range inputs {
				g.input(rolled, 1, v)
				g.sched.ExecutePlayer(rolled, &frame{w: rolled}, 1)
			}
			require.True(t, before == g.list(rolled, 2))
			require.True(t, g.listAnyPage(straight, 1) == g.listAnyPage(rolled, 1))
			require.Equal(t, straight.Len(), rolled.Len())
		}
	})
}
