// Command bumpers is a football game of bumper cars. Copy it for games in which bodies
// collide. Cars push one another, and a ball that belongs to no player. The same code runs
// on the server for all bodies, and on each client for all that it predicts:
//
//   - the player's own car, from its commands;
//   - the ball, since shared code writes it through the world (see collide);
//   - other players' cars, from a guess of their input (see guess).
//
// With -blind, a client does not predict other players' cars but shows them in the past,
// and its player drives into cars that have moved on long ago. Four bots that play two
// minutes with a round trip of 100 ms print, without flags and with -blind:
//
//	distance, mean and worst of 100    own car      0.01 m  0.09 m   0.12 m  1.06 m
//	                                   other cars   0.04 m  0.42 m   0.82 m  2.03 m
//	                                   the ball     0.00 m  0.06 m   0.12 m  1.28 m
//	crashes                            on both ends      491              417
//	                                   only felt          35              124
//	                                   only server         3               95
//	mispredictions                     remote_input     5996                0
//	                                   untracked           0             5364
//
// Of 45540 states predicted for other players, 27163 were wrong, since a client cannot
// know when another player turns the wheel. The player's car and the ball were corrected
// about as often as without remote prediction. But those corrections move them by
// centimetres and prevent a false crash; without remote prediction they move them by a
// metre. With -rtt 400ms the others have time to go elsewhere, and the errors are visible.
package main

import (
	"math"
	"os"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/mathf"
)

type (
	// Body is the motion of cars and the ball.
	Body struct {
		X, Y   float32 `net:"min=-32,max=32,step=0.01,lerp"`
		VX, VY float32 `net:"min=-40,max=40,step=0.02"`
	}
	// Shape describes a type of body. It never changes, so it is sent only once.
	Shape struct {
		Radius float32 `net:"min=0,max=4,step=0.125"`
		Mass   float32 `net:"min=0,max=16,step=0.125"`
	}
	// Drive is the steering of a car. It includes the driver's current input: commands are
	// not sent to other clients, but they need it to predict the car.
	Drive struct {
		Heading float32 `net:"angle,lerp"`
		Wheel   float32 `net:"min=-1,max=1,step=0.0078125"` // the wheel's position, which follows the input gradually
		Held    Command // the driver's current input
	}
	// Score is a component of the ball. Only the server changes it.
	Score struct {
		Left, Right uint8 `net:"max=255"` // goals of the team that shoots to that end
	}
	// Crash is raised when a car hits another player's car.
	Crash struct{ With foretick.PlayerID }
	// Goal is raised when the ball crosses a goal line.
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
	hard                            = 2  // a slower collision is no crash, in metres a second
)

// Game holds the handles of one end, and what its systems share.
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

	blind bool    // this client does not predict other players
	stood []stood // all bodies before the tick; look fills it
	// heard is called for each crash: by hit with.
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
	g.bodies = p.Query(ecs.With(&g.Body, &g.Shape))
	g.balls = p.Query(ecs.With(&g.Score))
	p.OnJoin(g.join)
	// Bodies collide where they were before the tick. So a wrong prediction of one body reaches
	// others only a tick later, when a newer snapshot may have arrived. And a car that is not
	// predicted on this client, as with -blind, has no state within the tick.
	p.Shared("look", g.look, ecs.Once(), ecs.ReadOther(&g.Body, &g.Shape), ecs.Before("collide", "drive", "roll", "goal"))
	p.Shared("collide", g.collide, ecs.With(&g.Drive), ecs.Write(&g.Body), ecs.WriteOther(&g.Body))
	p.Shared("drive", g.drive, ecs.Read(&g.Cmd), ecs.Write(&g.Drive, &g.Body))
	p.Shared("roll", g.roll, ecs.Read(&g.Shape), ecs.Write(&g.Body))
	p.Shared("goal", g.goal, ecs.With(&g.Score), ecs.Write(&g.Body))
	if !g.blind { // remote prediction needs only this call and FullPrecision
		foretick.PredictRemote(p, &g.Cmd, g.guess, foretick.RemoteConfig{})
	}
	// plays a bang
	g.Crashed.OnPredicted(p, func(f *foretick.Frame, by foretick.By, c Crash) { g.heard(f.Tick, by.Player, c.With) })
	// makes a dent
	g.Crashed.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, c Crash) { g.heard(f.Tick, by.Player, c.With) })
	g.Scored.OnServer(p, g.count, ecs.WriteOther(&g.Score))
	return p
}

// join places a new player's car in the player's half.
func (g *Game) join(f *foretick.ServerFrame, player foretick.PlayerID) {
	car, side := f.Spawn(&g.Car, player), side(player)
	*g.Body.Get(f.World, car) = Body{X: -8 * side, Y: 4 * float32((player-1)/2)}
	if side < 0 {
		g.Drive.Get(f.World, car).Heading = math.Pi
	}
}

// side returns the end of the pitch to which a player shoots: -1 or 1.
func side(player foretick.PlayerID) float32 { return float32(player%2)*2 - 1 }

// guess sets another player's probable input: the last known one, since drivers change
// their input less than thirty times a second.
func (g *Game) guess(f *foretick.Frame, car ecs.Entity, _ int, cmd *Command) {
	*cmd = g.Drive.Get(f.World, car).Held
}

// look copies all bodies. So each of two touching bodies is pushed by the state that the
// other had before the tick, in whichever order they are handled.
func (g *Game) look(f *foretick.Frame, _ ecs.Rows) {
	g.stood = g.stood[:0] //foretick:allow every tick begins with this system, in replays too
	for _, rows := range g.bodies.All(f.World) {
		body, shape := g.Body.Slice(rows), g.Shape.Slice(rows)
		for i, e := range rows.Entities() {
			//foretick:allow see above
			g.stood = append(g.stood, stood{e, rows.Owner(), rows.Has(g.Drive.ID()), body[i], shape[i]})
		}
	}
}

// collide pushes each car away from what it touches, and the ball away from the car.
// Because shared code writes the ball through the world (WriteOther), the ball is a
// shared physics object: every client predicts it. When two cars touch, each pushes only
// itself. So a client that does not predict the other car leaves it where the server has it.
func (g *Game) collide(f *foretick.Frame, rows ecs.Rows) {
	body := g.Body.Slice(rows)
	for i, e := range rows.Entities() {
		me := g.stood[slices.IndexFunc(g.stood, func(s stood) bool { return s.entity == e })]
		for _, o := range g.stood {
			push, closing := me.touch(&o)
			if closing < 0 { // apart, or the car itself
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

// drive turns the wheel gradually towards the driver's input, and the car with it.
func (g *Game) drive(f *foretick.Frame, rows ecs.Rows) {
	cmd, drive, body := g.Cmd.Slice(rows), g.Drive.Slice(rows), g.Body.Slice(rows)
	for i := range body {
		d, b := &drive[i], &body[i]
		d.Held = cmd[i]
		d.Wheel += limit(d.Held.Wheel-d.Wheel, 4*f.DT)
		y, x := mathf.Sincos(d.Heading)
		ahead, aside := float32(b.VX*x)+float32(b.VY*y), float32(b.VY*x)-float32(b.VX*y)
		d.Heading += float32(d.Wheel * 2.5 * f.DT)
		ahead += float32((float32(d.Held.Throttle*topSpeed) - ahead) * 1.5 * f.DT)
		aside -= limit(aside, 20*f.DT) // the tyres resist sideways motion
		b.VX, b.VY = float32(ahead*x)-float32(aside*y), float32(ahead*y)+float32(aside*x)
	}
}

// roll moves all bodies, slows them down, and keeps them on the pitch.
func (g *Game) roll(f *foretick.Frame, rows ecs.Rows) {
	body, shape := g.Body.Slice(rows), g.Shape.Slice(rows)
	for i := range body {
		b, r := &body[i], shape[i].Radius
		v := b.speed()
		slower := max(0, 1-(2+v/8)*f.DT/max(v, 0.01)) // all bodies come to rest
		b.VX, b.VY = b.VX*slower, b.VY*slower
		b.X, b.Y = b.X+float32(b.VX*f.DT), b.Y+float32(b.VY*f.DT)
		if y := limit(b.Y, halfWidth-r); y != b.Y {
			b.Y, b.VY = y, -b.VY*0.8
		}
		inMouth := rows.Has(g.Score.ID()) && b.Y > -halfGoal && b.Y < halfGoal
		if x := limit(b.X, halfLength-r); x != b.X && !inMouth {
			b.X, b.VX = x, -b.VX*0.8
		}
	}
}

// goal moves a ball that crossed a goal line back to the middle, on every screen at once.
// Only the server counts the goal, since a client's prediction may be wrong.
func (g *Game) goal(f *foretick.Frame, rows ecs.Rows) {
	body := g.Body.Slice(rows)
	for i, ball := range rows.Entities() {
		if x := body[i].X; x < -halfLength || x > halfLength {
			body[i] = Body{}
			f.Teleport(ball) // no screen shows it travel back
			g.Scored.Raise(f, ball, Goal{Right: x > 0})
		}
	}
}

func (g *Game) count(f *foretick.ServerFrame, _ foretick.By, goal Goal) {
	for _, rows := range g.balls.All(f.World) {
		if s := &g.Score.Slice(rows)[0]; goal.Right {
			s.Right++
		} else {
			s.Left++
		}
	}
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
