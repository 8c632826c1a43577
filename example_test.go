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

type Position struct {
	X, Y float32 `net:"min=-100,max=100,step=0.01,lerp"`
}

type Move struct {
	X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
}

// Walk is a game in which players walk. Server and clients each make a Walk of their own.
type Walk struct {
	Pos    ecs.Component[Position]
	Move   ecs.Component[Move]
	Player ecs.Prefab
}

func (g *Walk) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("walk", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.Command(&g.Move)
	p.Prefab(&g.Player, "player", &g.Pos, &g.Move)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.Player, player) })
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, move := g.Pos.Slice(rows), g.Move.Slice(rows)
		for i := range pos {
			pos[i].X += float32(move[i].X * 5 * f.DT) // float32: rounded alike on every machine
			pos[i].Y += float32(move[i].Y * 5 * f.DT)
		}
	}, ecs.Read(&g.Move), ecs.Write(&g.Pos))
	return p
}

// A whole match in virtual time. The client's player moves at once, though the round trip to
// the server is 100 ms, and both ends agree.
func Example() {
	match := simtest.New(1)
	var srv Walk
	if _, err := match.Serve(server.Config{Protocol: srv.Protocol()}); err != nil {
		panic(err)
	}
	var game Walk
	held := true
	sample := client.Sample(&game.Move, func(client.View) Move {
		if held {
			return Move{X: 1}
		}
		return Move{}
	})
	link := sim.Link{Latency: 50 * time.Millisecond}
	cl, err := match.Join(client.Config{Protocol: game.Protocol(), Sample: sample}, simtest.Seat{Up: link, Down: link})
	if err != nil {
		panic(err)
	}
	match.Run(3 * time.Second)
	held = false
	match.Run(4 * time.Second)
	audit, stats := match.Audit(cl), cl.Stats()
	fmt.Println(cl.View().State, "with", audit.Differences, "differences and", stats.Mispredictions, "mispredictions")
	// Output: playing with 0 differences and 0 mispredictions
}

// Rockets is a game in which a button fires rockets.
type Rockets struct {
	Pos    ecs.Component[Position]
	Button ecs.Component[Button]
	Player ecs.Prefab
	Rocket ecs.Prefab
}

type Button struct {
	Fire bool `net:"oneshot"`
}

func (g *Rockets) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("rockets", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.Command(&g.Button)
	p.Prefab(&g.Player, "player", &g.Button)
	p.Prefab(&g.Rocket, "rocket", &g.Pos)
	p.Spawns(&g.Rocket, foretick.SpawnConfig{})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.Player, player) })
	p.Shared("fire", func(f *foretick.Frame, rows ecs.Rows) {
		for i, button := range g.Button.Slice(rows) {
			if button.Fire {
				f.SpawnBy(rows.Entity(i), &g.Rocket)
			}
		}
	}, ecs.Read(&g.Button), ecs.Create(&g.Pos))
	p.Shared("fly", func(f *foretick.Frame, rows ecs.Rows) {
		for i, pos := 0, g.Pos.Slice(rows); i < len(pos); i++ {
			if pos[i].X += 20 * f.DT; pos[i].X > 20 {
				f.Destroy(rows.Entity(i))
			}
		}
	}, ecs.Write(&g.Pos), ecs.Structural())
	return p
}

// A shared system spawns rockets on both ends. The player's client draws the rocket at once,
// and matches it with the server's when that arrives.
func ExampleFrame_SpawnBy() {
	match := simtest.New(1)
	var srv Rockets
	if _, err := match.Serve(server.Config{Protocol: srv.Protocol()}); err != nil {
		panic(err)
	}
	var game Rockets
	sample := client.Sample(&game.Button, func(v client.View) Button { return Button{Fire: v.Tick%30 == 0} })
	link := sim.Link{Latency: 50 * time.Millisecond}
	cl, err := match.Join(client.Config{Protocol: game.Protocol(), Sample: sample}, simtest.Seat{Up: link, Down: link, FrameRate: 30})
	if err != nil {
		panic(err)
	}
	match.Run(10*time.Second + 500*time.Millisecond)
	st := cl.Stats()
	fmt.Println(st.SpawnsPredicted == st.SpawnsMatched, st.SpawnsMatched > 8, st.SpawnsCancelled, st.Mispredictions)
	// Output: true true 0 0
}

// Say is what a player types. Line is what all players read.
type Say struct {
	Text string `net:"max=80"`
}
type Line struct {
	Who  uint16
	Text string `net:"max=80"`
}

// Chat is the game of walking players with a chat.
type Chat struct {
	Walk
	Say  foretick.Request[Say]
	Line foretick.Message[Line]
	Read func(Line)
}

func (g *Chat) Protocol() *foretick.Protocol {
	p := g.Walk.Protocol()
	g.Say.Handle(p, func(f *foretick.ServerFrame, player foretick.PlayerID, v Say) {
		g.Line.Broadcast(f, Line{uint16(player), v.Text})
	})
	g.Line.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, v Line) { g.Read(v) })
	return p
}

// A player sends the server a text, which is no part of its commands, and the server sends it
// to all players.
func ExampleRequest() {
	match := simtest.New(1)
	var srv Chat
	if _, err := match.Serve(server.Config{Protocol: srv.Protocol()}); err != nil {
		panic(err)
	}
	game := Chat{Read: func(v Line) { fmt.Printf("%d: %s\n", v.Who, v.Text) }}
	link := sim.Link{Latency: 50 * time.Millisecond, Loss: 0.1}
	cl, err := match.Join(client.Config{Protocol: game.Protocol()}, simtest.Seat{Up: link, Down: link})
	if err != nil {
		panic(err)
	}
	match.Run(time.Second)
	for _, text := range []string{"Anybody here?", "Hello?"} {
		if err := game.Say.Send(cl, Say{text}); err != nil {
			panic(err)
		}
	}
	match.Run(2 * time.Second)
	// Output:
	// 1: Anybody here?
	// 1: Hello?
}

// A protocol that cannot work reports all its faults before the first tick.
func ExampleProtocol_Err() {
	var g Walk
	p := g.Protocol()
	p.SetTickRate(1000)
	p.Shared("teleport", func(*foretick.Frame, ecs.Rows) {}, ecs.WriteOther(&g.Move))
	fmt.Println(p.Err())
	// Output:
	// foretick: SetTickRate(1000): use 10 to 128
	// foretick: shared system "teleport" writes Move, which is not predicted: declare it with Component(…, Predicted()), or, with a server, make the system Server
}
