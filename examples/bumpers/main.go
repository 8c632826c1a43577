// Command bumpers is a football of bumper cars, to be copied for games of bodies that
// touch. Cars push one another, and a ball that is nobody's. The same code runs it all
// on the server, for everybody, and on each client, for whatever it predicts there:
//
//   - the player's own car, by his commands;
//   - the ball, since shared code writes it through the world (see collide);
//   - the others' cars, by what their players are taken to press (see guess).
//
// Without the last, which -blind leaves out, a client shows the other cars in the past,
// and its player drives into what has long moved on. So two minutes of four bots at
// 100 ms print, without flags and with -blind:
//
//	shown off, mean and worst of 100   own car      0.01 m  0.09 m   0.12 m  1.06 m
//	                                   other cars   0.04 m  0.42 m   0.82 m  2.03 m
//	                                   the ball     0.00 m  0.06 m   0.12 m  1.28 m
//	crashes                            the server's      491              417
//	                                   felt alone         35              124
//	                                   server alone        3               95
//	mispredictions                     foresight        5996                0
//	                                   untracked           0             5364
//
// Of others' states 27163 in 45540 were foreseen wrongly, for nobody knows when another
// turns his wheel, and the player and the ball were corrected for it as often as they
// are without foresight: but by centimetres, before it comes to a crash that was none.
// Where others run behind, it is by a metre. At -rtt 400ms they have the time to go
// elsewhere, and it is felt.
package main

import (
	"math"
	"os"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

type (
	// Body is of all that moves: cars and the ball.
	Body struct {
		X, Y   float32 `net:"min=-32,max=32,step=0.01,lerp"`
		VX, VY float32 `net:"min=-40,max=40,step=0.02"`
	}
	// Shape is what a kind of body is like. It never changes, and so never travels.
	Shape struct {
		Radius float32 `net:"min=0,max=4,step=0.125"`
		Mass   float32 `net:"min=0,max=16,step=0.125"`
	}
	// Drive is how a car is steered. What its driver holds is in it because others need
	// it to go on with, and nobody is sent another's command.
	Drive struct {
		Heading float32 `net:"angle,lerp"`
		Wheel   float32 `net:"min=-1,max=1,step=0.0078125"`
		Held    Command
	}
	// Score is the ball's, and the server's alone to change.
	Score struct {
		Left, Right uint8 `net:"max=255"` // goals that fell there
	}
	// Crash is raised where a car hits another.
	Crash struct{ With foretick.PlayerID }
	// Goal is raised where the ball crosses a line.
	Goal struct{ Right bool }
	// Command is a player's input.
	Command struct {
		Wheel    float32 `net:"min=-1,max=1,step=0.0078125"`
		Throttle float32 `net:"min=-1,max=1,step=0.0078125"`
	}
)

// The pitch, in metres from its centre.
const (
	halfLength, halfWidth, halfGoal = 20, 12, 4
	topSpeed                        = 14 // metres a second
	hard                            = 2  // the speed from which a touch is a crash
)

// Game holds the handles of one end.
type Game struct {
	Body  ecs.Component[Body]
	Shape ecs.Component[Shape]
	Drive ecs.Component[Drive]
	Score ecs.Component[Score]
	Cmd   ecs.Component[Command]

	Car, Ball ecs.Prefab

	Crashed foretick.Event[Crash]
	Scored  foretick.Event[Goal]

	bodies, balls *ecs.Query

	blind bool    // foresees nobody
	stood []stood // where everything was before the tick: see look
	heard func(tick foretick.Tick, by, with foretick.PlayerID)
}

// Protocol declares the game.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("bumpers", 1)
	p.Component(&g.Body, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.Shape)
	p.Component(&g.Drive, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.Score)
	p.Command(&g.Cmd)
	p.Prefab(&g.Car, "car", &g.Body, &g.Shape, &g.Drive, &g.Cmd)
	p.Prefab(&g.Ball, "ball", &g.Body, &g.Shape, &g.Score)
	foretick.Default(p, &g.Car, &g.Shape, Shape{Radius: 1, Mass: 5})
	foretick.Default(p, &g.Ball, &g.Shape, Shape{Radius: 0.75, Mass: 1})
	g.bodies = ecs.NewQuery(p.Types(), ecs.With(&g.Body, &g.Shape))
	g.balls = ecs.NewQuery(p.Types(), ecs.With(&g.Score))
	p.OnJoin(g.join)
	// Bodies touch where they were before the tick. So what was foreseen wrongly reaches
	// others a tick later, when a snapshot may have told better; and of a car that is not
	// run here, as with -blind, there is nothing in between to be known.
	p.Shared("look", g.look, ecs.Once(), ecs.ReadOther(&g.Body, &g.Shape), ecs.Before("collide", "drive", "roll", "goal"))
	p.Shared("collide", g.collide, ecs.With(&g.Drive), ecs.Write(&g.Body), ecs.WriteOther(&g.Body))
	p.Shared("drive", g.drive, ecs.Read(&g.Cmd), ecs.Write(&g.Drive, &g.Body))
	p.Shared("roll", g.roll, ecs.Read(&g.Shape), ecs.Write(&g.Body))
	p.Shared("goal", g.goal, ecs.With(&g.Score), ecs.Write(&g.Body))
	if !g.blind { // one call is all that remote prediction takes, besides FullPrecision
		foretick.PredictRemote(p, &g.Cmd, g.guess)
	}
	g.Crashed.OnPredicted(p, func(f *foretick.Frame, by ecs.Entity, c Crash) { g.heard(f.Tick, f.World.Owner(by), c.With) }) // a bang
	g.Crashed.OnServer(p, func(f *foretick.Frame, by foretick.PlayerID, c Crash) { g.heard(f.Tick, by, c.With) })            // a dent
	g.Scored.OnServer(p, g.count, ecs.WriteOther(&g.Score))
	return p
}

// join puts a player's car onto its side's half.
func (g *Game) join(f *foretick.Frame, player foretick.PlayerID) {
	car, side := f.Spawn(&g.Car, player), side(player)
	*g.Body.Get(f.World, car) = Body{X: -8 * side, Y: 4 * float32((player-1)/2)}
	if side < 0 {
		g.Drive.Get(f.World, car).Heading = math.Pi
	}
}

// side is the end of the pitch at which a player scores.
func side(player foretick.PlayerID) float32 { return float32(player%2)*2 - 1 }

// guess says what another player presses now: what he pressed when last heard of,
// since one who drives changes his mind less often than thirty times a second.
func (g *Game) guess(f *foretick.Frame, car ecs.Entity, _ int, cmd *Command) {
	*cmd = g.Drive.Get(f.World, car).Held
}

// look notes where everything stands, so that each of two bodies that touch is
// pushed by what the other was, whichever of them comes first.
func (g *Game) look(f *foretick.Frame, _ ecs.Rows) {
	g.stood = g.stood[:0]
	for _, rows := range g.bodies.All(f.World) {
		body, shape := g.Body.Slice(rows), g.Shape.Slice(rows)
		for i, e := range rows.Entities() {
			g.stood = append(g.stood, stood{e, rows.Owner(), rows.Has(g.Drive.ID()), body[i], shape[i]})
		}
	}
}

// collide pushes each car away from what it touches, and the ball away from the car.
// That shared code writes the ball through the world (WriteOther) makes it the island's:
// every client runs it. Of two cars each pushes itself alone, so that a client that does
// not run the other pushes none out of the place where the server has it.
func (g *Game) collide(f *foretick.Frame, rows ecs.Rows) {
	body := g.Body.Slice(rows)
	for i, e := range rows.Entities() {
		me := g.stood[slices.IndexFunc(g.stood, func(s stood) bool { return s.entity == e })]
		for _, o := range g.stood {
			push, closing := me.touch(&o)
			if closing < 0 { // apart, or itself
				continue
			}
			body[i].add(push, o.Mass/(me.Mass+o.Mass))
			if !o.car {
				g.Body.Get(f.World, o.entity).add(push, -me.Mass/(me.Mass+o.Mass))
			} else if closing > hard {
				g.Crashed.Raise(f, e, Crash{o.owner})
			}
		}
	}
}

// drive turns the wheel towards where the driver wants it, which takes a moment, and
// the car with it.
func (g *Game) drive(f *foretick.Frame, rows ecs.Rows) {
	cmd, drive, body := g.Cmd.Slice(rows), g.Drive.Slice(rows), g.Body.Slice(rows)
	for i := range body {
		d, b := &drive[i], &body[i]
		d.Held = cmd[i]
		d.Wheel += limit(d.Held.Wheel-d.Wheel, 4*f.DT)
		sin, cos := math.Sincos(float64(d.Heading))
		x, y := float32(cos), float32(sin)
		ahead, aside := b.VX*x+b.VY*y, b.VY*x-b.VX*y
		d.Heading += d.Wheel * 2.5 * f.DT
		ahead += (d.Held.Throttle*topSpeed - ahead) * 1.5 * f.DT
		aside -= limit(aside, 20*f.DT) // tyres
		b.VX, b.VY = ahead*x-aside*y, ahead*y+aside*x
	}
}

// roll moves what there is, slows it down, and keeps it on the pitch.
func (g *Game) roll(f *foretick.Frame, rows ecs.Rows) {
	body, shape := g.Body.Slice(rows), g.Shape.Slice(rows)
	for i := range body {
		b, r := &body[i], shape[i].Radius
		v := b.speed()
		slower := max(0, 1-(2+v/8)*f.DT/max(v, 0.01)) // all comes to rest
		b.VX, b.VY = b.VX*slower, b.VY*slower
		b.X, b.Y = b.X+b.VX*f.DT, b.Y+b.VY*f.DT
		if y := limit(b.Y, halfWidth-r); y != b.Y {
			b.Y, b.VY = y, -b.VY*0.8
		}
		inMouth := rows.Has(g.Score.ID()) && b.Y > -halfGoal && b.Y < halfGoal
		if x := limit(b.X, halfLength-r); x != b.X && !inMouth {
			b.X, b.VX = x, -b.VX*0.8
		}
	}
}

// goal brings a ball behind a line back to the middle, on every screen at once. That it
// counts is the server's to say: a client may have foreseen it wrongly.
func (g *Game) goal(f *foretick.Frame, rows ecs.Rows) {
	body := g.Body.Slice(rows)
	for i, ball := range rows.Entities() {
		if x := body[i].X; x < -halfLength || x > halfLength {
			body[i] = Body{}
			f.Teleport(ball) // nobody is shown its way back
			g.Scored.Raise(f, ball, Goal{Right: x > 0})
		}
	}
}

func (g *Game) count(f *foretick.Frame, _ foretick.PlayerID, goal Goal) {
	for _, rows := range g.balls.All(f.World) {
		if s := &g.Score.Slice(rows)[0]; goal.Right {
			s.Right++
		} else {
			s.Left++
		}
	}
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
