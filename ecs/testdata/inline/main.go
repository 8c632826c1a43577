// Program inline contains calls that a test expects to be inlined.
package main

import "github.com/foretick/foretick/ecs"

type position struct{ X, Y, Z, W float32 }

type game struct {
	pos ecs.Component[position]
	all *ecs.Query
}

func (g *game) body(w *ecs.World, e ecs.Entity) float32 {
	var sum float32
	for _, r := range g.all.All(w) {
		if r.Len() == 0 {
			continue
		}
		for _, p := range g.pos.Slice(r) {
			sum += p.X
		}
	}
	if p := g.pos.Find(w, e); p != nil {
		sum += p.X
	}
	v := g.pos.View(w)
	if p := v.Find(e); p != nil {
		sum += p.X
	}
	return sum + g.pos.Get(w, e).X + v.Get(e).X
}

func main() { new(game).body(nil, 0) }
