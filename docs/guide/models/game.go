package main

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// The rules. A place is in centimetres.
const (
	tickRate = 60
	field    = 8000 // both ways
	walk     = 10   // a tick
	hop      = 5    // a tick
	turns    = 64   // A hare turns about once in so many ticks.
)

type (
	// Place is where a walker or a hare is.
	Place struct {
		X, Y int32 `net:"min=0,max=8191,lerp"`
	}
	// Bell is a walker's bell.
	Bell struct{ Rung uint8 } // Rung is the number of its newest ring.
	// Heading is where a hare looks and hops.
	Heading struct {
		X, Y int8 `net:"min=-1,max=1"`
	}
	// Keys is a player's input of a tick.
	Keys struct {
		X, Y int8  `net:"min=-1,max=1"`
		Ring uint8 `net:"oneshot"` // Ring is the number of a ring, or 0.
	}
)

// Game holds the handles of one end. Walkers walk about a field and ring a bell, and hares hop. It computes with
// integers, so each machine has the same result.
type Game struct {
	Place   ecs.Component[Place]
	Bell    ecs.Component[Bell]
	Heading ecs.Component[Heading]
	Keys    ecs.Component[Keys]

	Walker, Hare ecs.Prefab

	hares         int // hares is how many there are.
	walkers, pack *ecs.Query
}

// Protocol declares the game. It has what a server and all peers of package rollback can run.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("field", 1)
	p.SetTickRate(tickRate)
	p.Component(&g.Place, foretick.Predicted())
	p.Component(&g.Bell, foretick.Predicted())
	p.Component(&g.Heading, foretick.Predicted())
	p.Command(&g.Keys)
	p.Prefab(&g.Walker, "walker", &g.Place, &g.Bell, &g.Keys)
	p.Prefab(&g.Hare, "hare", &g.Place, &g.Heading)
	g.walkers, g.pack = p.Query(ecs.With(&g.Bell)), p.Query(ecs.With(&g.Heading))
	p.OnJoin(g.join)
	p.Shared("walk", g.walk, ecs.Read(&g.Keys), ecs.Write(&g.Place, &g.Bell))
	p.Shared("hop", g.hop, ecs.Write(&g.Place, &g.Heading))
	return p
}

// join gives a player a walker. The first one finds the hares.
func (g *Game) join(f *foretick.ServerFrame, player foretick.PlayerID) {
	for i := g.pack.Count(f.World); i < g.hares; i++ {
		*g.Place.Get(f.World, f.Spawn(&g.Hare, ecs.Nobody)) = Place{X: int32(i * 977 % field), Y: int32(i * 1693 % field)}
	}
	*g.Place.Get(f.World, f.Spawn(&g.Walker, player)) = Place{X: field / 2, Y: 500 * int32(player)}
}

func (g *Game) walk(_ *foretick.Frame, rows ecs.Rows) {
	place, bell, keys := g.Place.Slice(rows), g.Bell.Slice(rows), g.Keys.Slice(rows)
	for i := range place {
		place[i].move(int32(keys[i].X)*walk, int32(keys[i].Y)*walk)
		if keys[i].Ring > 0 {
			bell[i].Rung = keys[i].Ring
		}
	}
}

func (g *Game) hop(f *foretick.Frame, rows ecs.Rows) {
	place, heading := g.Place.Slice(rows), g.Heading.Slice(rows)
	for i, e := range rows.Entities() {
		if r := f.Rand(uint64(e)); r%turns == 0 {
			heading[i] = Heading{X: int8(r>>16%3) - 1, Y: int8(r>>32%3) - 1}
		}
		place[i].move(int32(heading[i].X)*hop, int32(heading[i].Y)*hop)
	}
}

// move moves within the field.
func (p *Place) move(x, y int32) { p.X, p.Y = min(max(p.X+x, 0), field), min(max(p.Y+y, 0), field) }
