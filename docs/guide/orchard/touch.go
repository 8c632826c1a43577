package orchard

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

func (g *Game) declareTouch(p *foretick.Protocol) {
	p.Shared("walk", g.walk, ecs.Read(&g.Cmd, &g.Match), ecs.Write(&g.Pos), ecs.Before("throw"), ecs.Partial())
	p.Server("pick", g.pick, ecs.Read(&g.Pos), ecs.Without(&g.Flight, &g.Name),
		ecs.ReadOther(&g.Pos), ecs.WriteOther(&g.Bag), ecs.Structural(), ecs.After("throw"))
}

// walk moves a body, each way on its own, so that it slides along walls.
func (g *Game) walk(f *foretick.Frame, rows ecs.Rows) {
	if g.Match.Get(f.World).Phase != Playing {
		return
	}
	pos, cmd := g.Pos.Slice(rows), g.Cmd.Slice(rows)
	for i := range pos {
		at := &pos[i]
		fast := speed * g.level.Ground(at.X, at.Y)
		if x := at.X + float32(cmd[i].X*fast*f.DT); !g.level.Solid(x, at.Y) {
			at.X = x
		}
		if y := at.Y + float32(cmd[i].Y*fast*f.DT); !g.level.Solid(at.X, y) {
			at.Y = y
		}
	}
}

// pick runs on the server alone. Its rows are the apples, so each goes to one player only.
func (g *Game) pick(f *foretick.ServerFrame, apples ecs.Rows) {
	for k, at := range g.Pos.Slice(apples) {
		if bag := g.near(f.World, at); bag != nil {
			bag.Apples++
			f.Destroy(apples.Entity(k)) // when the system has ended
		}
	}
}

// near returns the bag of a player who can reach, and has room.
func (g *Game) near(w *ecs.World, at Position) *Bag {
	for _, rows := range g.players.All(w) {
		pos, bag := g.Pos.Slice(rows), g.Bag.Slice(rows)
		for i := range bag {
			dx, dy := at.X-pos[i].X, at.Y-pos[i].Y
			if dx*dx+dy*dy < reach*reach && bag[i].Apples < 9 {
				return &bag[i]
			}
		}
	}
	return nil
}
