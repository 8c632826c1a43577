// Package rules has the rules of a game for both ends and for peers. It imports no end, so the tool reports
// what only peers run again in the package that imports rollback.
package rules

import (
	"math/rand"

	"example.com/planted/lib"
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

type Life struct{ Left int32 }

type Press struct{ X int8 }

type Hit struct{ Damage int32 }

type Game struct {
	Life  ecs.Component[Life]
	Press ecs.Component[Press]
	Hit   foretick.Event[Hit]
	joins int32
	wins  map[foretick.PlayerID]int32
	hits  int32
	total int32
}

func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("rules", 1)
	p.Component(&g.Life, foretick.Predicted())
	p.Command(&g.Press)
	p.OnJoin(g.join)
	p.OnLeave(func(f *foretick.ServerFrame, _ foretick.PlayerID) {
		for player := range g.wins {
			f.Teleport(ecs.Entity(player))
			f.World.Destroy(ecs.Entity(player))
		}
	})
	g.Hit.OnServer(p, func(_ *foretick.ServerFrame, by foretick.By, h Hit) {
		g.hits += h.Damage
		g.Life.Get(nil, by.Entity).Left -= int32(lib.Jitter(2))
		g.total++ //foretick:allow a figure of the report
	})
	p.Shared("walk", g.walk)
	return p
}

func (g *Game) join(*foretick.ServerFrame, foretick.PlayerID) {
	g.joins++
	_ = rand.Intn(3)
}

func (g *Game) walk(*foretick.Frame, ecs.Rows) {
	g.total++ // want `shared system "walk": writes g.total`
}
