package server_test

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

// Walk is a game in which everybody walks. Server and clients each build their
// own.
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
			pos[i].X += float32(move[i].X * 5 * f.DT) // rounded: every machine gets the same sum
			pos[i].Y += float32(move[i].Y * 5 * f.DT)
		}
	}, ecs.Read(&g.Move), ecs.Write(&g.Pos))
	return p
}

// far is a line of 100 ms round trip.
var far = simtest.Seat{Up: sim.Link{Latency: 50 * time.Millisecond}, Down: sim.Link{Latency: 50 * time.Millisecond}}

// play begins a match of one server and one client.
func play(truth, game *foretick.Protocol, sample client.Sampler) (*simtest.Match, *server.Server, *client.Client) {
	match := simtest.New(1)
	srv, err := match.Serve(server.Config{Protocol: truth})
	if err != nil {
		panic(err)
	}
	cl, err := match.Join(client.Config{Protocol: game, Sample: sample}, far)
	if err != nil {
		panic(err)
	}
	return match, srv, cl
}

// The next level: the old entities go, the server builds the new ones, and each client
// hears of it before anything new arrives.
func ExampleServer_NextLevel() {
	protocol := func(g *Walk, enter func(string)) *foretick.Protocol {
		p := g.Protocol()
		p.OnLevel(func(_ *foretick.Frame, data []byte) { enter(string(data)) })
		return p
	}
	var truth, game Walk
	p := protocol(&game, func(level string) { fmt.Println("entering", level) })
	match, srv, cl := play(protocol(&truth, func(string) {}), p, nil)
	match.Run(time.Second)
	err := srv.NextLevel([]byte("caves"), func(f *foretick.ServerFrame) {
		for _, player := range srv.Players(nil) {
			truth.Pos.Get(f.World, f.Spawn(&truth.Player, player.ID)).X = 40
		}
	})
	if err != nil {
		panic(err)
	}
	match.Run(2 * time.Second)
	for _, rows := range p.Query(ecs.With(&game.Pos)).All(cl.View().World) {
		fmt.Println("at", game.Pos.Slice(rows)[0].X)
	}
	// Output:
	// entering caves
	// at 40
}

// A client with Redial comes back to its place when the connection is lost, and joins
// the server that replaces one closed for a restart.
func ExampleServer_CloseForRestart() {
	match := simtest.New(1)
	serve := func() *server.Server {
		srv, err := match.Serve(server.Config{Protocol: new(Walk).Protocol()})
		if err != nil {
			panic(err)
		}
		return srv
	}
	srv := serve()
	config := client.Config{Protocol: new(Walk).Protocol(), OnSession: func(s client.Session) { fmt.Println(s.Kind) }}
	if _, err := match.Join(config, far); err != nil { // a Seat brings a Redial
		panic(err)
	}
	match.Run(time.Second)
	if err := srv.CloseForRestart("a new version"); err != nil {
		panic(err)
	}
	match.KillServer() // its process ends
	match.Run(1500 * time.Millisecond)
	serve()
	match.Run(5 * time.Second)
	// Output:
	// joined
	// new server
}

// A server that allows it lets in clients of other builds, and each says what differs.
func ExampleConfig_allowOtherBuilds() {
	type Position struct { // of a later build: types are matched by name
		X, Y  float32 `net:"min=-100,max=100,step=0.01,lerp"`
		Sight uint8
	}
	type Move struct {
		X float32 `net:"min=-1,max=1,step=0.0078125"`
	}
	var g struct {
		Pos    ecs.Component[Position]
		Move   ecs.Component[Move]
		Player ecs.Prefab
	}
	later := foretick.NewProtocol("walk", 1)
	later.Component(&g.Pos, foretick.Predicted())
	later.Command(&g.Move)
	later.Prefab(&g.Player, "player", &g.Pos, &g.Move)
	later.Shared("move", func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&g.Move), ecs.Write(&g.Pos))
	match := simtest.New(1)
	if _, err := match.Serve(server.Config{Protocol: later, AllowOtherBuilds: true}); err != nil {
		panic(err)
	}
	cl, err := match.Join(client.Config{Protocol: new(Walk).Protocol()}, far)
	if err != nil {
		panic(err)
	}
	match.Run(3 * time.Second)
	d := cl.BuildDifference()
	fmt.Println("only here:", d.Missing)
	fmt.Println("only there:", d.Unknown)
	// Output:
	// only here: [Move.Y]
	// only there: [Position.Sight]
}
