package ecs_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

// goroutines is the executor a user may write.
type goroutines struct{ most int }

func (g *goroutines) Run(n int, task func(i int)) {
	g.most = max(g.most, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { task(i) })
	}
	wg.Wait()
}

// TestParallelEqualsSerial runs 256 systems over 40 components and 120
// singletons, both ways.
func TestParallelEqualsSerial(t *testing.T) {
	const comps, singles, systems = 40, 120, 256
	run := func(x ecs.Executor) uint64 {
		types := ecs.NewTypes()
		cs := make([]ecs.Component[Position], comps)
		ss := make([]ecs.Singleton[int64], singles)
		ks := make([]ecs.Prefab, 8)
		for i := range cs {
			require.NoError(t, types.Register(&cs[i], ecs.Named(fmt.Sprint("c", i))))
		}
		for i := range ss {
			require.NoError(t, types.RegisterSingleton(&ss[i], ecs.Named(fmt.Sprint("s", i))))
		}
		of := make([][]ecs.Handle, len(ks))
		for i := range ks {
			for k := i; k < comps; k += 1 + i%3 {
				of[i] = append(of[i], &cs[k])
			}
			require.NoError(t, types.RegisterPrefab(&ks[i], fmt.Sprint("k", i), of[i]...))
		}
		s := ecs.NewSchedule[*frame](types)
		for i := range systems {
			a, b, one := &cs[i%comps], &cs[(i*7+1)%comps], &ss[i%singles]
			acc := []ecs.Access{ecs.Write(a), ecs.Read(b), ecs.Write(one), ecs.Stage(fmt.Sprint("stage", i/4))}
			structural := i%32 == 9
			if structural {
				acc = append(acc, ecs.Create(of[i%8]...), ecs.After(fmt.Sprint("system", i-1)),
					ecs.Before(fmt.Sprint("system", i+1), fmt.Sprint("system", i+2)))
			}
			s.Add(fmt.Sprint("system", i), func(f *frame, r ecs.Rows) {
				to, from := a.Slice(r), b.Slice(r)
				for k := range to {
					to[k].X = to[k].X*0.5 + from[k].X + float32(i)
					*one.Get(f.w) += int64(to[k].X)
				}
				if structural {
					f.w.Spawn(&ks[i%8], r.Owner())
				}
			}, acc...)
		}
		stages := make([]string, systems/4)
		for i := range stages {
			stages[i] = fmt.Sprint("stage", i)
		}
		s.Stages(stages...)
		require.NoError(t, s.Build())
		s.SetExecutor(x)
		w := ecs.NewWorld(types, ecs.WorldConfig{})
		for i := range 100 {
			w.Spawn(&ks[i%8], ecs.Owner(i%3))
		}
		for range 5 {
			s.Execute(w, &frame{w: w})
		}
		return w.Hash(nil)
	}
	x := &goroutines{}
	require.Equal(t, run(nil), run(x))
	require.Equal(t, parallelBuild, x.most > 1, "nothing ran at once")
}

// Systems that run at once may ask queries that nobody has asked before.
func TestParallelSystemsQuery(t *testing.T) {
	g := newGame(t)
	with, without := ecs.NewQuery(g.types, ecs.With(&g.pos)), ecs.NewQuery(g.types, ecs.Without(&g.vel))
	s := ecs.NewSchedule[*frame](g.types)
	counts := make([][3]int, 8)
	for i := range counts {
		s.Add(fmt.Sprint("count", i), func(f *frame, _ ecs.Rows) {
			counts[i] = [3]int{with.Count(f.w), without.Count(f.w), len(with.Owned(f.w, 1))}
		}, ecs.Once(), ecs.ReadOther(&g.pos))
	}
	require.NoError(t, s.Build())
	s.SetExecutor(&goroutines{})
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	spread(w, &g.mover, 30, 3)
	for n := range 3 {
		s.Execute(w, &frame{w: w})
		for _, c := range counts {
			require.Equal(t, [3]int{30 + n, n, 1}, c)
		}
		w.Spawn(&g.rock, 2) // the cache is outdated
	}
}

func TestParallelSystemsMayNotGiveStructuralCommandsUndeclared(t *testing.T) {
	g := newGame(t)
	s := ecs.NewSchedule[*frame](g.types)
	s.Add("a", func(f *frame, _ ecs.Rows) { f.w.Spawn(&g.rock, 0) }, ecs.Read(&g.pos))
	s.Add("b", func(*frame, ecs.Rows) {}, ecs.Read(&g.pos))
	require.NoError(t, s.Build())
	s.SetExecutor(&goroutines{})
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	w.Spawn(&g.rock, 0)
	if parallelBuild {
		require.Panics(t, func() { s.Execute(w, &frame{w: w}) })
		require.Equal(t, 1, w.Len())
	}
	s.SetExecutor(nil)
	if !parallelBuild {
		require.Panics(t, func() { s.Execute(w, &frame{w: w}) })
		return
	}
	require.NotPanics(t, func() { s.Execute(w, &frame{w: w}) })
	require.Greater(t, w.Len(), 1)
}
