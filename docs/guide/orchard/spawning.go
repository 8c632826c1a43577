package orchard

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Flight is what a thrown apple has besides its position.
type Flight struct {
	VX, VY float32 `net:"min=-16,max=16,step=0.01"`
	Left   uint8   `net:"max=30"` // ticks until it is gone
}

func (g *Game) declareSpawns(p *foretick.Protocol) {
	p.Component(&g.Flight, foretick.Predicted())
	p.Prefab(&g.Apple, "apple", &g.Pos)
	p.Prefab(&g.Thrown, "thrown", &g.Pos, &g.Flight)
	p.Spawns(&g.Thrown, foretick.SpawnConfig{})
	p.Server("grow", g.grow, ecs.Once(), ecs.Read(&g.Match), ecs.Create(&g.Pos))
	p.Shared("throw", g.throw, ecs.Read(&g.Cmd), ecs.Write(&g.Pos, &g.Bag), ecs.Create(&g.Pos, &g.Flight))
	p.Shared("fly", g.fly, ecs.Write(&g.Pos, &g.Flight), ecs.Structural())
}

// grow lets an apple fall each second, if there are less than eight.
func (g *Game) grow(f *foretick.ServerFrame, _ ecs.Rows) {
	if f.Tick%30 != 0 || g.Match.Get(f.World).Phase != Playing || g.count(f.World) >= 8 {
		return
	}
	apple, r := f.Spawn(&g.Apple, ecs.Nobody), f.Rand(0)
	*g.Pos.Get(f.World, apple) = Position{X: 2 + float32(r%28), Y: 2 + float32(r>>32%28)}
	g.Fell.Broadcast(f, Fell(*g.Pos.Get(f.World, apple)))
}

// throw runs on both ends: the apple flies at once.
func (g *Game) throw(f *foretick.Frame, rows ecs.Rows) {
	pos, bag, cmd := g.Pos.Slice(rows), g.Bag.Slice(rows), g.Cmd.Slice(rows)
	for i := range bag {
		if !cmd[i].Throw || bag[i].Apples == 0 {
			continue
		}
		bag[i].Apples--
		apple := f.SpawnBy(rows.Entity(i), &g.Thrown) // its owner is the player
		*g.Pos.Get(f.World, apple) = pos[i]
		*g.Flight.Get(f.World, apple) = Flight{VX: cmd[i].X * 12, VY: cmd[i].Y * 12, Left: 30}
	}
}

// fly moves what was thrown, and ends it.
func (g *Game) fly(f *foretick.Frame, rows ecs.Rows) {
	pos, flight := g.Pos.Slice(rows), g.Flight.Slice(rows)
	for i := range flight {
		pos[i].X = min(max(pos[i].X+float32(flight[i].VX*f.DT), 0), Size)
		pos[i].Y = min(max(pos[i].Y+float32(flight[i].VY*f.DT), 0), Size)
		if flight[i].Left--; flight[i].Left == 0 {
			f.Destroy(rows.Entity(i))
		}
	}
}

func (g *Game) count(w *ecs.World) int {
	n := 0
	for _, rows := range g.apples.All(w) {
		n += rows.Len()
	}
	return n
}
