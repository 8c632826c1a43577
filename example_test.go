package foretick_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
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
	Player ecs.Kind
}

func (g *Walk) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("walk", 1)
	p.Component(&g.Pos, foretick.Predicted)
	p.Command(&g.Move)
	p.Kind(&g.Player, "player", &g.Pos, &g.Move)
	p.Join(func(f *foretick.Frame, who ecs.Owner) { f.Spawn(&g.Player, who) })
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, move := g.Pos.Slice(rows), g.Move.Slice(rows)
		for i := range pos {
			pos[i].X += move[i].X * 5 * f.DT
			pos[i].Y += move[i].Y * 5 * f.DT
		}
	}, ecs.Read(&g.Move), ecs.Write(&g.Pos))
	return p
}

// A whole match in virtual time: the client's player moves at once, a hundred
// milliseconds away from its server, and both ends agree.
func Example() {
	match := simtest.New(1)
	var server Walk
	if _, err := match.Serve(foretick.ServerConfig{Protocol: server.Protocol()}); err != nil {
		panic(err)
	}
	var game Walk
	held := true
	sample := foretick.Sample(&game.Move, func(foretick.View) Move {
		if held {
			return Move{X: 1}
		}
		return Move{}
	})
	link := sim.Link{Latency: 50 * time.Millisecond}
	client, err := match.Join(foretick.ClientConfig{Protocol: game.Protocol(), Sample: sample}, simtest.Seat{Up: link, Down: link})
	if err != nil {
		panic(err)
	}
	match.Run(3 * time.Second)
	held = false
	match.Run(4 * time.Second)
	audit, stats := match.Audit(client), client.Stats()
	fmt.Println(client.View().State, "with", audit.Differences, "differences and", stats.Mispredictions, "mispredictions")
	// Output: playing with 0 differences and 0 mispredictions
}

// A protocol that cannot work says everything that is wrong with it before the
// first tick.
func ExampleProtocol_Err() {
	var g Walk
	p := g.Protocol()
	p.TickRate(1000)
	p.Shared("teleport", func(*foretick.Frame, ecs.Rows) {}, ecs.WriteOther(&g.Move))
	fmt.Println(p.Err())
	// Output:
	// foretick: TickRate(1000): use 10 to 128
	// foretick: shared system "teleport" writes Move, which is not predicted: declare it with Component(…, Predicted), or make the system Server
}
