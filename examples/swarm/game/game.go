// Package game has the rules of a strategy game with 10 000 units. Players send orders alone: an
// order names units by a rectangle or a group, and where they go. The rules compute with integers,
// and with square roots that are exact on every machine.
//
// A place is in 256ths of a metre, and an order's in metres. Systems run in the order in which
// Protocol declares them:
//
//  1. order takes each player's command.
//  2. obey gives units their targets.
//  3. look sorts all units into the cells of a grid, as they stand.
//  4. move lets each unit walk, keep its distance, and fight. It reads others as look found them,
//     so the result does not depend on the order of units.
//  5. done forgets the orders.
package game

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// TickRate is how many times a second the rules run.
const TickRate = 20

const (
	// Players is how many may play.
	Players = 8
	// Units is how many units a player has at first: 10 000 in all.
	Units = 1250
	// Metre is a metre in the units of places.
	Metre = 256

	half     = 512 * Metre // from the middle to each edge of the map
	speed    = 64          // a tick: 5 metres a second
	room     = 1 * Metre   // the distance that units keep
	reach    = 2 * Metre   // how far a unit hits
	fullLife = 60
)

// Kind is what an order asks for.
type Kind uint8

// The kinds of orders.
const (
	NoOrder Kind = iota
	March        // go to a place
	Halt         // stay
	Band         // become a group
)

type (
	// Order is a player's command for a tick. It concerns the player's units in a rectangle, or
	// those of a group if Group is not 0. Band makes the units in the rectangle that group.
	Order struct {
		Kind           Kind  `net:"oneshot,max=3"`
		Group          uint8 `net:"press,max=9"`
		X0, Y0, X1, Y1 int16 `net:"press,min=-512,max=512"` // the rectangle, both corners included
		ToX, ToY       int16 `net:"press,min=-512,max=512"`
	}
	// General keeps a player's order until the tick ends. Its fields are those of Order, whose
	// tags oneshot and press are for commands alone.
	General struct {
		Kind           Kind  `net:"max=3"`
		Group          uint8 `net:"max=9"`
		X0, Y0, X1, Y1 int16 `net:"min=-512,max=512"`
		ToX, ToY       int16 `net:"min=-512,max=512"`
	}
	// Unit is a unit's whole state.
	Unit struct {
		X, Y     int32 `net:"min=-131072,max=131072,lerp"`
		ToX, ToY int32 `net:"min=-131072,max=131072"` // where it was sent
		Walks    bool  // is still on its way
		Group    uint8 `net:"max=9"`
		Life     uint8 // it is gone at 0
	}
)

// Game holds the handles of one end.
type Game struct {
	Order   ecs.Component[Order]
	General ecs.Component[General]
	Unit    ecs.Component[Unit]

	Leader, Soldier ecs.Prefab

	generals, units *ecs.Query
	grid            grid
}

// Protocol declares the game.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("swarm", 1)
	p.SetTickRate(TickRate)
	p.InOrder()
	p.Component(&g.Unit, foretick.Predicted())
	p.Component(&g.General, foretick.Predicted())
	p.Command(&g.Order)
	p.Prefab(&g.Leader, "leader", &g.General, &g.Order)
	p.Prefab(&g.Soldier, "soldier", &g.Unit)
	g.generals = p.Query(ecs.With(&g.General))
	g.units = p.Query(ecs.With(&g.Unit))
	p.OnJoin(g.Join)
	p.Shared("order", g.order, ecs.Read(&g.Order), ecs.Write(&g.General))
	p.Shared("obey", g.obey, ecs.Write(&g.Unit), ecs.ReadOwn(&g.General))
	p.Shared("look", g.look, ecs.Once(), ecs.ReadOther(&g.Unit))
	p.Shared("move", g.move, ecs.Write(&g.Unit), ecs.Structural())
	p.Shared("done", g.done, ecs.Write(&g.General))
	return p
}

// Join gives a new player its units, in a square of its own. Protocol declares it for OnJoin.
func (g *Game) Join(f *foretick.ServerFrame, player foretick.PlayerID) {
	f.Spawn(&g.Leader, player)
	seat := int32(player-1) % Players
	x, y := (seat%4)*96-144, (seat/4)*96-48
	for i := range int32(Units) {
		at := Unit{X: (x + i%36*2 - 36) * Metre, Y: (y + i/36*2 - 36) * Metre, Life: fullLife}
		at.ToX, at.ToY = at.X, at.Y
		*g.Unit.Get(f.World, f.Spawn(&g.Soldier, player)) = at
	}
}

// order takes the players' orders.
func (g *Game) order(_ *foretick.Frame, rows ecs.Rows) {
	general := g.General.Slice(rows)
	for i, order := range g.Order.Slice(rows) {
		if order.Kind != NoOrder {
			general[i] = General(order)
		}
	}
}

// obey gives the units of an order their targets.
func (g *Game) obey(f *foretick.Frame, rows ecs.Rows) {
	for _, of := range g.generals.Owned(f.World, rows.Owner()) {
		for _, general := range g.General.Slice(of) {
			if general.Kind == NoOrder {
				continue
			}
			unit := g.Unit.Slice(rows)
			for i := range unit {
				if general.names(&unit[i]) {
					unit[i].obey(&general)
				}
			}
		}
	}
}

// names reports whether an order is for a unit.
func (o *General) names(u *Unit) bool {
	if o.Group != 0 && o.Kind != Band {
		return u.Group == o.Group
	}
	return u.X >= int32(o.X0)*Metre && u.X <= int32(o.X1)*Metre && u.Y >= int32(o.Y0)*Metre && u.Y <= int32(o.Y1)*Metre
}

func (u *Unit) obey(o *General) {
	switch o.Kind {
	case March:
		u.ToX, u.ToY, u.Walks = int32(o.ToX)*Metre, int32(o.ToY)*Metre, true
	case Halt:
		u.ToX, u.ToY, u.Walks = u.X, u.Y, false
	case Band:
		u.Group = o.Group
	}
}

// done forgets the orders.
func (g *Game) done(_ *foretick.Frame, rows ecs.Rows) {
	clear(g.General.Slice(rows))
}

// Give gives an order in a player's name, as the player's command would. A program without a network
// calls it between ticks.
func (g *Game) Give(w *ecs.World, player foretick.PlayerID, order Order) {
	if leader := g.generals.FirstOwned(w, player); leader != ecs.None {
		*g.General.Get(w, leader) = General(order)
	}
}

// Count returns how many units a player has.
func (g *Game) Count(w *ecs.World, player foretick.PlayerID) (n int) {
	for _, rows := range g.units.Owned(w, player) {
		n += rows.Len()
	}
	return n
}
