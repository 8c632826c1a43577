package game

import (
	"math/rand/v2"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Bot gives orders as a player does: it picks some of its units, and sends them somewhere. Now and then it makes
// a group of them, which it sends later.
type Bot struct {
	game *Game
	rand *rand.Rand
	last Order // last is the newest order.
	band uint8 // band is the newest group that the bot made, or 0.
}

// NewBot returns a bot. Bots with other seeds give other orders.
func NewBot(g *Game, seed uint64) *Bot {
	return &Bot{game: g, rand: rand.New(rand.NewPCG(seed, 2))} // #nosec G404 -- a game
}

// Order returns an order for a player's units: those about one of them, or those of a group, march to another unit
// of any player. One order in eight makes a group. It returns NoOrder for a player without units. Fields that an
// order does not need stay as they were, since a field that does not change is hardly sent.
func (b *Bot) Order(w *ecs.World, player foretick.PlayerID) Order {
	from, ok := b.pick(b.game.units.Owned(w, player))
	to, _ := b.pick(b.game.units.All(w))
	if !ok {
		return b.Idle()
	}
	o, does := &b.last, b.rand.IntN(8)
	o.Kind, o.Group = March, 0
	switch {
	case does == 0:
		b.band = b.band%9 + 1
		o.Kind, o.Group = Band, b.band
	case does < 3:
		o.Group = b.band
	}
	if o.Kind == March {
		o.ToX, o.ToY = int16(to.X/Metre), int16(to.Y/Metre)
	}
	if o.Kind == Band || o.Group == 0 {
		x, y := int16(from.X/Metre), int16(from.Y/Metre)
		o.X0, o.Y0, o.X1, o.Y1 = max(x-20, -512), max(y-20, -512), min(x+20, 512), min(y+20, 512)
	}
	return *o
}

// Idle returns the command of a tick without an order. Its fields are those of the newest order, so that nothing
// but the order's end is sent.
func (b *Bot) Idle() Order {
	b.last.Kind = NoOrder
	return b.last
}

// pick returns a random unit of some rows.
func (b *Bot) pick(all []ecs.Rows) (Unit, bool) {
	n := 0
	for _, rows := range all {
		n += rows.Len()
	}
	if n == 0 {
		return Unit{}, false
	}
	n = b.rand.IntN(n)
	for _, rows := range all {
		if n < rows.Len() {
			return b.game.Unit.Slice(rows)[n], true
		}
		n -= rows.Len()
	}
	return Unit{}, false
}
