package benchmarks

import (
	"github.com/yohamta/donburi"
	"github.com/yohamta/donburi/filter"
)

// donburi registers component types once per process.
var (
	donburiPos  = donburi.NewComponentType[Position]()
	donburiVel  = donburi.NewComponentType[Velocity](Velocity{X: 1, Y: 1})
	donburiTags = []donburi.IComponentType{
		donburi.NewComponentType[tag0](), donburi.NewComponentType[tag1](), donburi.NewComponentType[tag2](),
		donburi.NewComponentType[tag3](), donburi.NewComponentType[tag4](),
	}
)

// donburiWorld is donburi, with queries that are created once.
type donburiWorld struct {
	w    donburi.World
	both *donburi.Query
	es   []donburi.Entity
	ring [][]body
	at   int
}

func (d *donburiWorld) start() {
	d.w = donburi.NewWorld()
	d.both = donburi.NewQuery(filter.Contains(donburiPos, donburiVel))
}

func (d *donburiWorld) number() {
	for i, e := range d.es {
		donburiPos.Get(d.w.Entry(e)).X = float32(i)
	}
}

func (d *donburiWorld) create(n int) {
	d.es = d.es[:0]
	for range n {
		d.es = append(d.es, d.w.Create(donburiPos, donburiVel))
	}
	d.number()
}

func (d *donburiWorld) fill(n int) {
	d.start()
	d.create(n)
}

func (d *donburiWorld) Sum() (sum float64) {
	donburiPos.Each(d.w, func(e *donburi.Entry) { sum += float64(donburiPos.Get(e).X) })
	return sum
}

func (d *donburiWorld) Iterate(rows, sets int) Work {
	d.start()
	for i := range rows {
		types := []donburi.IComponentType{donburiPos, donburiVel}
		for k, tag := range donburiTags {
			if i%sets>>k&1 != 0 {
				types = append(types, tag)
			}
		}
		d.es = append(d.es, d.w.Create(types...))
	}
	d.number()
	return Work{Run: func() {
		d.both.Each(d.w, func(e *donburi.Entry) {
			p, v := donburiPos.Get(e), donburiVel.Get(e)
			p.X += v.X
			p.Y += v.Y
		})
	}}
}

func (d *donburiWorld) Get(order []int) Work {
	d.fill(len(order))
	hs := make([]donburi.Entity, len(order))
	for i, k := range order {
		hs[i] = d.es[k]
	}
	return Work{Run: func() {
		for _, e := range hs {
			donburiPos.Get(d.w.Entry(e)).X++
		}
	}}
}

func (d *donburiWorld) empty() {
	for _, e := range d.es {
		d.w.Remove(e)
	}
	d.es = d.es[:0]
}

func (d *donburiWorld) Create(n int) Work {
	d.fill(n)
	return Work{Setup: d.empty, Run: func() { d.create(n) }}
}

func (d *donburiWorld) CreateBatch(n int) Work {
	d.fill(n)
	return Work{Setup: d.empty, Run: func() {
		d.es = d.w.CreateMany(n, donburiPos, donburiVel)
		d.number()
	}}
}

func (d *donburiWorld) Destroy(n int) Work {
	d.start()
	return Work{Setup: func() { d.create(n) }, Run: func() {
		for _, e := range d.es {
			d.w.Remove(e)
		}
	}}
}

func (d *donburiWorld) AddRemove(n int) Work {
	d.start()
	for range n {
		d.es = append(d.es, d.w.Create(donburiPos))
	}
	return Work{Run: func() {
		for _, e := range d.es {
			donburi.Add(d.w.Entry(e), donburiVel, &Velocity{X: 1, Y: 1})
		}
		for _, e := range d.es {
			d.w.Entry(e).RemoveComponent(donburiVel)
		}
	}}
}

// Transfer replaces one tag with another.
func (d *donburiWorld) Transfer(n int) Work {
	d.start()
	from, to := donburiTags[0], donburiTags[1]
	for range n {
		d.es = append(d.es, d.w.Create(donburiPos, donburiVel, from))
	}
	d.number()
	return Work{Run: func() {
		for _, e := range d.es {
			entry := d.w.Entry(e)
			entry.AddComponent(to)
			entry.RemoveComponent(from)
		}
		from, to = to, from
	}}
}

// Save copies values one by one, since donburi keeps them behind pointers.
func (d *donburiWorld) Save(n, slots int) Work {
	d.fill(n)
	d.ring = make([][]body, slots)
	save := func() {
		d.at++
		s := d.ring[d.at%slots][:0]
		d.both.Each(d.w, func(e *donburi.Entry) {
			s = append(s, body{*donburiPos.Get(e), *donburiVel.Get(e)})
		})
		d.ring[d.at%slots] = s
	}
	for range slots {
		save()
	}
	return Work{Times: slots, Run: save}
}

// Restore copies the values back.
func (d *donburiWorld) Restore(n, slots int) Work {
	d.Save(n, slots)
	return Work{Times: slots, Run: func() {
		d.at++
		s, i := d.ring[d.at%slots], 0
		d.both.Each(d.w, func(e *donburi.Entry) {
			*donburiPos.Get(e), *donburiVel.Get(e) = s[i].Position, s[i].Velocity
			i++
		})
	}}
}

// SaveChanged returns no work: donburi cannot bring entities back.
func (d *donburiWorld) SaveChanged(int, int) Work { return Work{} }

// RestoreChanged returns no work either.
func (d *donburiWorld) RestoreChanged(int, int) Work { return Work{} }
