package orchard

import (
	"fmt"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Name is what others know of a player.
type Name struct {
	Text string `net:"max=16"`
	Away bool   // its connection is lost
}

func (g *Game) declareSeats(p *foretick.Protocol) {
	p.Component(&g.Name)
	p.OnJoin(g.join)
	p.OnLeave(g.leave)
	p.OnDisconnect(func(f *foretick.ServerFrame, player foretick.PlayerID) { g.away(f, player, true) })
	p.OnReconnect(func(f *foretick.ServerFrame, player foretick.PlayerID) { g.away(f, player, false) })
}

// join gives a new player a body.
func (g *Game) join(f *foretick.ServerFrame, player foretick.PlayerID) {
	g.body(f, player, Name{Text: fmt.Sprint("player ", player)})
}

func (g *Game) body(f *foretick.ServerFrame, player foretick.PlayerID, name Name) {
	e := f.Spawn(&g.Player, player)
	*g.Pos.Get(f.World, e) = g.level.Start(player)
	*g.Name.Get(f.World, e) = name
	g.Bag.Get(f.World, e).Coins = 7
}

// leave drops what the player carried. Its body is destroyed after this.
func (g *Game) leave(f *foretick.ServerFrame, player foretick.PlayerID) {
	delete(g.ready, player)
	body := g.Own(f.World, player)
	bag := g.Bag.Find(f.World, body)
	if bag == nil {
		return
	}
	for range bag.Apples {
		*g.Pos.Get(f.World, f.Spawn(&g.Apple, ecs.Nobody)) = *g.Pos.Get(f.World, body)
	}
}

// away marks a body whose player is not there, so that others see it.
func (g *Game) away(f *foretick.ServerFrame, player foretick.PlayerID, is bool) {
	if name := g.Name.Find(f.World, g.Own(f.World, player)); name != nil {
		name.Away = is
	}
}
