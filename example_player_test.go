package foretick_test

import (
	"context"
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/udp"
)

// Spot is where a player stands. The tag says how it is sent: in steps of a centimetre.
type Spot struct {
	X float32 `net:"min=-100,max=100,step=0.01,lerp"`
}

// Keys is what a player holds down: its command.
type Keys struct{ Right bool }

// Stroll is the whole game. Each end has a Stroll of its own.
type Stroll struct {
	Spot   ecs.Component[Spot]
	Keys   ecs.Component[Keys]
	Walker ecs.Prefab
}

func (g *Stroll) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("stroll", 1)
	p.Component(&g.Spot, foretick.Predicted())
	p.Command(&g.Keys)
	p.Prefab(&g.Walker, "walker", &g.Spot, &g.Keys)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.Walker, player) })
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) { // on the server, and ahead on the player's client
		spots, keys := g.Spot.Slice(rows), g.Keys.Slice(rows)
		for i := range spots {
			if keys[i].Right {
				spots[i].X += float32(3 * f.DT) // rounded alike on every machine
			}
		}
	}, ecs.Read(&g.Keys), ecs.Write(&g.Spot))
	return p
}

// A whole game over UDP: a server, and a player who walks to the right.
func Example_player() {
	endpoint, err := udp.Listen("127.0.0.1:0", udp.Config{})
	if err != nil {
		panic(err)
	}
	srv, err := server.New(server.Config{Protocol: new(Stroll).Protocol(), Transport: endpoint})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() { _ = srv.Run(ctx) }() // nil after the context
	var game Stroll
	p := game.Protocol()
	connection, _ := udp.Dial(endpoint.LocalAddr().String(), udp.Config{})
	hold := client.Sample(&game.Keys, func(client.View) Keys { return Keys{Right: true} })
	cl, err := client.New(client.Config{Protocol: p, Transport: connection, Sample: hold})
	if err != nil {
		panic(err)
	}
	walkers := p.Query(ecs.With(&game.Spot))
	_ = cl.Run(ctx, time.Second/60, func(v client.View) { // once per rendered frame
		for _, rows := range walkers.All(v.World) {
			if at := game.Spot.Slice(rows)[0]; at.X > 1 {
				fmt.Println("player", rows.Owner(), "has walked a metre")
				stop()
			}
		}
	})
	// Output: player 1 has walked a metre
}
