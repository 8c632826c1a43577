package foretick_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport/sim"
)

// far has a round trip of 100 ms.
var far = simtest.Seat{Up: sim.Link{Latency: 50 * time.Millisecond}, Down: sim.Link{Latency: 50 * time.Millisecond}}

// play starts a match of one server and one client.
func play(truth, cl *foretick.Protocol, sample client.Sampler) (*simtest.Match, *server.Server, *client.Client) {
	match := simtest.New(1)
	srv, err := match.Serve(server.Config{Protocol: truth})
	if err != nil {
		panic(err)
	}
	cli, err := match.Join(client.Config{Protocol: cl, Sample: sample}, far)
	if err != nil {
		panic(err)
	}
	return match, srv, cli
}

// A shot is heard at once on the client that predicts it, and only the server decides what
// it costs. Each end raises the event itself, and no message is sent for it.
func ExampleEvent() {
	shooter := func() (*foretick.Protocol, *Rockets) {
		g := &Rockets{}
		p := g.Protocol()
		shot := &foretick.Event[Button]{}
		sounds := 0
		shot.OnPredicted(p, func(f *foretick.Frame, by foretick.By, _ Button) {
			if sounds++; sounds == 1 {
				fmt.Println("client: bang")
			}
		})
		ammo := 2
		shot.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, _ Button) {
			if ammo--; ammo >= 0 {
				fmt.Println("server: player", by.Player, "has", ammo, "left")
			}
		})
		p.Shared("shoot", func(f *foretick.Frame, rows ecs.Rows) {
			for i, button := range g.Button.Slice(rows) {
				if button.Fire {
					shot.Raise(f, rows.Entity(i), button)
				}
			}
		}, ecs.Read(&g.Button))
		return p, g
	}
	srv, _ := shooter()
	cl, game := shooter()
	match, _, _ := play(srv, cl, client.Sample(&game.Button, func(v client.View) Button {
		return Button{Fire: v.Tick%30 == 0}
	}))
	match.Run(4 * time.Second)
	// Output:
	// client: bang
	// server: player 1 has 1 left
	// server: player 1 has 0 left
}

// Score must arrive, and in order. A Spark that is lost is not sent again.
type Score struct {
	Points uint16
}
type Spark struct {
	X float32 `net:"min=-100,max=100,step=0.1"`
}

// Messages that must arrive use the channel that every protocol has. Effects that are of no
// use when they are late use a channel that is not reliable.
func ExampleMessage() {
	match := simtest.New(1)
	protocol := func(read func(Score)) *foretick.Protocol {
		var score foretick.Message[Score] // server and clients each have their own
		var spark foretick.Message[Spark]
		p := new(Walk).Protocol()
		p.Channel("effects", netcode.Channel{})
		score.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, v Score) { read(v) })
		spark.Channel = "effects"
		spark.OnClient(p, func(*foretick.Frame, foretick.Tick, Spark) {})
		p.Server("count", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if f.Tick%30 == 0 {
				score.Broadcast(f, Score{uint16(f.Tick / 30)})
				spark.Broadcast(f, Spark{12.5})
			}
		}, ecs.Once())
		return p
	}
	if _, err := match.Serve(server.Config{Protocol: protocol(func(Score) {})}); err != nil {
		panic(err)
	}
	seat := far
	seat.Down.Loss = 0.3
	cl := protocol(func(v Score) { fmt.Println("score", v.Points) })
	if _, err := match.Join(client.Config{Protocol: cl}, seat); err != nil {
		panic(err)
	}
	match.Run(3900 * time.Millisecond)
	// Output:
	// score 1
	// score 2
	// score 3
}

// A shot is judged where its shooter saw the target. On the server the target is then half a
// metre away from there.
func ExampleFrame_Rewind() {
	type game struct {
		Rockets
		target ecs.Entity
	}
	protocol := func(g *game) *foretick.Protocol {
		p := g.Protocol()
		foretick.Hitbox(p, &g.Pos, func(at *Position) lagcomp.Sphere { return lagcomp.Sphere{X: at.X, Y: at.Y, R: 0.2} })
		p.Server("run", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if at := g.Pos.Get(f.World, g.target); at != nil {
				at.X = float32(f.Tick) * 4 * f.DT
			}
		}, ecs.Once(), ecs.WriteOther(&g.Pos))
		p.Server("judge", func(f *foretick.ServerFrame, rows ecs.Rows) {
			for _, button := range g.Button.Slice(rows) {
				if !button.Fire {
					continue
				}
				view := f.Rewind(rows.Owner())
				at, _ := foretick.ComponentAt(view, &g.Pos, g.target)
				_, hit := view.Raycast(lagcomp.Ray{X: at.X, Y: -5, DY: 1, Range: 10})
				now := g.Pos.Get(f.World, g.target).X
				fmt.Println("tick", f.Tick, "hit:", hit, "the target ran on by more than half a metre:", now-at.X > 0.5)
			}
		}, ecs.Read(&g.Button), ecs.ReadOther(&g.Pos))
		foretick.TrackHistory(p, &g.Pos)
		return p
	}
	truth, cl := &game{}, &game{}
	match, srv, _ := play(protocol(truth), protocol(cl), client.Sample(&cl.Button, func(v client.View) Button {
		return Button{Fire: v.Tick == 60}
	}))
	truth.target = srv.Frame().Spawn(&truth.Rocket, ecs.Nobody)
	match.Run(3 * time.Second)
	// Output: tick 61 hit: true the target ran on by more than half a metre: true
}

// After a teleport, no client draws the entity between the two places.
func ExampleFrame_Teleport() {
	protocol := func(g *Walk) *foretick.Protocol {
		p := g.Protocol()
		p.Server("gate", func(f *foretick.ServerFrame, rows ecs.Rows) {
			for i, pos := 0, g.Pos.Slice(rows); i < len(pos); i++ {
				if pos[i].X > 5 {
					pos[i].X = -50
					f.Teleport(rows.Entity(i))
				}
			}
		}, ecs.Write(&g.Pos))
		return p
	}
	var srv, game Walk
	p := protocol(&game)
	match, _, cl := play(protocol(&srv), p, client.Sample(&game.Move, func(client.View) Move { return Move{X: 1} }))
	between, everyone := 0, p.Query(ecs.With(&game.Pos))
	for at := time.Duration(0); at < 3*time.Second; at += time.Second / 60 {
		match.Run(at)
		for _, rows := range everyone.All(cl.View().World) {
			if x := game.Pos.Slice(rows)[0].X; x > -40 && x < -1 {
				between++
			}
		}
	}
	fmt.Println("drawn between the places:", between)
	// Output: drawn between the places: 0
}

// Health has Points, which the player's team receives, and Ammo, which only the player receives.
type Health struct {
	Points uint8  `net:"allies"`
	Ammo   uint16 `net:"owner"`
}

// A player does not receive what its team may not see: of an enemy it does not even receive
// that the component exists.
func ExampleServerFrame_SetTeam() {
	type game struct {
		Walk
		Health ecs.Component[Health]
	}
	protocol := func(g *game) *foretick.Protocol {
		p := foretick.NewProtocol("teams", 1)
		p.Component(&g.Health)
		p.Prefab(&g.Player, "player", &g.Health)
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
			f.SetTeam(player, uint8(1+player%2)) // players 1 and 3 are allies
			*g.Health.Get(f.World, f.Spawn(&g.Player, player)) = Health{Points: 75, Ammo: 12}
		})
		return p
	}
	match := simtest.New(1)
	if _, err := match.Serve(server.Config{Protocol: protocol(&game{})}); err != nil {
		panic(err)
	}
	var games [3]game
	var clients [3]*client.Client
	var protocols [3]*foretick.Protocol
	for i := range games {
		var err error
		protocols[i] = protocol(&games[i])
		if clients[i], err = match.Join(client.Config{Protocol: protocols[i]}, far); err != nil {
			panic(err)
		}
	}
	match.Run(2 * time.Second)
	g, c := &games[0], clients[0]
	for _, rows := range protocols[0].Query(ecs.With(&g.Health)).All(c.View().World) {
		fmt.Printf("player 1 knows of player %d: %+v\n", rows.Owner(), g.Health.Slice(rows)[0])
	}
	// Output:
	// player 1 knows of player 1: {Points:75 Ammo:12}
	// player 1 knows of player 3: {Points:75 Ammo:0}
}

// A player receives the entities that are near its own.
func ExampleInterest() {
	protocol := func(g *Walk) *foretick.Protocol {
		p := g.Protocol()
		foretick.Interest(p, &g.Pos, snapshot.AreaConfig{Enter: 30, Leave: 35}, func(v *Position) (x, y, z float32) { return v.X, v.Y, 0 })
		return p
	}
	var truth, game Walk
	p := protocol(&game)
	match, srv, cl := play(protocol(&truth), p, nil)
	for _, x := range []float32{10, 20, 90} {
		truth.Pos.Get(srv.World(), srv.Frame().Spawn(&truth.Player, ecs.Nobody)).X = x
	}
	match.Run(2 * time.Second)
	for _, rows := range p.Query(ecs.With(&game.Pos)).All(cl.View().World) {
		for _, pos := range game.Pos.Slice(rows) {
			fmt.Println("player", rows.Owner(), "at", pos.X)
		}
	}
	// Unordered output:
	// player 0 at 10
	// player 0 at 20
	// player 1 at 0
}

// Weight is a component that only crates have.
type Weight struct{ Kilos uint8 }

// Players push a crate. A shared system writes the crate through the world, so every client
// predicts it together with its own player.
func ExampleProtocol_Shared() {
	type game struct {
		Walk
		Crate  ecs.Prefab
		Weight ecs.Component[Weight]
		crates *ecs.Query
	}
	protocol := func(g *game) *foretick.Protocol {
		p := g.Protocol()
		p.Component(&g.Weight, foretick.Predicted())
		p.Prefab(&g.Crate, "crate", &g.Pos, &g.Weight)
		g.crates = p.Query(ecs.With(&g.Weight))
		p.Shared("push", func(f *foretick.Frame, rows ecs.Rows) {
			for _, pos := range g.Pos.Slice(rows) {
				for _, crates := range g.crates.All(f.World) {
					for k, crate := 0, g.Pos.Slice(crates); k < len(crate); k++ {
						if pos.X < crate[k].X && crate[k].X-pos.X < 1 {
							crate[k].X = pos.X + 1
						}
					}
				}
			}
		}, ecs.Read(&g.Pos, &g.Move), ecs.WriteOther(&g.Pos), ecs.After("move"))
		return p
	}
	var truth, cl game
	match, srv, cli := play(protocol(&truth), protocol(&cl), client.Sample(&cl.Move, func(client.View) Move { return Move{X: 1} }))
	truth.Pos.Get(srv.World(), srv.Frame().Spawn(&truth.Crate, ecs.Nobody)).X = 3
	match.Run(3 * time.Second)
	for _, rows := range cl.crates.All(cli.View().World) {
		fmt.Println("pushed past 10 m:", cl.Pos.Slice(rows)[0].X > 10, "mispredictions:", cli.Stats().Mispredictions)
	}
	// Output: pushed past 10 m: true mispredictions: 0
}
