package ecs_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

// leastRounds is how many interleaved rounds a ratio is the median of, at least.
const leastRounds = 21

// subject is one side of a comparison: run does the work n times. setup, where
// given, runs before each round, outside the clock.
type subject struct {
	setup func(n int)
	run   func(n int)
}

func (s subject) time(n int) float64 {
	if s.setup != nil {
		s.setup(n)
	}
	start := time.Now()
	s.run(n)
	return float64(time.Since(start)) / float64(n)
}

// repetitions finds how often to run a subject for about 300 µs; a negative
// most is a fixed number instead.
func (s subject) repetitions(most int) int {
	if most < 0 {
		return -most
	}
	n := 1
	for n < most && s.time(n)*float64(n) < float64(300*time.Microsecond) {
		n *= 2
	}
	return min(n, most)
}

// ratio runs baseline and subjects alternately, round by round, and returns the
// median of each subject's time relative to the baseline's of the same round.
func ratio(b *testing.B, most int, baseline subject, subjects ...subject) []float64 {
	b.Helper()
	nb := baseline.repetitions(most)
	ns := make([]int, len(subjects))
	for i, s := range subjects {
		ns[i] = s.repetitions(most)
	}
	rounds := max(leastRounds, b.N)
	got := make([][]float64, len(subjects))
	var base []float64
	b.ResetTimer()
	for range rounds {
		t := baseline.time(nb)
		base = append(base, t)
		for i, s := range subjects {
			got[i] = append(got[i], s.time(ns[i])/t)
		}
	}
	b.ReportMetric(0, "ns/op") // of no meaning here
	b.ReportMetric(median(base), "base_ns")
	out := make([]float64, len(subjects))
	for i := range got {
		out[i] = median(got[i])
	}
	return out
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

type body struct {
	Position
	Velocity
}

func moveRows(pos []Position, vel []Velocity) {
	vel = vel[:len(pos)]
	for i := range pos {
		p, v := &pos[i], &vel[i]
		p.X += v.X
		p.Y += v.Y
	}
}

func moveBodies(bodies []body) {
	for i := range bodies {
		p := &bodies[i]
		p.Position.X += p.Velocity.X
		p.Position.Y += p.Velocity.Y
	}
}

// spread gives n movers to a number of owners, as evenly as may be.
func spread(w *ecs.World, k *ecs.Prefab, n, owners int) []ecs.Entity {
	es := make([]ecs.Entity, n)
	for i := range es {
		es[i] = w.Spawn(k, ecs.Owner(i%owners+1))
	}
	return es
}

func BenchmarkRatioIterate2(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			g := newGame(b)
			w := ecs.NewWorld(g.types, ecs.WorldConfig{})
			spread(w, &g.mover, n, 1)
			iterate(b, g, w, n)
		})
	}
	b.Run("n=1000,archetypes=32", func(b *testing.B) {
		g, tags := &game{types: ecs.NewTypes()}, make([]ecs.Component[Dead], 5)
		require.NoError(b, g.types.Register(&g.pos))
		require.NoError(b, g.types.Register(&g.vel))
		for i := range tags {
			require.NoError(b, g.types.Register(&tags[i], ecs.Named(fmt.Sprint("tag", i))))
		}
		prefabs := make([]ecs.Prefab, 32)
		for i := range prefabs {
			hs := []ecs.Handle{&g.pos, &g.vel}
			for k := range tags {
				if i>>k&1 != 0 {
					hs = append(hs, &tags[k])
				}
			}
			require.NoError(b, g.types.RegisterPrefab(&prefabs[i], fmt.Sprint("prefab", i), hs...))
		}
		w := ecs.NewWorld(g.types, ecs.WorldConfig{})
		for i := range 1000 {
			w.Spawn(&prefabs[i%32], 1)
		}
		iterate(b, g, w, 1000)
	})
}

func iterate(b *testing.B, g *game, w *ecs.World, n int) {
	bodies := make([]body, n)
	q := ecs.NewQuery(g.types, ecs.Write(&g.pos), ecs.Read(&g.vel))
	r := ratio(b, 1<<20, subject{run: func(n int) {
		for range n {
			moveBodies(bodies)
		}
	}}, subject{run: func(n int) {
		for range n {
			for _, r := range q.All(w) {
				moveRows(g.pos.Slice(r), g.vel.Slice(r))
			}
		}
	}})
	b.ReportMetric(r[0], "x_slice")
}

// The three loops of BenchmarkRatioGet are separate functions, like systems, so
// that none shares registers with the harness.

//go:noinline
func addSlice(a []body, idx []int) {
	for _, k := range idx {
		a[k].Position.X++
	}
}

//go:noinline
func addView(v ecs.View[Position], hs []ecs.Entity) {
	for _, e := range hs {
		v.Get(e).X++
	}
}

//go:noinline
func addGet(c *ecs.Component[Position], w *ecs.World, hs []ecs.Entity) {
	for _, e := range hs {
		c.Get(w, e).X++
	}
}

func BenchmarkRatioGet(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		g := newGame(b)
		w := ecs.NewWorld(g.types, ecs.WorldConfig{})
		es := spread(w, &g.mover, n, 1)
		rng := rand.New(rand.NewPCG(1, 2))
		a, idx, hs := make([]body, n), rng.Perm(n), make([]ecs.Entity, n)
		for i, k := range idx {
			hs[i] = es[k]
		}
		base := subject{run: func(n int) {
			for range n {
				addSlice(a, idx)
			}
		}}
		b.Run(fmt.Sprintf("view/n=%d", n), func(b *testing.B) {
			r := ratio(b, 1<<20, base, subject{run: func(n int) {
				for range n {
					addView(g.pos.View(w), hs)
				}
			}})
			b.ReportMetric(r[0], "x_slice")
		})
		b.Run(fmt.Sprintf("get/n=%d", n), func(b *testing.B) {
			r := ratio(b, 1<<20, base, subject{run: func(n int) {
				for range n {
					addGet(&g.pos, w, hs)
				}
			}})
			b.ReportMetric(r[0], "x_slice")
		})
	}
}

const churn = 1000

func appendBodies(mem []body) subject {
	return subject{run: func(n int) {
		for range n {
			mem = mem[:0]
			for range churn {
				mem = append(mem, body{})
			}
		}
	}}
}

func BenchmarkRatioCreate2(b *testing.B) {
	g := newGame(b)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	empty := ecs.Engine(w).NewHistory(1)
	for range churn {
		w.Spawn(&g.mover, 1)
	}
	h := ecs.Engine(w).NewOwnerHistory(1, 1)
	w.DestroyBatch(entities(g, w))
	empty.Save(0)
	h.Save(0)
	es := make([]ecs.Entity, churn)
	run := func(b *testing.B, spawn func()) {
		r := ratio(b, 1, subject{run: appendBodies(make([]body, 0, churn)).run}, subject{
			setup: func(int) { empty.Restore(0) },
			run:   func(int) { spawn() },
		})
		b.ReportMetric(r[0], "x_append")
	}
	b.Run("single", func(b *testing.B) {
		run(b, func() {
			for range churn {
				w.Spawn(&g.mover, 1)
			}
		})
	})
	b.Run("batch", func(b *testing.B) {
		run(b, func() { w.SpawnBatch(&g.mover, 1, es) })
	})
}

func entities(g *game, w *ecs.World) []ecs.Entity {
	var es []ecs.Entity
	for _, r := range ecs.NewQuery(g.types).All(w) {
		es = append(es, r.Entities()...)
	}
	return es
}

func BenchmarkRatioDestroy(b *testing.B) {
	g := newGame(b)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	es := spread(w, &g.mover, churn, 1)
	h := ecs.Engine(w).NewHistory(1)
	h.Save(0)
	r := ratio(b, 1, appendBodies(make([]body, 0, churn)), subject{
		setup: func(int) { h.Restore(0) },
		run: func(int) {
			for _, e := range es {
				w.Destroy(e)
			}
		},
	})
	b.ReportMetric(r[0], "x_append")
}

func BenchmarkRatioAddRemove(b *testing.B) {
	g := newGame(b)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	es := spread(w, &g.rock, churn, 1)
	r := ratio(b, 1<<20, appendBodies(make([]body, 0, churn)), subject{run: func(n int) {
		for range n {
			for _, e := range es {
				g.vel.Add(w, e, Velocity{})
			}
			for _, e := range es {
				g.vel.Remove(w, e)
			}
		}
	}})
	b.ReportMetric(r[0], "x_append")
}

func BenchmarkRatioTransfer(b *testing.B) {
	g := newGame(b)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	es := spread(w, &g.mover, churn, 1)
	to := ecs.Owner(2)
	r := ratio(b, 1<<20, appendBodies(make([]body, 0, churn)), subject{run: func(n int) {
		for range n {
			for _, e := range es {
				_ = w.Transfer(e, to)
			}
			to ^= 3
		}
	}})
	b.ReportMetric(r[0], "x_append")
}

const ring = 32

// copyRing copies the same bytes in and out of a ring as deep as the history.
func copyRing(n int, into bool) subject {
	state, slots := make([]body, n), make([][]body, ring)
	for i := range slots {
		slots[i] = make([]body, n)
		for k := range slots[i] { // fresh memory is one zero page, and too fast to be true
			slots[i][k].Position.X = float32(k)
		}
	}
	at := 0
	return subject{run: func(k int) {
		for range k {
			at++
			if s := slots[at%ring]; into {
				copy(s, state)
			} else {
				copy(state, s)
			}
		}
	}}
}

// changing makes the structure of every part differ from that in the slots.
func changing(w *ecs.World, es []ecs.Entity, k *ecs.Prefab) func() {
	return func() {
		for i, e := range es {
			o := w.Owner(e)
			w.Destroy(e)
			es[i] = w.Spawn(k, o)
		}
	}
}

func BenchmarkRatioSave(b *testing.B)    { saves(b, true) }
func BenchmarkRatioRestore(b *testing.B) { saves(b, false) }

func saves(b *testing.B, save bool) {
	for _, c := range []struct{ n, owners int }{{10_000, 1}, {10_000, 64}, {1000, 64}} {
		rounds := -ring * max(1, 3000/c.n) // the same slots on both sides, each once
		g := newGame(b)
		w := ecs.NewWorld(g.types, ecs.WorldConfig{})
		es := spread(w, &g.mover, c.n, c.owners)
		change := changing(w, es, &g.mover)
		same, differ, base, at := fullHistory(w, nil), fullHistory(w, change), copyRing(c.n, save), 0
		b.Run(fmt.Sprintf("n=%d,owners=%d/unchanged", c.n, c.owners), func(b *testing.B) {
			h := same
			for i := range ring {
				h.Save(i)
			}
			r := ratio(b, rounds, base, subject{run: func(n int) {
				for range n {
					at++
					if save {
						h.Save(at % ring)
					} else {
						h.Restore(at % ring)
					}
				}
			}})
			b.ReportMetric(r[0], "x_copy")
		})
		b.Run(fmt.Sprintf("n=%d,owners=%d/changed", c.n, c.owners), func(b *testing.B) {
			h := differ
			setup := func(int) {}
			if save {
				setup = func(int) { change() }
				rounds = -ring // otherwise the slot would hold the structure already
			}
			r := ratio(b, rounds, subject{setup: setup, run: base.run}, subject{setup: setup, run: func(n int) {
				for range n {
					at++
					if !save {
						h.Restore(at % ring)
						continue
					}
					h.Save(at % ring)
				}
			}})
			b.ReportMetric(r[0], "x_copy")
		})
	}
}

// fullHistory fills every slot, with a change before each save if given.
func fullHistory(w *ecs.World, change func()) *ecs.History {
	h := ecs.Engine(w).NewHistory(ring)
	for i := range ring {
		if change != nil {
			change()
		}
		h.Save(i)
	}
	return h
}

func BenchmarkRatioSaveOwner(b *testing.B)    { savesOwner(b, true) }
func BenchmarkRatioRestoreOwner(b *testing.B) { savesOwner(b, false) }

func savesOwner(b *testing.B, save bool) {
	for _, n := range []int{10_000, 1000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			g := newGame(b)
			w := ecs.NewWorld(g.types, ecs.WorldConfig{})
			spread(w, &g.mover, n, 64)
			world, owner, at := fullHistory(w, nil), ecs.Engine(w).NewOwnerHistory(7, ring), 0
			for i := range ring {
				owner.Save(i)
			}
			over := func(h *ecs.History) subject {
				return subject{run: func(n int) {
					for range n {
						at++
						if save {
							h.Save(at % ring)
						} else {
							h.Restore(at % ring)
						}
					}
				}}
			}
			r := ratio(b, 1<<20, copyRing(n, save), over(world), over(owner))
			b.ReportMetric(r[0], "world_x_copy")
			b.ReportMetric(r[1]/r[0], "x_world")
			b.ReportMetric(r[1]/r[0]*64, "64x_world")
		})
	}
}

// burn1 is a body of about 1 ns a row, burn20 one of about 20.
func burn1(p []Position, v []Velocity) {
	v = v[:len(p)]
	for i := range p {
		a, b := &p[i], &v[i]
		a.X += b.X
		a.Y += b.Y
		a.Z += b.Z
		a.W += b.W
	}
}

// burn20 is a chain of 40 steps, unrolled by eight. Otherwise the branch
// prediction at the end of a loop of 40 would depend on where the linker puts
// it, and a miss costs a quarter of the row.
func burn20(p []Position, v []Velocity) {
	v = v[:len(p)]
	for i := range p {
		x, a := p[i].X, v[i].X
		for range 5 {
			x = x*0.5 + a
			x = x*0.5 + a
			x = x*0.5 + a
			x = x*0.5 + a
			x = x*0.5 + a
			x = x*0.5 + a
			x = x*0.5 + a
			x = x*0.5 + a
		}
		p[i].X = x
	}
}

func BenchmarkRatioExecutePlayer(b *testing.B) {
	g := newGame(b)
	b.Run("1ns", func(b *testing.B) {
		executePlayer(b, g, burn1, func(_ *frame, r ecs.Rows) {
			pos, vel := g.pos.Slice(r), g.vel.Slice(r)
			vel = vel[:len(pos)]
			for i := range pos {
				a, b := &pos[i], &vel[i]
				a.X += b.X
				a.Y += b.Y
				a.Z += b.Z
				a.W += b.W
			}
		})
	})
	b.Run("20ns", func(b *testing.B) {
		executePlayer(b, g, burn20, func(_ *frame, r ecs.Rows) { burn20(g.pos.Slice(r), g.vel.Slice(r)) })
	})
}

func executePlayer(b *testing.B, g *game, plain func([]Position, []Velocity), body func(*frame, ecs.Rows)) {
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	spread(w, &g.mover, 64*16, 64)
	s := ecs.NewSchedule[*frame](g.types)
	s.Add("body", body, ecs.Write(&g.pos), ecs.Read(&g.vel))
	require.NoError(b, s.Build())
	pos, vel, f := make([]Position, 1024), make([]Velocity, 1024), &frame{w: w}
	r := ratio(b, 1<<20, subject{run: func(n int) {
		for range n {
			plain(pos, vel)
		}
	}}, subject{run: func(n int) {
		for range n {
			s.Execute(w, f)
		}
	}}, subject{run: func(n int) {
		for range n {
			s.ExecutePlayer(w, f, 7)
		}
	}})
	b.ReportMetric(r[0], "x_slice")
	b.ReportMetric(r[1]/r[0], "x_world")
	b.ReportMetric(r[1]/r[0]*64, "64x_world")
}
