package benchmarks

import "github.com/mlange-42/ark/ecs"

// group is the relation between whose targets ark's entities are transferred.
type group struct{ ecs.RelationMarker }

type (
	tag0 struct{}
	tag1 struct{}
	tag2 struct{}
	tag3 struct{}
	tag4 struct{}
)

// arkWorld is ark, processing whole tables where possible.
type arkWorld struct {
	w      *ecs.World
	both   *ecs.Map2[Position, Velocity]
	pos    *ecs.Map1[Position]
	vel    *ecs.Map1[Velocity]
	filter *ecs.Filter2[Position, Velocity]
	es     []ecs.Entity
	ring   []arkSlot
	at     int
}

// arkSlot is a hand-written save: the columns and, where entities change, ark's
// dump of them.
type arkSlot struct {
	pos  []Position
	vel  []Velocity
	ids  []ecs.Entity
	dump ecs.EntityDump
}

func (a *arkWorld) start() {
	a.w = ecs.NewWorld()
	a.both = ecs.NewMap2[Position, Velocity](a.w)
	a.pos = ecs.NewMap1[Position](a.w)
	a.vel = ecs.NewMap1[Velocity](a.w)
	a.filter = ecs.NewFilter2[Position, Velocity](a.w).Register()
}

func (a *arkWorld) create(n int) {
	a.es = a.es[:0]
	for i := range n {
		a.es = append(a.es, a.both.NewEntity(&Position{X: float32(i)}, &Velocity{X: 1, Y: 1}))
	}
}

func (a *arkWorld) fill(n int) {
	a.start()
	a.create(n)
}

func (a *arkWorld) Sum() (sum float64) {
	q := ecs.NewFilter1[Position](a.w).Query()
	for q.Next() {
		sum += float64(q.Get().X)
	}
	return sum
}

func (a *arkWorld) Iterate(rows, sets int) Work {
	a.fill(rows)
	adders := []func(ecs.Entity){
		adder[tag0](a.w), adder[tag1](a.w), adder[tag2](a.w), adder[tag3](a.w), adder[tag4](a.w),
	}
	for i, e := range a.es {
		for k, add := range adders {
			if i%sets>>k&1 != 0 {
				add(e)
			}
		}
	}
	return Work{Run: func() {
		q := a.filter.Query()
		for q.NextTable() {
			move(q.GetColumns())
		}
	}}
}

func adder[T any](w *ecs.World) func(ecs.Entity) {
	m := ecs.NewMap1[T](w)
	return func(e ecs.Entity) { m.Add(e, new(T)) }
}

func (a *arkWorld) Get(order []int) Work {
	a.fill(len(order))
	hs := make([]ecs.Entity, len(order))
	for i, k := range order {
		hs[i] = a.es[k]
	}
	m := ecs.NewMap[Position](a.w)
	return Work{Run: func() {
		for _, e := range hs {
			m.Get(e).X++
		}
	}}
}

func (a *arkWorld) empty() {
	a.w.RemoveEntities(a.filter.Batch(), nil)
	a.es = a.es[:0]
}

func (a *arkWorld) Create(n int) Work {
	a.fill(n)
	return Work{Setup: a.empty, Run: func() { a.create(n) }}
}

func (a *arkWorld) CreateBatch(n int) Work {
	a.fill(n)
	return Work{Setup: a.empty, Run: func() {
		i := 0
		a.both.NewBatchFn(n, func(_ ecs.Entity, p *Position, v *Velocity) {
			*p, *v = Position{X: float32(i)}, Velocity{X: 1, Y: 1}
			i++
		})
	}}
}

func (a *arkWorld) Destroy(n int) Work {
	a.start()
	return Work{Setup: func() { a.create(n) }, Run: func() {
		for _, e := range a.es {
			a.w.RemoveEntity(e)
		}
	}}
}

func (a *arkWorld) AddRemove(n int) Work {
	a.start()
	for range n {
		a.es = append(a.es, a.pos.NewEntity(&Position{}))
	}
	return Work{Run: func() {
		for _, e := range a.es {
			a.vel.Add(e, &Velocity{X: 1, Y: 1})
		}
		for _, e := range a.es {
			a.vel.Remove(e)
		}
	}}
}

func (a *arkWorld) Transfer(n int) Work {
	a.start()
	one, two := a.w.NewEntity(), a.w.NewEntity()
	m := ecs.NewMap3[Position, Velocity, group](a.w)
	rel := ecs.NewMap[group](a.w)
	for i := range n {
		a.es = append(a.es, m.NewEntity(&Position{X: float32(i)}, &Velocity{X: 1, Y: 1}, &group{}, ecs.RelIdx(2, one)))
	}
	return Work{Run: func() {
		for _, e := range a.es {
			rel.SetRelation(e, two)
		}
		one, two = two, one
	}}
}

func (a *arkWorld) save(s *arkSlot) {
	s.pos, s.vel = s.pos[:0], s.vel[:0]
	q := a.filter.Query()
	for q.NextTable() {
		pos, vel := q.GetColumns()
		s.pos, s.vel = append(s.pos, pos...), append(s.vel, vel...)
	}
}

// Save copies only columns.
func (a *arkWorld) Save(n, slots int) Work {
	a.fill(n)
	a.ring = make([]arkSlot, slots)
	for i := range a.ring {
		a.save(&a.ring[i])
	}
	return Work{Times: slots, Run: func() {
		a.at++
		a.save(&a.ring[a.at%slots])
	}}
}

// Restore copies only columns.
func (a *arkWorld) Restore(n, slots int) Work {
	a.Save(n, slots)
	return Work{Times: slots, Run: func() {
		a.at++
		s, at := &a.ring[a.at%slots], 0
		q := a.filter.Query()
		for q.NextTable() {
			pos, vel := q.GetColumns()
			copy(pos, s.pos[at:])
			at += copy(vel, s.vel[at:])
		}
	}}
}

// saveAll saves everything needed to rebuild the world.
func (a *arkWorld) saveAll(s *arkSlot) {
	a.save(s)
	s.ids = s.ids[:0]
	q := a.filter.Query()
	for q.NextTable() {
		s.ids = append(s.ids, q.Entities()...)
	}
	s.dump = a.w.Unsafe().DumpEntities()
}

func (a *arkWorld) SaveChanged(n, slots int) Work {
	a.Save(n, slots)
	for i := range a.ring {
		a.saveAll(&a.ring[i])
	}
	return Work{Setup: func() {
		a.empty()
		a.create(n)
	}, Run: func() {
		a.at++
		a.saveAll(&a.ring[a.at%slots])
	}}
}

// RestoreChanged rebuilds the world with the same handles.
func (a *arkWorld) RestoreChanged(n, slots int) Work {
	a.Save(n, slots)
	for i := range a.ring {
		a.empty()
		a.create(n)
		a.saveAll(&a.ring[i])
	}
	return Work{Times: slots, Run: func() {
		a.at++
		s := &a.ring[a.at%slots]
		a.w.Reset()
		a.w.Unsafe().LoadEntities(&s.dump)
		for i, e := range s.ids {
			a.both.Add(e, &s.pos[i], &s.vel[i])
		}
	}}
}
