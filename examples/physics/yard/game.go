package yard

import (
	"cmp"
	"math"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/mathf"
	"github.com/foretick/foretick/server"
)

type (
	// Body is the motion of a car or crate.
	Body struct {
		X, Y   float32 `net:"min=-24,max=24,step=0.01,lerp"`
		Angle  float32 `net:"angle,lerp"`
		VX, VY float32 `net:"min=-40,max=40,step=0.02"`
		Spin   float32 `net:"min=-20,max=20,step=0.02"`
	}
	// ID gives bodies the same order on both ends. A car has its player's number.
	ID struct {
		N uint32
	}
	// Drive is the driver's current input. Commands are not sent to other clients, but they need
	// it to predict the car.
	Drive struct {
		Held Command
	}
	// Command is a player's input.
	Command struct {
		Wheel, Throttle float32 `net:"min=-1,max=1,step=0.0078125"`
	}
)

// The yard, in metres from its centre.
const (
	halfLength, halfWidth = 20, 12
	topSpeed              = 14 // metres a second
	crates                = 15
	slow                  = 0.05 // slower bodies stop, in metres or radians a second
)

// Game holds the handles of one end.
type Game struct {
	Body  ecs.Component[Body]
	ID    ecs.Component[ID]
	Drive ecs.Component[Drive]
	Cmd   ecs.Component[Command]

	Car, Crate ecs.Prefab

	bodies *ecs.Query
	engine *engine
	solids []solid // the bodies of a tick; step fills it
}

// Protocol declares the game.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("physics", 1)
	p.Component(&g.Body, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.ID)
	p.Component(&g.Drive, foretick.Predicted(), foretick.FullPrecision())
	p.Command(&g.Cmd)
	p.Prefab(&g.Car, "car", &g.Body, &g.ID, &g.Drive, &g.Cmd)
	p.Prefab(&g.Crate, "crate", &g.Body, &g.ID)
	g.bodies, g.engine = p.Query(ecs.With(&g.Body, &g.ID)), newEngine()
	p.OnJoin(g.join)
	// Crates are shared physics objects, because a shared system writes them with WriteOther:
	// every client predicts them. PredictRemote predicts the other players' cars as well. So a
	// client steps every body that the server steps, and shows a push at once.
	p.Shared("drive", g.drive, ecs.Read(&g.Cmd), ecs.Write(&g.Drive, &g.Body), ecs.Before("physics"))
	p.Shared("physics", g.step, ecs.Once(), ecs.Read(&g.ID), ecs.WriteOther(&g.Body))
	foretick.PredictRemote(p, &g.Cmd, func(f *foretick.Frame, avatar ecs.Entity, _ int, cmd *Command) {
		*cmd = g.Drive.Get(f.World, avatar).Held
	}, foretick.RemoteConfig{})
	return p
}

// Fill puts the crates into a server's world.
func (g *Game) Fill(s *server.Server) {
	for n := range uint32(crates) {
		e := s.Frame().Spawn(&g.Crate, ecs.Nobody)
		g.ID.Get(s.World(), e).N = 1000 + n
		*g.Body.Get(s.World(), e) = Body{X: float32(n%5)*3 - 6, Y: float32(n/5)*3 - 3}
	}
}

func (g *Game) join(f *foretick.ServerFrame, player foretick.PlayerID) {
	e, side := f.Spawn(&g.Car, player), float32(player%2)*2-1
	g.ID.Get(f.World, e).N = uint32(player)
	*g.Body.Get(f.World, e) = Body{X: -14 * side, Y: 5*float32((player-1)/2) - 3}
	if side < 0 {
		g.Body.Get(f.World, e).Angle = math.Pi
	}
}

// drive turns a player's input into its car's velocities.
func (g *Game) drive(f *foretick.Frame, rows ecs.Rows) {
	cmd, drive, body := g.Cmd.Slice(rows), g.Drive.Slice(rows), g.Body.Slice(rows)
	for i := range body {
		b, c := &body[i], cmd[i]
		drive[i].Held = c
		y, x := mathf.Sincos(b.Angle)
		ahead, aside := float32(b.VX*x)+float32(b.VY*y), float32(b.VY*x)-float32(b.VX*y)
		ahead += float32((float32(c.Throttle*topSpeed) - ahead) * 1.5 * f.DT)
		aside -= max(-20*f.DT, min(aside, 20*f.DT)) // the tyres resist sideways motion
		b.VX, b.VY = float32(ahead*x)-float32(aside*y), float32(ahead*y)+float32(aside*x)
		b.Spin += float32((float32(c.Wheel*2.5) - b.Spin) * 8 * f.DT)
	}
}

// step is the recipe: one system for all bodies, sorted by id, components in, one step of the
// engine, components out.
func (g *Game) step(f *foretick.Frame, _ ecs.Rows) {
	g.solids = g.solids[:0] //foretick:allow every tick begins with it, in replays too
	for _, rows := range g.bodies.All(f.World) {
		k := crate
		if rows.Has(g.Drive.ID()) {
			k = car
		}
		body, id := g.Body.Slice(rows), g.ID.Slice(rows)
		for i, e := range rows.Entities() {
			if f.Simulates(e) {
				//foretick:allow see above
				g.solids = append(g.solids, solid{id[i].N, k, &body[i]})
			}
		}
	}
	slices.SortFunc(g.solids, func(a, b solid) int { return cmp.Compare(a.id, b.id) })
	g.engine.step(g.solids, float64(f.DT))
	for _, s := range g.solids {
		s.body.rub(s.kind, f.DT)
	}
}

// rub slows bodies down on the ground, until they stop.
func (b *Body) rub(k kind, dt float32) {
	if k == crate {
		b.VX, b.VY, b.Spin = float32(b.VX*(1-float32(2*dt))), float32(b.VY*(1-float32(2*dt))), float32(b.Spin*(1-float32(3*dt)))
	}
	if max(b.VX, -b.VX, b.VY, -b.VY, b.Spin, -b.Spin) < slow {
		b.VX, b.VY, b.Spin = 0, 0, 0
	}
}

// turn returns the same angle between −π and π.
func turn(a float64) float32 { return float32(math.Remainder(a, 2*math.Pi)) }
