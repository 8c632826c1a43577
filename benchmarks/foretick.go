package benchmarks

import (
	"fmt"

	"github.com/foretick/foretick/ecs"
)

// foretick is package ecs.
type foretick struct {
	w       *ecs.World
	pos     ecs.Component[Position]
	vel     ecs.Component[Velocity]
	tags    [5]ecs.Component[struct{}]
	prefabs [32]ecs.Prefab // the first has no tags
	still   ecs.Prefab     // without velocity
	all     *ecs.Query
	es      []ecs.Entity
	h       *ecs.History
	at      int
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (f *foretick) start() {
	types := ecs.NewTypes()
	must(types.Register(&f.pos))
	must(types.Register(&f.vel))
	for i := range f.tags {
		must(types.Register(&f.tags[i], ecs.Named(fmt.Sprint("tag", i))))
	}
	for i := range f.prefabs {
		hs := []ecs.Handle{&f.pos, &f.vel}
		for k := range f.tags {
			if i>>k&1 != 0 {
				hs = append(hs, &f.tags[k])
			}
		}
		must(types.RegisterPrefab(&f.prefabs[i], fmt.Sprint("prefab", i), hs...))
		must(ecs.SetDefault(types, &f.prefabs[i], &f.vel, Velocity{X: 1, Y: 1}))
	}
	must(types.RegisterPrefab(&f.still, "still", &f.pos))
	f.all = ecs.NewQuery(types, ecs.With(&f.pos))
	f.w = ecs.NewWorld(types, ecs.WorldConfig{})
}

func (f *foretick) fill(n, sets int) {
	f.start()
	f.create(n, sets)
}

func (f *foretick) create(n, sets int) {
	f.es = f.es[:0]
	for i := range n {
		e := f.w.Spawn(&f.prefabs[i%sets], 1)
		f.pos.Get(f.w, e).X = float32(i)
		f.es = append(f.es, e)
	}
}

func (f *foretick) Sum() (sum float64) {
	for _, r := range f.all.All(f.w) {
		for _, p := range f.pos.Slice(r) {
			sum += float64(p.X)
		}
	}
	return sum
}

func (f *foretick) Iterate(rows, sets int) Work {
	f.fill(rows, sets)
	q := ecs.NewQuery(f.w.Types(), ecs.Write(&f.pos), ecs.Read(&f.vel))
	return Work{Run: func() {
		for _, r := range q.All(f.w) {
			move(f.pos.Slice(r), f.vel.Slice(r))
		}
	}}
}

func (f *foretick) Get(order []int) Work {
	f.fill(len(order), 1)
	hs := make([]ecs.Entity, len(order))
	for i, k := range order {
		hs[i] = f.es[k]
	}
	return Work{Run: func() {
		v := f.pos.View(f.w)
		for _, e := range hs {
			v.Get(e).X++
		}
	}}
}

func (f *foretick) empty() {
	f.w.DestroyBatch(f.es)
	f.es = f.es[:0]
}

func (f *foretick) Create(n int) Work {
	f.fill(n, 1)
	return Work{Setup: f.empty, Run: func() { f.create(n, 1) }}
}

func (f *foretick) CreateBatch(n int) Work {
	f.fill(n, 1)
	return Work{Setup: f.empty, Run: func() {
		f.es = f.es[:n]
		pos := f.pos.Slice(f.w.SpawnBatch(&f.prefabs[0], 1, f.es))
		for i := range pos {
			pos[i].X = float32(i)
		}
	}}
}

func (f *foretick) Destroy(n int) Work {
	f.start()
	return Work{Setup: func() { f.create(n, 1) }, Run: func() {
		for _, e := range f.es {
			f.w.Destroy(e)
		}
	}}
}

func (f *foretick) AddRemove(n int) Work {
	f.start()
	for range n {
		f.es = append(f.es, f.w.Spawn(&f.still, 1))
	}
	return Work{Run: func() {
		for _, e := range f.es {
			f.vel.Add(f.w, e, Velocity{X: 1, Y: 1})
		}
		for _, e := range f.es {
			f.vel.Remove(f.w, e)
		}
	}}
}

func (f *foretick) Transfer(n int) Work {
	f.fill(n, 1)
	to := ecs.Owner(2)
	return Work{Run: func() {
		for _, e := range f.es {
			must(f.w.Transfer(e, to))
		}
		to ^= 3
	}}
}

func (f *foretick) Save(n, slots int) Work {
	f.fill(n, 1)
	f.h = ecs.Engine(f.w).NewHistory(slots)
	for i := range slots {
		f.h.Save(i)
	}
	return Work{Times: slots, Run: func() {
		f.at++
		f.h.Save(f.at % slots)
	}}
}

func (f *foretick) Restore(n, slots int) Work {
	f.Save(n, slots)
	return Work{Times: slots, Run: func() {
		f.at++
		f.h.Restore(f.at % slots)
	}}
}

func (f *foretick) replace(n int) {
	f.empty()
	f.create(n, 1)
}

func (f *foretick) SaveChanged(n, slots int) Work {
	save := f.Save(n, slots).Run
	return Work{Setup: func() { f.replace(n) }, Run: save}
}

func (f *foretick) RestoreChanged(n, slots int) Work {
	f.Save(n, slots)
	for i := range slots {
		f.replace(n)
		f.h.Save(i)
	}
	return Work{Times: slots, Run: func() {
		f.at++
		f.h.Restore(f.at % slots)
	}}
}
