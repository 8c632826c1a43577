// Package platformer has the rules of a platformer with a lift. The library resolv
// (github.com/solarlune/resolv) finds the collisions. Copy it for games that only need collisions:
// a library that computes from positions has nothing to roll back, as long as the game keeps no
// state in its shapes. See move.
//
//	go run ./platformer/window   play, with bots, in a window
//	go run ./platformer/bots     what bots measured; with -watch in the terminal
package platformer

import (
	"github.com/solarlune/resolv"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

type (
	// Body is the motion of a jumper: the centre of its box and its velocity, in tiles. Up is
	// positive.
	Body struct {
		X, Y     float32 `net:"min=-4,max=64,step=0.01,lerp"`
		VX, VY   float32 `net:"min=-40,max=40,step=0.02"`
		Grounded uint8   `net:"max=8"` // for how many ticks it may still jump
		Wanted   uint8   `net:"max=8"` // for how many ticks a press still counts
	}
	// Command is a player's input.
	Command struct {
		X    float32 `net:"min=-1,max=1,step=0.0078125"`
		Jump bool    `net:"oneshot"`
	}
)

// The level, in tiles.
const (
	Wide, High    = 60, 20
	Width, Height = 0.8, 1.6 // the size of a jumper
	runSpeed      = 9
	jumpSpeed     = 15
	gravity       = 40
	fall          = 20   // the fastest fall
	skin          = 0.02 // what is nearer than this counts as touching
	liftX         = 16
	liftPeriod    = 120 // ticks
)

// Game holds the handles of one end, and its shapes.
type Game struct {
	Body   ecs.Component[Body]
	Cmd    ecs.Component[Command]
	Jumper ecs.Prefab

	bodies *ecs.Query
	// The shapes hold no state. Those of the level never move, the lift's place depends on the tick
	// alone, and the jumper's shape is placed from the component before each use. So none of them
	// needs to be rolled back. They are in a slice instead of a resolv.Space: a Space sorts shapes
	// by when they were added, and IntersectionTest keeps its list in a global variable.
	solids []*resolv.ConvexPolygon
	lift   *resolv.ConvexPolygon // one of solids
	box    *resolv.ConvexPolygon // the shape of a jumper
}

// Protocol declares the game.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("platformer", 1)
	p.Component(&g.Body, foretick.Predicted())
	p.Command(&g.Cmd)
	p.Prefab(&g.Jumper, "jumper", &g.Body, &g.Cmd)
	g.bodies = p.Query(ecs.With(&g.Body))
	for _, r := range [][4]float64{ // left, bottom, right, top
		{-2, -2, 62, 1}, {-2, 1, 0, 22}, {60, 1, 62, 22}, // the ground and the walls
		{8, 3, 14, 4}, {18, 5, 24, 6}, {4, 8, 12, 9}, {40, 3.5, 46, 4.5}, {50, 6, 56, 7}, {44, 10, 50, 11}, {20, 12, 28, 13},
	} {
		g.solids = append(g.solids, resolv.NewRectangleFromCorners(r[0], r[1], r[2], r[3]))
	}
	g.lift = resolv.NewRectangle(liftX, 0, 4, 0.6)
	g.solids = append(g.solids, g.lift)
	g.box = resolv.NewRectangle(0, 0, Width, Height)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		*g.Body.Get(f.World, f.Spawn(&g.Jumper, player)) = Body{X: 2 + float32(player%8)*2, Y: 2}
	})
	p.Shared("move", g.move, ecs.Read(&g.Cmd), ecs.Write(&g.Body))
	return p
}

// liftAt returns the height of the lift's centre at the end of a tick. Both ends compute it from
// the tick, so the lift needs no entity.
func liftAt(t foretick.Tick) float32 {
	phase := int32(t%liftPeriod) - liftPeriod/2
	return 3.2 + float32(float32(max(phase, -phase))*0.1)
}

// move runs on the server for every jumper, and on a client for its own. Jumpers pass through
// one another, so each needs only itself, the level and the tick.
func (g *Game) move(f *foretick.Frame, rows ecs.Rows) {
	cmd, body := g.Cmd.Slice(rows), g.Body.Slice(rows)
	rise := liftAt(f.Tick) - liftAt(f.Tick-1)
	for i := range body {
		b := &body[i]
		g.lift.SetPosition(liftX, float64(liftAt(f.Tick-1)))
		rides := g.touches(b, -skin*2) == g.lift
		g.lift.SetPosition(liftX, float64(liftAt(f.Tick)))
		if rides {
			b.Y += rise
		}
		b.press(cmd[i], f.DT)
		g.slide(b, float32(b.VX*f.DT), 0)
		g.slide(b, 0, float32(b.VY*f.DT))
		if b.VY <= 0 && g.touches(b, -skin) != nil {
			b.Grounded = 4
		}
	}
}

// press changes the velocity by the input. A press counts shortly before landing too, and shortly
// after running off an edge. Both counts are in the component, so they are rolled back with it.
func (b *Body) press(c Command, dt float32) {
	b.VX += float32((float32(c.X*runSpeed) - b.VX) * 12 * dt)
	if max(b.VX, -b.VX) < 0.1 {
		b.VX = 0
	}
	b.VY = max(b.VY-float32(gravity*dt), -fall)
	b.Grounded, b.Wanted = b.Grounded-min(b.Grounded, 1), b.Wanted-min(b.Wanted, 1)
	if c.Jump {
		b.Wanted = 4
	}
	if b.Wanted > 0 && b.Grounded > 0 {
		b.VY, b.Wanted, b.Grounded = jumpSpeed, 0, 0
	}
}

// slide moves a jumper along one axis and out of what it runs into, in steps shorter than any solid
// is thick.
func (g *Game) slide(b *Body, x, y float32) {
	const steps = 2
	for range steps {
		b.X, b.Y = b.X+x/steps, b.Y+y/steps
		for _, s := range g.solids {
			out := g.overlap(b, s)
			switch {
			case x != 0 && out.X != 0:
				b.X, b.VX = b.X+float32(out.X), 0
			case y != 0 && out.Y != 0:
				b.Y, b.VY = b.Y+float32(out.Y), 0
			}
		}
	}
}

// overlap returns how far a jumper must move to leave a solid.
func (g *Game) overlap(b *Body, s *resolv.ConvexPolygon) resolv.Vector {
	g.box.SetPosition(float64(b.X), float64(b.Y))
	if g.box.Bounds().IsIntersecting(s.Bounds()) {
		if set := g.box.Intersection(s); !set.IsEmpty() {
			return set.MTV
		}
	}
	return resolv.Vector{}
}

// touches returns the first solid that a jumper would overlap if it were higher by y, or nil.
func (g *Game) touches(b *Body, y float32) *resolv.ConvexPolygon {
	moved := *b
	moved.Y += y
	for _, s := range g.solids {
		if g.overlap(&moved, s).Y != 0 {
			return s
		}
	}
	return nil
}
