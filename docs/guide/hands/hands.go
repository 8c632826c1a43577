// Package hands is the game of the guide's page about things that change hands: a car with a driver,
// and a ball that is thrown and caught.
package hands

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
)

// The rules.
const (
	TopSpeed   = 15  // of the car, metres a second
	ThrowSpeed = 18  // of the ball, metres a second
	reach      = 0.7 // metres from the hand, to catch
	armLength  = 0.5
)

type (
	// Position in metres.
	Position struct {
		X, Y float32 `net:"min=-512,max=512,step=0.01,lerp"`
	}
	// Velocity in metres a second.
	Velocity struct {
		X, Y float32 `net:"min=-40,max=40,step=0.01"`
	}
	// Held says that a ball is in its owner's hand.
	Held struct{ Held bool }
	// Seat marks a car.
	Seat struct{ Doors uint8 }
	// Command is a player's input of a tick.
	Command struct {
		Gas   float32 `net:"min=-1,max=1,step=0.0078125"`
		Board bool    `net:"oneshot"`
		Throw bool    `net:"oneshot"`
		Fire  bool    `net:"oneshot"`
	}
)

// Game has the components and prefabs of the game.
type Game struct {
	Pos  ecs.Component[Position]
	Vel  ecs.Component[Velocity]
	Held ecs.Component[Held]
	Seat ecs.Component[Seat]
	Cmd  ecs.Component[Command]

	Body, Car, Ball ecs.Prefab

	boarded, thrown, fired foretick.Event[bool]

	bodies, cars, balls *ecs.Query
	shot                func(f *foretick.Frame, saw foretick.HitView) // for tests
}

// Protocol declares the game.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("hands", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.Component(&g.Vel, foretick.Predicted())
	p.Component(&g.Held, foretick.Predicted())
	p.Component(&g.Seat)
	p.Command(&g.Cmd)
	p.Prefab(&g.Body, "body", &g.Pos, &g.Cmd)
	p.Prefab(&g.Car, "car", &g.Pos, &g.Vel, &g.Seat, &g.Cmd)   // whoever owns it drives it
	p.Prefab(&g.Ball, "ball", &g.Pos, &g.Vel, &g.Held, &g.Cmd) // whoever owns it throws it
	foretick.Hitbox(p, &g.Pos, func(at *Position) lagcomp.Sphere { return lagcomp.Sphere{X: at.X, Y: at.Y, R: 1} })
	g.bodies = p.Query(ecs.With(&g.Pos, &g.Cmd), ecs.Without(&g.Vel))
	g.cars, g.balls = p.Query(ecs.With(&g.Seat)), p.Query(ecs.With(&g.Held))
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.Pos.Get(f.World, f.Spawn(&g.Body, player)).Y = 4 * float32(player)
	})
	p.OnLeave(g.putDown)
	p.Shared("board", g.board, ecs.Read(&g.Cmd), ecs.Without(&g.Vel))
	p.Shared("drive", g.drive, ecs.Read(&g.Cmd), ecs.Write(&g.Pos, &g.Vel), ecs.With(&g.Seat))
	p.Shared("carry", g.carry, ecs.Read(&g.Cmd), ecs.Write(&g.Pos, &g.Vel, &g.Held), ecs.ReadOther(&g.Pos))
	p.Server("catch", g.catch, ecs.Write(&g.Held, &g.Vel), ecs.Read(&g.Pos), ecs.ReadOther(&g.Pos), ecs.Structural(), ecs.After("carry"))
	g.boarded.OnServer(p, g.takeWheel, ecs.Structural())
	g.thrown.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, _ bool) {
		_ = f.World.Transfer(by.Entity, ecs.Nobody) // its place and speed are as the thrower predicted them
	}, ecs.Structural())
	fire := func(f *foretick.Frame, by foretick.By, _ bool) {
		if g.shot != nil {
			g.shot(f, f.Rewind(by.Player))
		}
	}
	g.fired.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, v bool) { fire(f.Frame, by, v) })
	g.fired.OnPredicted(p, fire)
	return p
}

// board runs for bodies. A player gets in by an event, because only the server gives the car away.
func (g *Game) board(f *foretick.Frame, rows ecs.Rows) {
	for i, cmd := range g.Cmd.Slice(rows) {
		if cmd.Board {
			g.boarded.Raise(f, rows.Entity(i), true)
		}
		if cmd.Fire {
			g.fired.Raise(f, rows.Entity(i), true)
		}
	}
}

// takeWheel gives the car to a player who wants it, if nobody has it.
func (g *Game) takeWheel(f *foretick.ServerFrame, by foretick.By, _ bool) {
	for _, rows := range g.cars.Owned(f.World, ecs.Nobody) {
		_ = f.World.Transfer(rows.Entity(0), by.Player)
		return
	}
}

// drive runs for the car on the server, and on its owner's client with the owner's command. Nobody's
// car has an empty command: it rolls out.
func (g *Game) drive(f *foretick.Frame, rows ecs.Rows) {
	pos, vel, cmd := g.Pos.Slice(rows), g.Vel.Slice(rows), g.Cmd.Slice(rows)
	for i := range pos {
		vel[i].X += float32((float32(cmd[i].Gas*TopSpeed) - vel[i].X) * 0.1)
		pos[i].X += float32(vel[i].X * f.DT)
	}
}

// carry runs for the ball. It holds the ball in its owner's hand, on each end. So the ball is drawn
// there, by whoever draws both.
func (g *Game) carry(f *foretick.Frame, rows ecs.Rows) {
	pos, vel, held, cmd := g.Pos.Slice(rows), g.Vel.Slice(rows), g.Held.Slice(rows), g.Cmd.Slice(rows)
	for i := range pos {
		if body := g.bodies.FirstOwned(f.World, rows.Owner()); held[i].Held && body != ecs.None {
			hand := g.Pos.Get(f.World, body)
			pos[i], vel[i] = Position{X: hand.X + armLength, Y: hand.Y}, Velocity{}
			if cmd[i].Throw {
				held[i].Held, vel[i].X = false, ThrowSpeed
				g.thrown.Raise(f, rows.Entity(i), true)
			}
		}
		pos[i].X += float32(vel[i].X * f.DT)
		pos[i].Y += float32(vel[i].Y * f.DT)
	}
}

// catch runs on the server alone: a ball that nobody owns goes to whoever reaches it.
func (g *Game) catch(f *foretick.ServerFrame, balls ecs.Rows) {
	if balls.Owner() != ecs.Nobody {
		return
	}
	for i, at := range g.Pos.Slice(balls) {
		for _, bodies := range g.bodies.All(f.World) {
			body := g.Pos.Slice(bodies)[0]
			if dx, dy := body.X+armLength-at.X, body.Y-at.Y; dx >= 0 && float32(dx*dx+dy*dy) < reach*reach {
				g.Held.Slice(balls)[i].Held = true
				_ = f.World.Transfer(balls.Entity(i), bodies.Owner()) // when the system has ended
				break
			}
		}
	}
}

// putDown keeps what a player leaves behind: whatever it still owned afterwards would be destroyed.
func (g *Game) putDown(f *foretick.ServerFrame, player foretick.PlayerID) {
	for _, things := range []*ecs.Query{g.cars, g.balls} {
		for _, rows := range things.Owned(f.World, player) {
			for _, e := range rows.Entities() {
				if held := g.Held.Find(f.World, e); held != nil {
					held.Held = false
				}
				_ = f.World.Transfer(e, ecs.Nobody)
			}
		}
	}
}
