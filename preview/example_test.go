package preview_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/preview"
	"github.com/foretick/foretick/server"
)

type (
	Place struct {
		X float32 `net:"min=-1000,max=1000,step=0.01,lerp"`
	}
	Stick struct {
		X int8 `net:"min=-1,max=1"`
	}
)

// Stroll is a game in which players walk along a line.
type Stroll struct {
	Pos    ecs.Component[Place]
	Stick  ecs.Component[Stick]
	Player ecs.Prefab
}

func (g *Stroll) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("stroll", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.Command(&g.Stick)
	p.Prefab(&g.Player, "player", &g.Pos, &g.Stick)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.Player, player) })
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		pos, stick := g.Pos.Slice(rows), g.Stick.Slice(rows)
		for i := range pos {
			pos[i].X += float32(float32(stick[i].X) * 5 * f.DT)
		}
	}, ecs.Read(&g.Stick), ecs.Write(&g.Pos))
	return p
}

// An editor runs the game in one world, without a network: in slow motion, paused, and tick by tick. A
// game for one player runs the same way.
func ExampleNew() {
	game := &Stroll{}
	alone, err := preview.New(
		server.Config{Protocol: game.Protocol()},
		client.Config{Sample: client.Sample(&game.Stick, func(client.View) Stick { return Stick{X: 1} })},
	)
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0) // time.Now() in a real program
	frame := func() client.View {
		now = now.Add(time.Second / 60)
		return alone.Step(now)
	}
	for range 60 {
		frame()
	}
	fmt.Println("after a second: tick", frame().Tick)
	alone.SetTimeScale(0.5)
	for range 60 {
		frame()
	}
	fmt.Println("in slow motion: tick", frame().Tick)
	alone.Pause(true)
	frame()
	alone.StepTick()
	fmt.Println("one step: tick", frame().Tick)
	_ = alone.Close()
	// Output:
	// after a second: tick 30
	// in slow motion: tick 46
	// one step: tick 47
}
