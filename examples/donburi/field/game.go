package field

import (
	"github.com/yohamta/donburi"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/bridge"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
)

// The components are plain structs. Donburi keeps them for the game's systems, and Foretick's
// world keeps them for the network. Their tags say how they are sent.
type (
	// Position is where an entity is in the field.
	Position struct {
		X, Y float32 `net:"min=0,max=60,step=0.01,lerp"`
	}
	// Motion is an entity's velocity.
	Motion struct {
		VX, VY float32 `net:"min=-40,max=40,step=0.02"`
		Rest   uint8   `net:"max=60"` // how many ticks until a runner may throw again
	}
	// Purse counts a player's coins. Only the server changes it.
	Purse struct{ Coins uint16 }
	// Fuse says how many ticks a ball still flies.
	Fuse struct {
		Left uint8 `net:"max=60"`
	}
	// Pad is a player's input.
	Pad struct {
		X, Y  float32 `net:"min=-1,max=1,step=0.0078125"`
		Throw bool
	}
)

// The size of the field, and how things move in it.
const (
	wide, high = 60, 20
	runSpeed   = 9 // units a second
	ballSpeed  = 18
	coins      = 8 // how many are in the field
)

// box is a wall: its left, right, bottom and top.
type box struct{ l, r, b, t float32 }

var walls = []box{{12, 14, 4, 15}, {26, 36, 9, 11}, {46, 48, 4, 15}}

// Game holds the handles of one end, and its donburi world.
type Game struct {
	Position ecs.Component[Position]
	Motion   ecs.Component[Motion]
	Purse    ecs.Component[Purse]
	Fuse     ecs.Component[Fuse]
	Pad      ecs.Component[Pad]

	Runner, Ball, Coin ecs.Prefab

	own    donburi.World
	bridge *bridge.Bridge[donburi.Entity]
}

// Protocol declares the game. The systems are the game's own, over donburi entities.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("donburi", 1)
	p.Component(&g.Position, foretick.Predicted())
	p.Component(&g.Motion, foretick.Predicted())
	p.Component(&g.Fuse, foretick.Predicted())
	p.Component(&g.Purse)
	p.Command(&g.Pad)
	p.Prefab(&g.Runner, "runner", &g.Position, &g.Motion, &g.Purse, &g.Pad)
	p.Prefab(&g.Ball, "ball", &g.Position, &g.Motion, &g.Fuse)
	p.Prefab(&g.Coin, "coin", &g.Position)
	foretick.Default(p, &g.Ball, &g.Fuse, Fuse{Left: 40})
	p.Spawns(&g.Ball, foretick.SpawnConfig{})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		*g.Position.Get(f.World, f.Spawn(&g.Runner, player)) = Position{X: 5, Y: float32(player%8) * 2}
	})
	g.connect()
	g.bridge.System(p, "run", g.run, ecs.Read(&g.Pad), ecs.Write(&g.Motion))
	g.bridge.System(p, "move", g.move, ecs.Write(&g.Position, &g.Motion), ecs.After("run"))
	g.bridge.System(p, "throw", g.throw, ecs.Read(&g.Pad, &g.Position), ecs.Write(&g.Motion), ecs.Create(&g.Position, &g.Motion, &g.Fuse), ecs.After("move"))
	g.bridge.System(p, "burn", g.burn, ecs.Write(&g.Fuse), ecs.Structural(), ecs.After("throw"))
	g.bridge.System(p, "hit", g.hit, ecs.Read(&g.Position, &g.Fuse), ecs.WriteOther(&g.Motion), ecs.ReadOther(&g.Position), ecs.Structural(), ecs.After("burn"), ecs.Tags(foretick.TagServer))
	g.bridge.System(p, "collect", g.collect, ecs.Read(&g.Motion), ecs.WriteOther(&g.Position, &g.Purse), ecs.After("hit"), ecs.Tags(foretick.TagServer))
	return p
}

// Fill puts the coins into a server's world.
func (g *Game) Fill(s *server.Server) {
	for n := range coins {
		*g.Position.Get(s.World(), s.Frame().Spawn(&g.Coin, ecs.Nobody)) = Position{X: float32(8 + n*7), Y: float32(2 + n*5%17)}
	}
}
