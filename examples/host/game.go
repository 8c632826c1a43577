package main

import (
	"math"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Position is where a player is, in metres.
type Position struct {
	X, Y float32 `net:"min=-128,max=128,step=0.01,lerp"`
}

// Command is a player's input.
type Command struct {
	X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
}

// Notice holds the tick of the end of a match whose process ends. It is 0 while that is not known. A
// game shows the time that is left: (Ends - View.Tick) / tickRate seconds.
type Notice struct{ Ends uint32 }

// Game is a game in which players walk about. Replace it by your own.
type Game struct {
	Pos    ecs.Component[Position]
	Cmd    ecs.Component[Command]
	Avatar ecs.Prefab
	Notice ecs.Singleton[Notice]
}

const (
	tickRate = 30 // ticks a second
	speed    = 5  // metres a second
)

// Protocol declares the game. It is the same on both ends.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("hosted", 1)
	p.SetTickRate(tickRate)
	p.Component(&g.Pos, foretick.Predicted())
	p.Command(&g.Cmd)
	p.Singleton(&g.Notice)
	p.Prefab(&g.Avatar, "avatar", &g.Pos, &g.Cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		e := f.Spawn(&g.Avatar, player)
		g.Pos.Get(f.World, e).X = float32(player % 16 * 4)
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

// walk returns the bots' input: they walk in a circle.
func walk(tick uint32) Command {
	s, c := math.Sincos(float64(tick) / tickRate)
	return Command{X: float32(c), Y: float32(s)}
}
