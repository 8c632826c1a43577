package foretick_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/preview"
	"github.com/foretick/foretick/server"
)

// Runner runs along a line. Mine explodes some ticks after it was triggered.
type (
	Runner struct {
		X float32 `net:"min=-100,max=100,step=0.01,lerp"`
	}
	Mine struct {
		Triggered foretick.Tick
	}
)

// Mines is a game of one runner and one mine at 0.
type Mines struct {
	Runner ecs.Component[Runner]
	Mine   ecs.Component[Mine]
	runner ecs.Prefab
	mine   ecs.Prefab
	found  []foretick.Hit
}

const fuse = 6 // ticks from the trigger to the blast

// Protocol declares the game.
func (g *Mines) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("mines", 1)
	p.Component(&g.Runner)
	p.Component(&g.Mine)
	p.Prefab(&g.runner, "runner", &g.Runner)
	p.Prefab(&g.mine, "mine", &g.Mine)
	foretick.Hitbox(p, &g.Runner, func(at *Runner) lagcomp.Sphere { return lagcomp.Sphere{X: at.X, R: 0.5} })
	p.OnJoin(func(f *foretick.ServerFrame, _ foretick.PlayerID) {
		f.Spawn(&g.runner, ecs.Nobody)
		f.Spawn(&g.mine, ecs.Nobody)
	})
	p.Server("run", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i := range g.Runner.Slice(rows) {
			g.Runner.Slice(rows)[i].X += 30 * f.DT
		}
	}, ecs.Write(&g.Runner))
	p.Server("explode", g.explode, ecs.Write(&g.Mine), ecs.Structural(), ecs.After("run"))
	return p
}

// explode finds the runners that were near a mine when it was triggered, wherever they are now:
// a runner that has left is hit, and one that came later is not.
func (g *Mines) explode(f *foretick.ServerFrame, mines ecs.Rows) {
	for i := range g.Mine.Slice(mines) {
		mine := &g.Mine.Slice(mines)[i]
		if mine.Triggered == 0 {
			mine.Triggered = f.Tick
		}
		if f.Tick != mine.Triggered+fuse {
			continue
		}
		then := f.RewindTo(ecs.Nobody, mine.Triggered, 0)
		g.found = then.Overlap(lagcomp.Sphere{R: 3}, g.found[:0])
		fmt.Println("near when it was triggered:", len(g.found))
		g.found = f.Present().Overlap(lagcomp.Sphere{R: 3}, g.found[:0])
		fmt.Println("near now:", len(g.found))
		f.Destroy(mines.Entity(i))
	}
}

// A mine hits what was near it at its trigger, rather than at its blast.
func ExampleFrame_RewindTo() {
	preview, err := preview.New(server.Config{Protocol: (&Mines{}).Protocol()}, client.Config{})
	if err != nil {
		panic(err)
	}
	for now := range 12 {
		preview.Step(time.Unix(0, int64(now)*int64(time.Second/30)))
	}
	_ = preview.Close()
	// Output:
	// near when it was triggered: 1
	// near now: 0
}
