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
)

// Gallery is a game with a target that runs, and players who shoot at it.
type Gallery struct {
	Pos             ecs.Component[Position]
	Button          ecs.Component[Button]
	Shooter, Target ecs.Prefab
}

func (g *Gallery) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("gallery", 1)
	p.Component(&g.Pos)
	p.Command(&g.Button)
	p.Prefab(&g.Shooter, "shooter", &g.Button)
	p.Prefab(&g.Target, "target", &g.Pos)
	foretick.Hitbox(p, &g.Pos, func(at *Position) lagcomp.Sphere { return lagcomp.Sphere{X: at.X, Y: at.Y, R: 0.2} })
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.Shooter, player) })
	p.Server("run", func(f *foretick.ServerFrame, rows ecs.Rows) {
		g.Pos.Slice(rows)[0].X = 4 * float32(f.Tick) * f.DT
	}, ecs.Write(&g.Pos))
	p.Server("shoot", func(f *foretick.ServerFrame, rows ecs.Rows) {
		if view := f.Rewind(rows.Owner()); g.Button.Slice(rows)[0].Fire { // the world as the shooter saw it
			hit, ok := view.Raycast(lagcomp.Ray{X: -10, DX: 1, Range: 100})
			fmt.Println("hit:", ok, "where it was", 4*float32(f.Tick)*f.DT-hit.Point.X > 0.4, "a moment ago")
		}
	}, ecs.Read(&g.Button), ecs.ReadOther(&g.Pos))
	return p
}

// A shot with lag compensation: the server judges it where its shooter saw the target.
func Example_shot() {
	match, truth, game := simtest.New(1), &Gallery{}, &Gallery{}
	srv, err := match.Serve(server.Config{Protocol: truth.Protocol()})
	fire := client.Sample(&game.Button, func(v client.View) Button { return Button{Fire: v.Tick == 60} })
	if _, bad := match.Join(client.Config{Protocol: game.Protocol(), Sample: fire}, far); err != nil || bad != nil {
		panic("the match does not begin")
	}
	srv.Frame().Spawn(&truth.Target, ecs.Nobody)
	match.Run(3 * time.Second)
	// Output: hit: true where it was true a moment ago
}
