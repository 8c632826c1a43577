package bridge_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/bridge"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// ship is the game's own entity: a plain struct.
type ship struct {
	Body
	stick Stick
}

// fleet is the game's own world, and its handles.
type fleet struct {
	Body  ecs.Component[Body]
	Stick ecs.Component[Stick]
	Ship  ecs.Prefab
	ships map[*ship]bool
}

func (g *fleet) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("fleet", 1)
	p.Component(&g.Body, foretick.Predicted())
	p.Command(&g.Stick)
	p.Prefab(&g.Ship, "ship", &g.Body, &g.Stick)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.Ship, player) })

	g.ships = map[*ship]bool{}
	b := bridge.New(
		func(string) *ship { s := &ship{}; g.ships[s] = true; return s },
		func(s *ship) { delete(g.ships, s) },
	)
	bridge.Component(b, &g.Body, func(s *ship) *Body { return &s.Body })
	bridge.Component(b, &g.Stick, func(s *ship) *Stick { return &s.stick })
	b.System(p, "sail", g.sail, ecs.Read(&g.Stick), ecs.Write(&g.Body))
	return p
}

// sail is a system of the game's own.
func (g *fleet) sail(f *foretick.Frame, active []*ship) {
	for _, s := range active {
		s.X += float32(s.stick.X * 4 * f.DT)
	}
}

// A game keeps its ships in Go structs. The server and the client run its system over them. The
// client runs ahead, and draws them.
func Example() {
	m, srv, cl := simtest.New(1), &fleet{}, &fleet{}
	if _, err := m.Serve(server.Config{Protocol: srv.protocol()}); err != nil {
		panic(err)
	}
	p := cl.protocol()
	sample := client.Sample(&cl.Stick, func(v client.View) Stick { return Stick{X: float32(min(v.Tick/30, 1))} })
	if _, err := m.Join(client.Config{Protocol: p, Sample: sample}, simtest.Seat{}); err != nil {
		panic(err)
	}
	m.Run(4 * time.Second)
	for s := range cl.ships {
		fmt.Println("the client draws a ship, it has sailed:", s.X > 8)
	}
	for s := range srv.ships {
		fmt.Println("the server has it too, it has sailed:", s.X > 8)
	}
	// Output:
	// the client draws a ship, it has sailed: true
	// the server has it too, it has sailed: true
}
