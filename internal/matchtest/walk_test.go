package matchtest

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

type Position struct {
	X, Y float32 `net:"min=-100,max=100,step=0.01,lerp"`
}

type Move struct {
	X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
}

// Walk is a game in which all players walk. Server and clients each have their own
// Walk.
type Walk struct {
	Pos    ecs.Component[Position]
	Move   ecs.Component[Move]
	Player ecs.Prefab
}

func (g *Walk) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("walk", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.Command(&g.Move)
	p.Prefab(&g.Player, "player", &g.Pos, &g.Move)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.Player, player) })
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, move := g.Pos.Slice(rows), g.Move.Slice(rows)
		for i := range pos {
			pos[i].X += float32(move[i].X * 5 * f.DT) // rounded: every machine gets the same sum
			pos[i].Y += float32(move[i].Y * 5 * f.DT)
		}
	}, ecs.Read(&g.Move), ecs.Write(&g.Pos))
	return p
}

// thing is the component of a protocol with a single component.
type thing struct{ N uint32 }
