// Package duel has the game's rules, which server and clients share: players walk, aim
// and shoot on a field seen from above. It does not use windows or devices.
package duel

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
)

// The field, in metres, and the rules.
const (
	Width, Height = 32, 18
	Radius        = 0.5

	speed    = 7
	reach    = 24
	damage   = 25
	cooldown = 8 // ticks
)

type (
	// Position is where a player is, in metres.
	Position struct {
		X, Y float32 `net:"min=0,max=32,step=0.01,lerp"`
	}
	// Facing is the direction in which a player looks, in radians.
	Facing struct {
		Angle float32 `net:"angle,bits=12,lerp"`
	}
	// Gun is ready when Wait is 0. Nobody else needs to know.
	Gun struct {
		Wait uint8 `net:"max=8,owner"`
	}
	// Health is a player's health and score. Only the server writes it.
	Health struct {
		Points uint8 `net:"max=100"`
		Kills  uint16
	}
	// Command is a player's input for a tick. The tag "input" names the action of the
	// keymap. Aim has none: it depends on the mouse and on where the player is.
	Command struct {
		X    float32 `net:"min=-1,max=1,step=0.0078125" input:"move.x"`
		Y    float32 `net:"min=-1,max=1,step=0.0078125" input:"move.y"`
		Aim  float32 `net:"angle,bits=12,press"`
		Fire bool    `net:"oneshot" input:"fire,just_pressed"`
	}
)

// Shot is raised on both ends when a gun fires.
type Shot struct{ Ray lagcomp.Ray }

// Traced is the message that shows a shot on all clients: from where to where, whose it is,
// and whether it hit.
type Traced struct {
	X, Y, ToX, ToY float32 `net:"min=-32,max=64,step=0.05"`
	By             uint16
	Hit            bool
}

// Game holds the handles of one end.
type Game struct {
	Pos    ecs.Component[Position]
	Face   ecs.Component[Facing]
	Gun    ecs.Component[Gun]
	Health ecs.Component[Health]
	Cmd    ecs.Component[Command]
	Player ecs.Prefab

	shot   foretick.Event[Shot]
	traced foretick.Message[Traced]

	players *ecs.Query

	// OnShot draws and plays a shot on a client: one of its own player at once, those of others
	// when the server's message arrives. It may be nil.
	OnShot func(s Traced, own bool)
}

// Protocol declares the game.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("duel", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.Component(&g.Face, foretick.Predicted())
	p.Component(&g.Gun, foretick.Predicted())
	p.Component(&g.Health)
	p.Command(&g.Cmd)
	p.Prefab(&g.Player, "player", &g.Pos, &g.Face, &g.Gun, &g.Health, &g.Cmd)
	p.OnJoin(g.join)
	p.Shared("walk", g.walk, ecs.Read(&g.Cmd), ecs.Write(&g.Pos, &g.Face))
	p.Shared("fire", g.fire, ecs.Read(&g.Cmd, &g.Pos, &g.Face), ecs.Write(&g.Gun))
	p.Channel("effects", netcode.Channel{}) // not reliable: a late shot is worth nothing
	g.traced.Channel = "effects"
	g.traced.OnClient(p, g.seen)
	g.shot.OnPredicted(p, g.predicted)
	g.shot.OnServer(p, g.judge, ecs.WriteOther(&g.Health, &g.Pos))
	foretick.Hitbox(p, &g.Pos, func(at *Position) lagcomp.Sphere { return lagcomp.Sphere{X: at.X, Y: at.Y, R: Radius} })
	g.players = p.Query(ecs.With(&g.Pos, &g.Health))
	return p
}

// Players returns the query that matches the bodies of all players.
func (g *Game) Players() *ecs.Query { return g.players }

// join gives a new player its body.
func (g *Game) join(f *foretick.ServerFrame, player foretick.PlayerID) {
	e := f.Spawn(&g.Player, player)
	g.Health.Get(f.World, e).Points = 100
	*g.Pos.Get(f.World, e) = g.place(f.Frame, player)
}

// place chooses at random where a player begins. Only the server calls it.
func (g *Game) place(f *foretick.Frame, player foretick.PlayerID) Position {
	r := f.Rand(uint64(player))
	return Position{X: 2 + float32(r%(Width-4)), Y: 2 + float32(r>>32%(Height-4))}
}

// walk runs on the server for all players, and on a client for its own player.
func (g *Game) walk(f *foretick.Frame, rows ecs.Rows) {
	pos, face, cmd := g.Pos.Slice(rows), g.Face.Slice(rows), g.Cmd.Slice(rows)
	for i := range pos {
		pos[i].X = min(max(pos[i].X+float32(cmd[i].X*speed*f.DT), Radius), Width-Radius)
		pos[i].Y = min(max(pos[i].Y+float32(cmd[i].Y*speed*f.DT), Radius), Height-Radius)
		face[i].Angle = cmd[i].Aim
	}
}
