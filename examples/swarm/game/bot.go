package game

import (
	"math/rand/v2"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Bot gives orders as a player does: it picks some of its units, and sends them somewhere.
type Bot struct {
	game *Game
	rand *rand.Rand
}

// NewBot returns a bot. Bots with other seeds give other orders.
func NewBot(g *Game, seed uint64) *Bot {
	return &Bot{g, rand.New(rand.NewPCG(seed, 2))} // #nosec G404 -- a game
}

// Order returns an order for a player's units: those about one of them march to another unit of
// any player.
func (b *Bot) Order(w *ecs.World, player foretick.PlayerID) Order {
	from, ok := b.pick(b.game.units.Owned(w, player))
	to, _ := b.pick(b.game.units.All(w))
	if !ok {
		return Order{}
	}
	x, y := int16(from.X/Metre), int16(from.Y/Metre)
	return Order{Kind: March, X0: x - 20, Y0: y - 20, X1: x + 20, Y1: y + 20, ToX: int16(to.X / Metre), ToY: int16(to.Y / Metre)}
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
