package foretick_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// Archery is a game in which arrows fly at a target that runs to and fro.
type Archery struct {
	Pos    ecs.Component[Position]
	Arrow  ecs.Component[Arrow]
	Button ecs.Component[Button]

	Archer, Shaft, Target ecs.Prefab

	// Hit is raised with the tick in which the arrow was shot.
	Hit  foretick.Event[foretick.Tick]
	hits map[foretick.Tick]bool
}

// Arrow is what an end knows of its own arrow; it is not sent. On a client Behind is 0.
type Arrow struct {
	Shot   foretick.Tick
	Behind float32
}

func (g *Archery) Protocol() *foretick.Protocol {
	g.hits = map[foretick.Tick]bool{}
	p := foretick.NewProtocol("archery", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.LocalComponent(&g.Arrow)
	p.Command(&g.Button)
	p.Prefab(&g.Archer, "archer", &g.Button)
	p.Prefab(&g.Shaft, "shaft", &g.Pos, &g.Arrow)
	p.Prefab(&g.Target, "target", &g.Pos)
	p.Spawns(&g.Shaft, foretick.SpawnConfig{ClientOnly: true})
	foretick.Hitbox(p, &g.Pos, func(at *Position) lagcomp.Sphere {
		return lagcomp.Sphere{X: at.X, Y: at.Y, R: 0.5}
	})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.Archer, player) })
	p.Shared("shoot", func(f *foretick.Frame, rows ecs.Rows) {
		for i, button := range g.Button.Slice(rows) {
			if button.Fire {
				g.Arrow.Get(f.World, f.SpawnBy(rows.Entity(i), &g.Shaft)).Shot = f.Tick
			}
		}
	}, ecs.Read(&g.Button), ecs.Create(&g.Pos, &g.Arrow), ecs.Before("fly"))
	p.Shared("fly", g.fly, ecs.Write(&g.Pos, &g.Arrow), ecs.Structural())
	p.Server("run", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, at := 0, g.Pos.Slice(rows); i < len(at); i++ {
			at[i] = Position{X: 15, Y: float32(f.Tick%40)*0.25 - 5}
		}
	}, ecs.Write(&g.Pos), ecs.Without(&g.Arrow))
	hit := func(shot foretick.Tick) { g.hits[shot] = true }
	g.Hit.OnServer(p, func(_ *foretick.ServerFrame, _ foretick.By, shot foretick.Tick) { hit(shot) })
	g.Hit.OnPredicted(p, func(_ *foretick.Frame, _ foretick.By, shot foretick.Tick) { hit(shot) })
	return p
}

// fly runs on both ends: on the client an arrow flies through what its archer's screen shows,
// on the server through what that screen showed.
func (g *Archery) fly(f *foretick.Frame, rows ecs.Rows) {
	at, arrow := g.Pos.Slice(rows), g.Arrow.Slice(rows)
	for i := range at {
		shaft := lagcomp.Projectile{Position: lagcomp.Vec{X: at[i].X, Y: at[i].Y}, Velocity: lagcomp.Vec{X: 30}, Radius: 0.1}
		seen := f.RewindBehind(rows.Owner(), arrow[i].Behind)
		if arrow[i].Shot == f.Tick {
			seen = f.Rewind(rows.Owner())
		}
		_, hit := seen.Advance(&shaft, f.DT)
		// Without CatchUp, and with Behind set from seen.Behind, the arrow would keep its delay.
		if arrow[i].Shot == f.Tick && !hit {
			arrow[i].Behind, _, hit = seen.CatchUp(&shaft)
		}
		if hit {
			g.Hit.Raise(f, rows.Entity(i), arrow[i].Shot)
		}
		if at[i].X = shaft.Position.X; hit || at[i].X > 40 {
			f.Destroy(rows.Entity(i))
		}
	}
}

// An arrow flies half a second to its target, and its archer's round trip is 150 ms. It hits
// on the server what it hits on the archer's screen: the server moves it forward to the
// present, through the past that the archer saw.
func ExampleHitView_CatchUp() {
	match := simtest.New(1)
	var truth, game Archery
	srv, err := match.Serve(server.Config{Protocol: truth.Protocol()})
	if err != nil {
		panic(err)
	}
	srv.Frame().Spawn(&truth.Target, ecs.Nobody)
	config := client.Config{Protocol: game.Protocol()}
	config.Sample = client.Sample(&game.Button, func(client.View) Button { return Button{Fire: true} })
	link := sim.Link{Latency: 75 * time.Millisecond}
	if _, err := match.Join(config, simtest.Seat{Up: link, Down: link, FrameRate: 30}); err != nil {
		panic(err)
	}
	match.Run(20 * time.Second)
	confirmed := 0
	for shot := range game.hits {
		if truth.hits[shot] {
			confirmed++
		}
	}
	fmt.Println(len(game.hits) > 50, confirmed*100 >= len(game.hits)*95)
	// Output: true true
}
