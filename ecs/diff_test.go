package ecs_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/ecs"
)

// padded has bytes that hold nothing, which neither diff nor hash may read.
type padded struct {
	A uint8
	B uint64
}

func TestDiffFindsWhatChanged(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	es := spread(w, &g.mover, 300, 2)
	h := ecs.Engine(w).NewHistory(2)
	h.Save(0)
	require.Empty(t, diff(h, g.pos.ID()))
	g.pos.Get(w, es[7]).Z = 1
	g.vel.Get(w, es[8]).Z = 1
	require.Equal(t, []ecs.Entity{es[7]}, diff(h, g.pos.ID()))
	w.Destroy(es[0]) // the last row moves, and is no change
	born := w.Spawn(&g.mover, 1)
	require.ElementsMatch(t, []ecs.Entity{es[7], born}, diff(h, g.pos.ID()))
	g.hp.Add(w, es[9], Health{1}) // to another table
	require.ElementsMatch(t, []ecs.Entity{es[7], born}, diff(h, g.pos.ID()))
	require.Equal(t, []ecs.Entity{es[9]}, diff(h, g.hp.ID()))
}

func diff(h *ecs.History, id ecs.ID) []ecs.Entity {
	var out []ecs.Entity
	h.Diff(0, id, func(r ecs.Rows, i int, _ unsafe.Pointer) { out = append(out, r.Entity(i)) })
	return out
}

func TestPaddingIsNeitherComparedNorHashed(t *testing.T) {
	var c ecs.Component[padded]
	var k ecs.Prefab
	types := ecs.NewTypes()
	require.NoError(t, types.Register(&c))
	require.NoError(t, types.RegisterPrefab(&k, "k", &c))
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	e := w.Spawn(&k, 0)
	h := ecs.Engine(w).NewHistory(1)
	h.Save(0)
	before := w.Hash(nil)
	p := (*[16]byte)(unsafe.Pointer(c.Get(w, e)))
	p[3] = 0xAA
	require.Empty(t, diff(h, c.ID()))
	require.Equal(t, before, w.Hash(nil))
	p[0] = 1
	require.Len(t, diff(h, c.ID()), 1)
	require.NotEqual(t, before, w.Hash(nil))
}

// TestDiffAgainstModel compares Diff with a map of values, for the world and
// for one owner.
func TestDiffAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGame(&testing.T{})
		w := ecs.NewWorld(g.types, ecs.WorldConfig{Capacity: 1})
		q := ecs.NewQuery(g.types, ecs.With(&g.pos))
		es := spread(w, &g.rock, rapid.IntRange(0, 150).Draw(t, "entities"), 2)
		h, ho := ecs.Engine(w).NewHistory(1), ecs.Engine(w).NewOwnerHistory(1, 1)
		h.Save(0)
		ho.Save(0)
		was := map[ecs.Entity]Position{}
		for _, e := range es {
			was[e] = *g.pos.Get(w, e)
		}
		for i := range rapid.IntRange(0, 40).Draw(t, "changes") {
			e := ecs.None
			if len(es) > 0 {
				e = rapid.SampledFrom(es).Draw(t, "entity")
			}
			switch rapid.IntRange(0, 4).Draw(t, "change") {
			case 0:
				if p := g.pos.Find(w, e); p != nil {
					p.Y += float32(rapid.IntRange(0, 1).Draw(t, "by"))
				}
			case 1:
				w.Destroy(e)
			case 2:
				es = append(es, w.Spawn(&g.rock, ecs.Owner(i%2+1)))
			case 3:
				g.dead.Add(w, e, Dead{})
			case 4:
				g.pos.Remove(w, e)
			}
		}
		var want, wantOf []ecs.Entity
		for _, r := range q.All(w) {
			for i, e := range r.Entities() {
				if v, ok := was[e]; !ok || v != g.pos.Slice(r)[i] {
					want = append(want, e)
					if r.Owner() == 1 {
						wantOf = append(wantOf, e)
					}
				}
			}
		}
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(diff(h, g.pos.ID())))
		require.Equal(t, fmt.Sprint(wantOf), fmt.Sprint(diff(ho, g.pos.ID())))
	})
}

func BenchmarkRatioDiff(b *testing.B) {
	const n = 10_000
	for _, c := range []struct {
		name  string
		every int
	}{{"nothing", 0}, {"5%", 20}} {
		b.Run(c.name, func(b *testing.B) {
			g := newGame(b)
			w := ecs.NewWorld(g.types, ecs.WorldConfig{})
			es := spread(w, &g.mover, n, 1)
			h := ecs.Engine(w).NewHistory(1)
			h.Save(0)
			for i, e := range es {
				if c.every > 0 && i%c.every == 0 {
					g.pos.Get(w, e).X++
					g.vel.Get(w, e).X++
				}
			}
			found := 0
			count := func(ecs.Rows, int, unsafe.Pointer) { found++ }
			from, to := make([]body, n), make([]body, n)
			r := ratio(b, 1<<20, subject{run: func(n int) {
				for range n {
					copy(to, from)
				}
			}}, subject{run: func(n int) {
				for range n {
					found = 0
					h.Diff(0, g.pos.ID(), count)
					h.Diff(0, g.vel.ID(), count)
				}
			}})
			b.ReportMetric(r[0], "x_copy")
			b.ReportMetric(float64(found), "found")
		})
	}
}
