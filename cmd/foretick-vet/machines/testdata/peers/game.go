// Package peers is a game that peers of package rollback run.
package peers

import (
	"math/rand/v2"
	"time"

	"example.com/planted/rules"
	"example.com/planted/served"
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/rollback" // want `package example.com/planted/rules: OnJoin join: writes g.joins, which no history holds.* \(game.go:\d+\)` `planted/rules: OnJoin join: math/rand.Intn` `planted/rules: OnLeave: ranges over a map` `planted/rules: OnServer handler: writes g.hits` `planted/rules: OnServer handler calls Jitter \(lib.go:21\): math/rand/v2`
)

type Life struct{ Left int32 }

type Press struct{ X int8 }

type Hit struct{ Damage int32 }

type Game struct {
	Life   ecs.Component[Life]
	Press  ecs.Component[Press]
	Hit    foretick.Event[Hit]
	body   ecs.Prefab
	joins  int32
	seats  map[foretick.PlayerID]ecs.Entity
	since  time.Time
	struck int32
	rounds int32
}

func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("peers", 1)
	p.Component(&g.Life, foretick.Predicted())
	p.Command(&g.Press)
	p.Prefab(&g.body, "body", &g.Life, &g.Press)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.joins++                                                                // want `OnJoin: writes g.joins, a variable outside of the function, which no history holds: a replay finds it changed`
		g.Life.Get(f.World, f.Spawn(&g.body, player)).Left = 50 + rand.Int32N(9) // want `OnJoin: math/rand/v2.Int32N gives other numbers`
	})
	p.OnLeave(g.leave)
	g.Hit.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, h Hit) {
		g.struck += h.Damage // want `OnServer handler: writes g.struck`
		if l := g.Life.Get(f.World, by.Entity); l != nil {
			l.Left -= h.Damage + int32(f.Rand(uint64(by.Entity))%3)
		}
	})
	g.Hit.OnFinal(p, func(*foretick.ServerFrame, foretick.By, Hit) {
		g.rounds++
		g.since = time.Now()
	})
	g.Hit.OnPredicted(p, func(*foretick.Frame, foretick.By, Hit) { g.rounds++ })
	return p
}

func (g *Game) leave(f *foretick.ServerFrame, _ foretick.PlayerID) {
	for _, e := range g.seats { // want `OnLeave leave: ranges over a map`
		f.World.Destroy(e)
	}
	g.since = time.Now() // want `OnLeave leave: writes g.since` `OnLeave leave: time.Now depends on the machine`
}

// New joins a match.
func New(c rollback.Config) (*rollback.Peer, error) {
	var other served.Game
	_ = other.Protocol()
	c.Protocol = new(rules.Game).Protocol()
	return rollback.New(c)
}
