package foretick_test

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

// Rails is a game of wagons on one track that push one another.
type Rails struct {
	At    ecs.Component[Track]
	Lever ecs.Component[Lever]
	Hand  ecs.Component[Hand]
	Wagon ecs.Prefab
	all   *ecs.Query
}

// Track is a wagon's place on the track and its velocity.
type Track struct {
	X float32 `net:"min=-100,max=100,step=0.01,lerp"`
	V float32 `net:"min=-20,max=20,step=0.01"`
}

// Hand is a player's input.
type Hand struct {
	Push float32 `net:"min=-1,max=1,step=0.25"`
}

// Lever is the player's last input, from which other clients guess the next one.
type Lever struct {
	Push float32 `net:"min=-1,max=1,step=0.25"`
}

func (g *Rails) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("rails", 1)
	p.Component(&g.At, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.Lever, foretick.Predicted(), foretick.FullPrecision())
	p.Command(&g.Hand)
	p.Prefab(&g.Wagon, "wagon", &g.At, &g.Lever, &g.Hand)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.At.Get(f.World, f.Spawn(&g.Wagon, player)).X = -12 + 8*float32(player)
	})
	p.Shared("bump", g.bump, ecs.Write(&g.At), ecs.ReadOther(&g.At), ecs.Before("roll"))
	p.Shared("roll", func(f *foretick.Frame, rows ecs.Rows) {
		at, lever, hand := g.At.Slice(rows), g.Lever.Slice(rows), g.Hand.Slice(rows)
		for i := range at {
			lever[i].Push = hand[i].Push
			at[i].V += 4 * hand[i].Push * f.DT
			at[i].X += at[i].V * f.DT
		}
	}, ecs.Read(&g.Hand), ecs.Write(&g.At, &g.Lever))
	foretick.PredictRemote(p, &g.Hand, func(f *foretick.Frame, wagon ecs.Entity, _ int, hand *Hand) {
		hand.Push = g.Lever.Get(f.World, wagon).Push // the player probably holds what it held
	}, foretick.RemoteConfig{})
	g.all = p.Query(ecs.With(&g.At))
	return p
}

// bump changes the velocity of wagons that touch another one. It reads all wagons as they were
// before the tick and writes only those of rows, so the order of wagons does not matter.
func (g *Rails) bump(f *foretick.Frame, rows ecs.Rows) {
	at := g.At.Slice(rows)
	for i := range at {
		for _, others := range g.all.All(f.World) {
			for _, o := range g.At.Slice(others) {
				if d := at[i].X - o.X; d > 0 && d < 2 {
					at[i].V += 2 - d
				} else if d < 0 && d > -2 {
					at[i].V -= 2 + d
				}
			}
		}
	}
}

// Two players with a round trip of 150 ms drive at each other. They crash on both screens in
// the tick in which they crash on the server, and neither is mispredicted.
func ExamplePredictRemote() {
	match := simtest.New(1)
	var srv Rails
	if _, err := match.Serve(server.Config{Protocol: srv.Protocol()}); err != nil {
		panic(err)
	}
	var clients []*client.Client
	for range 2 {
		game := &Rails{}
		config := client.Config{Protocol: game.Protocol()}
		config.Sample = client.Sample(&game.Hand, func(v client.View) Hand {
			if match.Net.Now() < 2*time.Second { // until both have joined
				return Hand{}
			}
			return Hand{Push: 3 - 2*float32(v.Player)} // player 1 drives to the right, player 2 to the left
		})
		link := sim.Link{Latency: 75 * time.Millisecond}
		c, err := match.Join(config, simtest.Seat{Up: link, Down: link})
		if err != nil {
			panic(err)
		}
		clients = append(clients, c)
	}
	match.Run(10 * time.Second)
	for _, c := range clients {
		st := c.Stats()
		fmt.Println(st.RemotePredicted > 200, st.Mispredictions)
	}
	// Output:
	// true 0
	// true 0
}
