package orchard

import (
	"fmt"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Phases of a match.
const (
	Lobby = iota
	Playing
	Paused
	Over
)

type (
	// Match is the state of the match. Every client has it, also one that joins late.
	Match struct {
		Phase uint8  `net:"max=3" enum:"lobby,playing,paused,over"`
		Left  uint16 // ticks of the round
	}
	// Say is a line that a player types.
	Say struct {
		Text string `net:"max=80"`
	}
	// Said is a line that players read.
	Said struct {
		By   foretick.PlayerID
		Text string `net:"max=80"`
	}
	// Buy asks for something in the shop.
	Buy struct {
		Item uint8 `net:"max=3"`
	}
	// Sold is the server's reply.
	Sold struct {
		Item uint8 `net:"max=3"`
		OK   bool
	}
)

// price of each item, in coins.
var price = [4]uint8{0: 2, 1: 5, 2: 10, 3: 20}

func (g *Game) declareMatch(p *foretick.Protocol) {
	p.Singleton(&g.Match, foretick.Predicted())
	p.Shared("clock", g.clock, ecs.Once(), ecs.Write(&g.Match))
	g.Say.Handle(p, g.say)
	g.Said.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, s Said) { g.print(fmt.Sprintf("%d: %s", s.By, s.Text)) })
	g.Buy.Handle(p, g.sell)
	g.Sold.OnClient(p, g.sold)
}

// clock counts the round down, on both ends.
func (g *Game) clock(f *foretick.Frame, _ ecs.Rows) {
	m := g.Match.Get(f.World)
	if m.Phase != Playing {
		return
	}
	if m.Left > 0 {
		m.Left--
	}
	if m.Left == 0 {
		m.Phase = Over
	}
}

// say runs on the server.
func (g *Game) say(f *foretick.ServerFrame, player foretick.PlayerID, s Say) {
	g.Said.Broadcast(f, Said{By: player, Text: s.Text})
}

// sell runs on the server. It trusts nothing but the player's number.
func (g *Game) sell(f *foretick.ServerFrame, player foretick.PlayerID, b Buy) {
	bag := g.Bag.Find(f.World, g.Own(f.World, player))
	ok := bag != nil && bag.Coins >= price[b.Item]
	if ok {
		bag.Coins -= price[b.Item]
	}
	_ = g.Sold.Send(f, player, Sold{Item: b.Item, OK: ok})
}

// sold runs on the buyer's client.
func (g *Game) sold(_ *foretick.Frame, _ foretick.Tick, s Sold) {
	if !s.OK {
		g.print("not enough coins")
		return
	}
	g.print(fmt.Sprint("bought item ", s.Item))
}
