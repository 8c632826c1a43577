package main

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// tickRate is how many times a second the rules run.
const tickRate = 30

// Position is where a player is, in metres. It is sent in steps of a centimetre.
type Position struct {
	X, Y float32 `net:"min=-100,max=100,step=0.01,lerp"`
}

// Move is a player's command for a tick: how far its stick points in each direction.
type Move struct {
	X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
}

// Game has the components and prefabs. Each end makes a Game of its own.
type Game struct {
	Pos    ecs.Component[Position]
	Move   ecs.Component[Move]
	Player ecs.Prefab
}

// Protocol returns the rules. Server and clients must build the same ones.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("hello", 1)
	p.SetTickRate(tickRate)
	p.Component(&g.Pos, foretick.Predicted())
	p.Command(&g.Move)
	p.Prefab(&g.Player, "player", &g.Pos, &g.Move)
	p.OnJoin(g.join)
	p.Shared("move", g.move, ecs.Read(&g.Move), ecs.Write(&g.Pos))
	return p
}

// join runs on the server. When a player leaves, what was spawned for it is removed.
func (g *Game) join(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.Player, player) }

// move runs on the server for all players, and on each client for its own player, ahead of
// the server. So it reads components alone, no clock and no random numbers.
func (g *Game) move(f *foretick.Frame, rows ecs.Rows) {
	pos := g.Pos.Slice(rows)
	for i, move := range g.Move.Slice(rows) {
		pos[i].X += float32(move.X * 5 * f.DT) // float32: rounded alike on every machine
		pos[i].Y += float32(move.Y * 5 * f.DT)
	}
}
