package client_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type position struct {
	X float32 `net:"min=0,max=100,step=0.01,lerp"`
}

type move struct {
	X float32 `net:"min=-1,max=1,step=0.0078125"`
}

type walk struct {
	pos    ecs.Component[position]
	move   ecs.Component[move]
	player ecs.Prefab
}

func (g *walk) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("walk", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Command(&g.move)
	p.Prefab(&g.player, "player", &g.pos, &g.move)
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.move.Slice(rows)
		for i := range pos {
			pos[i].X += cmd[i].X
		}
	}, ecs.Read(&g.move), ecs.Write(&g.pos))
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.player, player) })
	return p
}

// A tutorial page shows what prediction does: with it the player is ahead of the newest
// snapshot, and without it behind.
func ExampleClient_SetTechniques() {
	match := simtest.New(1)
	if _, err := match.Serve(server.Config{Protocol: new(walk).protocol()}); err != nil {
		panic(err)
	}
	var g walk
	p := g.protocol()
	bodies := p.Query(ecs.With(&g.pos))
	cl, err := match.Join(client.Config{
		Protocol: p,
		Sample:   client.Sample(&g.move, func(client.View) move { return move{X: 0.25} }),
	}, simtest.Seat{Up: sim.Link{Latency: 50 * time.Millisecond}, Down: sim.Link{Latency: 50 * time.Millisecond}})
	if err != nil {
		panic(err)
	}
	ahead := func() bool {
		match.RunFor(3 * time.Second)
		v := cl.View()
		body := bodies.FirstOwned(v.World, v.Player)
		drawn := g.pos.Get(v.World, body)
		told, _, ok := client.Received(cl, &g.pos, body)
		return ok && drawn.X > told.X
	}
	fmt.Println("ahead of the server's word:", ahead())
	if err := cl.SetTechniques(client.Techniques{NoPrediction: true}); err != nil {
		panic(err)
	}
	fmt.Println("without prediction:", ahead())
	// Output:
	// ahead of the server's word: true
	// without prediction: false
}
