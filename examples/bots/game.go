package main

import (
	"math"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// Position is where a player is, in metres.
type Position struct {
	X, Y float32 `net:"min=-1024,max=1024,step=0.01,lerp"`
}

// Command is a player's input.
type Command struct {
	X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
}

// Game is the game that the bots play: players walk about. Replace it by your own.
type Game struct {
	Pos    ecs.Component[Position]
	Cmd    ecs.Component[Command]
	Avatar ecs.Prefab
	rate   int
	near   float32
}

const speed = 5 // metres a second

// Protocol declares the game. It is the same on both ends.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("bots", 1)
	p.SetTickRate(g.rate)
	p.Component(&g.Pos, foretick.Predicted())
	p.Command(&g.Cmd)
	p.Prefab(&g.Avatar, "avatar", &g.Pos, &g.Cmd)
	if g.near > 0 {
		foretick.Interest(p, &g.Pos, snapshot.AreaConfig{Enter: g.near, Leave: g.near * 1.2}, func(v *Position) (x, y, z float32) { return v.X, v.Y, 0 })
	}
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		e := f.Spawn(&g.Avatar, player)
		row := float32(math.Floor(float64(player) / 64)) // 64 of them stand in a row, 15 m apart
		*g.Pos.Get(f.World, e) = Position{X: (float32(player)-row*64)*15 - 480, Y: row*15 - 480}
	})
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.Pos.Slice(rows), g.Cmd.Slice(rows)
		for i := range pos {
			pos[i].X += float32(cmd[i].X * speed * f.DT)
			pos[i].Y += float32(cmd[i].Y * speed * f.DT)
		}
	}, ecs.Read(&g.Cmd), ecs.Write(&g.Pos))
	return p
}

// walk returns a bot's input. Each bot walks in a circle of its own, and starts at a different angle.
func walk(bot int, tick uint32, rate int) Command {
	s, c := math.Sincos(float64(tick)/float64(rate) + float64(bot))
	return Command{X: float32(c), Y: float32(s)}
}
