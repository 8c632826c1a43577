// Package readme is the README's game with its line as one would first write it.
package readme

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
)

type Position struct {
	X, Y float32 `net:"min=-100,max=100,step=0.01,lerp"`
}

type Move struct {
	X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
}

type Game struct {
	Pos    ecs.Component[Position]
	Move   ecs.Component[Move]
	Player ecs.Prefab
}

func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("readme", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.Command(&g.Move)
	p.Prefab(&g.Player, "player", &g.Pos, &g.Move)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		*g.Pos.Get(f.World, f.Spawn(&g.Player, player)) = Position{X: 60, Y: -70}
	})
	p.Shared("move", g.move, ecs.Read(&g.Move), ecs.Write(&g.Pos))
	return p
}

func (g *Game) move(f *foretick.Frame, rows ecs.Rows) {
	pos, move := g.Pos.Slice(rows), g.Move.Slice(rows)
	for i := range pos {
		pos[i].X += move[i].X * 5 * f.DT // want `move\[i\].X \* 5 \* f.DT is added without being rounded`
		pos[i].Y += move[i].Y * 5 * f.DT // want `move\[i\].Y \* 5 \* f.DT is added without being rounded`
	}
}

// New returns one end, whose player walks to and fro on odd angles.
func New() simtest.Player {
	g := &Game{}
	walk := func(v client.View) Move {
		side := float32(v.Tick/40%2)*2 - 1
		return Move{X: side * float32(v.Tick%128) / 128, Y: side * float32(v.Tick%90) / 128}
	}
	return simtest.Player{Protocol: g.Protocol(), Sample: client.Sample(&g.Move, walk)}
}
