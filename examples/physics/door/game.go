// Package door is a game in which a player shoots through a door that swings in a physics engine. The
// engine runs on the server and knows the present only, but a shot meets the door where the shooter's
// screen showed it.
package door

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
)

type (
	// Leaf is the door. Its angle is all of the engine's state that a screen shows.
	Leaf struct {
		Angle float32 `net:"angle,bits=14,lerp"`
	}
	// Place is where a player or a target is.
	Place struct {
		X, Y float32 `net:"min=-16,max=16,step=0.01"`
	}
	// Command is a player's input.
	Command struct {
		Fire bool `net:"oneshot"`
	}
	// Shot is raised when a player fires.
	Shot struct{ Ray lagcomp.Ray }
)

// Game holds the handles of one end.
type Game struct {
	Leaf  ecs.Component[Leaf]
	Place ecs.Component[Place]
	Cmd   ecs.Component[Command]
	Shot  foretick.Event[Shot]

	Door, Shooter, Target ecs.Prefab

	doors  *ecs.Query
	engine *engine

	// judged is called for each shot with what it hit on this end's screen, or on the server in the past,
	// and what it hits in the present. It may be nil.
	judged func(by foretick.By, shown, present bool)
}

// Protocol declares the game.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("door", 1)
	p.Component(&g.Leaf)
	p.Component(&g.Place)
	p.Command(&g.Cmd)
	p.Prefab(&g.Door, "door", &g.Leaf)
	p.Prefab(&g.Shooter, "shooter", &g.Place, &g.Cmd)
	p.Prefab(&g.Target, "target", &g.Place)
	g.doors, g.engine = p.Query(ecs.With(&g.Leaf)), newEngine()
	foretick.Hitbox(p, &g.Place, func(at *Place) lagcomp.Sphere { return lagcomp.Sphere{X: at.X, Y: at.Y, R: 0.5} })
	foretick.TrackHistory(p, &g.Leaf) // the server keeps the angle of each tick
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.Shooter, player) })
	p.Server("physics", g.step, ecs.Write(&g.Leaf))
	p.Shared("shoot", g.shoot, ecs.Read(&g.Cmd, &g.Place))
	g.Shot.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, s Shot) { g.judge(f.Frame, by, s) })
	g.Shot.OnPredicted(p, g.judge)
	return p
}

// Fill puts the door and the target behind it into a server's world.
func (g *Game) Fill(s *server.Server) {
	s.Frame().Spawn(&g.Door, ecs.Nobody)
	target := s.Frame().Spawn(&g.Target, ecs.Nobody)
	g.Place.Get(s.World(), target).X = 2 * wallX
}

// step steps the engine, and copies the door's angle into its component.
func (g *Game) step(f *foretick.ServerFrame, rows ecs.Rows) {
	g.engine.space.Step(float64(f.DT))
	for i := range g.Leaf.Slice(rows) {
		g.Leaf.Slice(rows)[i].Angle = float32(g.engine.door.Angle())
	}
}

func (g *Game) shoot(f *foretick.Frame, rows ecs.Rows) {
	at := g.Place.Slice(rows)
	for i, c := range g.Cmd.Slice(rows) {
		if c.Fire {
			g.Shot.Raise(f, rows.Entity(i), Shot{lagcomp.Ray2D(at[i].X, at[i].Y, 0, 20)})
		}
	}
}

// judge finds what a shot hits: on the server in the past, and on a client on its screen.
func (g *Game) judge(f *foretick.Frame, by foretick.By, s Shot) {
	_, shown := g.hit(f, f.Rewind(by.Player), s.Ray)
	_, present := g.hit(f, f.Present(), s.Ray)
	if g.judged != nil {
		g.judged(by, shown, present)
	}
}

// hit returns what a ray hits in a view. The engine is posed as the view shows the door, asked, and posed
// as it was.
func (g *Game) hit(f *foretick.Frame, view foretick.HitView, ray lagcomp.Ray) (foretick.Hit, bool) {
	for _, rows := range g.doors.All(f.World) {
		for _, e := range rows.Entities() {
			if leaf, ok := foretick.ComponentAt(view, &g.Leaf, e); ok {
				ray.Range = g.engine.reach(ray, leaf.Angle)
			}
		}
	}
	return view.Raycast(ray)
}
