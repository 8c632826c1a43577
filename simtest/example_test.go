package simtest_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// A game's matches on a terrible network, where players come and go and the
// server crashes. In a test, call Check with the same plan.
func ExamplePlan() {
	plan := simtest.Plan{
		New: func() simtest.Player {
			g := &game{}
			p := g.protocol()
			return simtest.Player{Protocol: p, Sample: client.Sample(&g.cmd, func(v client.View) move {
				return move{X: float32(v.Tick%3) - 1}
			})}
		},
		Clients:     3,
		Play:        20 * time.Second,
		Links:       []sim.Link{sim.Hell, sim.Train},
		Stay:        15 * time.Second,
		ServerKills: 12 * time.Second,
	}
	outcome, err := plan.Run(1)
	fmt.Println(err, outcome.Quiets, outcome.Kills > 0, outcome.Snapshots > 500)
	// Output: <nil> 1 true true
}

// A match controlled by hand: a client loses its network for a while.
func ExampleMatch() {
	m := simtest.New(1)
	var g game
	if _, err := m.Serve(server.Config{Protocol: g.protocol()}); err != nil {
		fmt.Println(err)
		return
	}
	var cg game
	c, err := m.Join(client.Config{Protocol: cg.protocol()}, simtest.Seat{Up: sim.WiFi, Down: sim.WiFi})
	if err != nil {
		fmt.Println(err)
		return
	}
	m.Run(2 * time.Second)
	fmt.Println(c.View().State)
	m.Link(c, sim.Link{Loss: 1}, sim.Link{Loss: 1})
	m.Run(10 * time.Second)
	fmt.Println(c.View().State)
	m.Link(c, sim.WiFi, sim.WiFi)
	m.Run(14 * time.Second)
	fmt.Println(c.View().State, m.Audit(c).Differences)
	// Output:
	// playing
	// resuming
	// playing 0
}
