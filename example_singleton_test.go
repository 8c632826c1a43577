package foretick_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
)

// The server writes Points. Both ends compute Remaining.
type (
	Points    struct{ Red, Blue uint8 }
	Remaining struct{ Left uint16 }
)

// Round is the game of walking players, with two singletons for the state of the match.
type Round struct {
	Walk
	Score ecs.Singleton[Points]
	Clock ecs.Singleton[Remaining]
}

func (g *Round) Protocol() *foretick.Protocol {
	p := g.Walk.Protocol()
	p.Singleton(&g.Score)
	p.Singleton(&g.Clock, foretick.Predicted())
	p.Shared("clock", func(f *foretick.Frame, _ ecs.Rows) {
		if c := g.Clock.Get(f.World); c.Left > 0 {
			c.Left--
		}
	}, ecs.Once(), ecs.Write(&g.Clock))
	return p
}

// The score is sent by the server, and the clock is predicted: a client shows the value that
// the clock will have on the server when the player's input arrives there.
func ExampleProtocol_Singleton() {
	var server, cl Round
	match, srv, cli := play(server.Protocol(), cl.Protocol(), client.Sample(&cl.Move, func(client.View) Move { return Move{} }))
	server.Clock.Get(srv.World()).Left = 300
	server.Score.Get(srv.World()).Red = 2
	match.Run(5 * time.Second)
	clock := int(cl.Clock.Get(cli.View().World).Left)
	fmt.Println(*cl.Score.Get(cli.View().World))
	fmt.Println("the clock at the client's tick:", clock+int(cli.View().Tick) == 300)
	fmt.Println("corrections:", cli.Stats().Mispredictions)
	// Output:
	// {2 0}
	// the clock at the client's tick: true
	// corrections: 0
}
