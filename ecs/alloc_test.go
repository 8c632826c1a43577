package ecs_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
)

// TestNothingAllocatesInSteadyState runs each hot path several times so that
// memory grows to its final size, and then counts allocations.
func TestNothingAllocatesInSteadyState(t *testing.T) {
	costtest.Allocations(t)
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	es := spread(w, &g.mover, 300, 4)
	q := ecs.NewQuery(g.types, ecs.With(&g.pos))
	s := ecs.NewSchedule[*frame](g.types)
	s.Add("move", func(_ *frame, r ecs.Rows) { moveRows(g.pos.Slice(r), g.vel.Slice(r)) }, ecs.Write(&g.pos), ecs.Read(&g.vel))
	s.Add("churn", func(f *frame, r ecs.Rows) {
		e := f.w.Spawn(&g.mover, r.Owner())
		g.hp.Add(f.w, e, Health{1})
		f.w.Destroy(e)
	}, ecs.Read(&g.pos), ecs.Create(&g.pos, &g.vel, &g.hp))
	require.NoError(t, s.Build())
	f := &frame{w: w}
	world, owner := ecs.Engine(w).NewHistory(4), ecs.Engine(w).NewOwnerHistory(2, 4)
	at, sum, found := 0, float32(0), 0
	count := func(ecs.Rows, int, unsafe.Pointer) { found++ }
	batch := make([]ecs.Entity, 50)
	key := func(r ecs.Rows, i int) uint64 { return uint64(r.Entity(i)) }
	parent := w.Spawn(&g.rock, 1)
	for name, hot := range map[string]func(){
		"query": func() { sum += float32(len(q.All(w)) + len(q.Owned(w, 3))) },
		"get":   func() { sum += g.pos.Get(w, es[3]).X + g.pos.View(w).Get(es[4]).X },
		"spawn and destroy": func() {
			e := w.Spawn(&g.person, 2)
			sum += float32(len(q.All(w)))
			w.Destroy(e)
			w.SpawnBatch(&g.mover, 2, batch)
			w.DestroyBatch(batch)
		},
		"add and remove": func() {
			g.hp.Add(w, es[0], Health{})
			g.hp.Remove(w, es[0])
		},
		"transfer": func() {
			require.NoError(t, w.Transfer(es[1], 9))
			require.NoError(t, w.Transfer(es[1], 1))
		},
		"hierarchy": func() {
			_ = w.SetParent(es[2], parent)
			sum += float32(len(w.Children(parent)))
			_ = w.SetParent(es[2], ecs.None)
		},
		"execute":        func() { s.Execute(w, f) },
		"execute player": func() { s.ExecutePlayer(w, f, 2) },
		"execute parts":  func() { s.ExecuteParts(w, f, ecs.Common, 2, 3) },
		"save and restore, structure changed": func() {
			at++
			e := w.Spawn(&g.mover, 2)
			world.Save(at % 4)
			owner.Save(at % 4)
			w.Destroy(e)
			owner.Restore(at % 4)
			world.Restore(at % 4)
			w.Destroy(e)
		},
		"diff": func() {
			world.Save(0)
			world.Diff(0, g.pos.ID(), count)
		},
		"hash": func() { sum += float32(w.Hash(key) & 1) },
		"watch": func() {
			e := w.Spawn(&g.mover, 2)
			in, _ := g.anyWatch.Poll(w)
			w.Destroy(e)
			_, out := g.anyWatch.PollOwner(w, 2)
			sum += float32(len(in) + len(out))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 200 {
				hot()
			}
			require.Zero(t, testing.AllocsPerRun(100, hot))
		})
	}
	require.NotZero(t, sum)
}
