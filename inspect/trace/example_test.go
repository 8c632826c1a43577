package trace_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/inspect/trace"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

type lift struct {
	Height float32 `net:"min=0,max=100,step=0.01" unit:"m"`
}

// protocol declares a game whose system "rise" has a fault: another speed on the server.
func protocol() *foretick.Protocol {
	var height ecs.Component[lift]
	var prefab ecs.Prefab
	p := foretick.NewProtocol("lifts", 1)
	p.Component(&height, foretick.Predicted())
	p.Prefab(&prefab, "lift", &height)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&prefab, player) })
	p.Shared("rise", func(f *foretick.Frame, rows ecs.Rows) {
		for i := range height.Slice(rows) {
			height.Slice(rows)[i].Height += 0.01
			if f.IsServer() && f.Tick == 60 {
				height.Slice(rows)[i].Height += 0.5
			}
		}
	}, ecs.Write(&height))
	return p
}

// A trace names the system whose results differ, and both values before and after it.
func Example() {
	m := simtest.New(1)
	_, err := m.Serve(server.Config{Protocol: protocol(), AllowTrace: func(foretick.PlayerID) bool { return true }})
	if err != nil {
		panic(err)
	}
	cl, err := m.Join(client.Config{Protocol: protocol()}, simtest.Seat{})
	if err != nil {
		panic(err)
	}

	t := trace.OfClient(cl)
	for range 5 {
		t.Look() // the player's own entities
		m.Run(m.Net.Now() + 500*time.Millisecond)
		if f, ok := trace.First(t.Tables()); ok {
			fmt.Println(f)
			break
		}
	}
	// Output:
	// tick 60: system "rise": lift.Height of lift 1: before it the client had 0.59 and the server 0.59, after it 0.6 and 1.1
}
