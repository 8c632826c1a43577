package server_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// Notice says by when a match ends that its server wants to end. It is empty before.
type Notice struct{ Ends foretick.Tick }

// Noticed is a match that tells its players so.
type Noticed struct {
	Walk
	Notice ecs.Singleton[Notice]
}

func (g *Noticed) Protocol() *foretick.Protocol {
	p := g.Walk.Protocol()
	p.Singleton(&g.Notice)
	return p
}

// A process has ten minutes to end. Players see how much of them is left.
func ExampleConfig_onDrain() {
	var truth, cl Noticed
	match := simtest.New(1)
	srv, err := match.Serve(server.Config{Protocol: truth.Protocol(), OnDrain: func(f *foretick.ServerFrame, _ string) {
		truth.Notice.Get(f.World).Ends = f.Tick + foretick.Tick(10*60/f.DT)
	}})
	if err != nil {
		panic(err)
	}
	player, err := match.Join(client.Config{Protocol: cl.Protocol()}, far)
	if err != nil {
		panic(err)
	}
	show := func() {
		if ends := cl.Notice.Get(player.View().World).Ends; ends != 0 {
			left := float32(ends-player.View().Tick) * srv.Frame().DT
			fmt.Printf("this match ends in %.0f minutes\n", left/60)
		}
	}
	match.Run(time.Second)
	show()
	srv.Drain("this server is being replaced")
	match.RunFor(time.Second)
	show()
	match.RunFor(3 * time.Minute)
	show()
	// Output:
	// this match ends in 10 minutes
	// this match ends in 7 minutes
}
