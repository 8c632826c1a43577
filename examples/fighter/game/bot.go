package game

import (
	"math/rand/v2"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Bot plays as a player does: it sees the world, and makes commands. It is no part of the world, so
// it may keep what it likes.
type Bot struct {
	game  *Game
	rand  *rand.Rand
	plan  Command
	until foretick.Tick // when it chooses another plan
}

// NewBot returns a bot. Bots with other seeds play otherwise.
func NewBot(g *Game, seed uint64) *Bot {
	return &Bot{game: g, rand: rand.New(rand.NewPCG(seed, 1))} // #nosec G404 -- a game
}

// Command returns the bot's command for a player's fighter.
func (b *Bot) Command(w *ecs.World, player foretick.PlayerID, now foretick.Tick) Command {
	pair, of, ok := b.game.both(w)
	if !ok {
		return Command{}
	}
	me, other := of[0], of[1]
	switch player {
	case w.Owner(pair[0]):
	case w.Owner(pair[1]):
		me, other = other, me
	default:
		return Command{} // it only watches
	}
	towards := int8(1)
	if other.X < me.X {
		towards = -1
	}
	far := max(other.X-me.X, me.X-other.X)
	if now < b.until {
		held := b.plan
		held.Punch, held.Kick, held.Special = false, false, false
		return held
	}
	b.until, b.plan = now+4+b.rand.Uint32N(12), Command{}
	n := b.rand.IntN(10)
	switch {
	case other.attacks() && far < 1400 && n < 6:
		b.plan.X = -towards
		if other.Act == Sweep {
			b.plan.Y = -1
		}
	case far > 2200 && n < 3:
		b.plan.Special = true
	case far > 1100 && n < 8:
		b.plan.X = towards
	case far > 1100:
		b.plan.X, b.plan.Y = towards, 1
	case n < 4:
		b.plan.Punch = true
	case n < 6:
		b.plan.Kick = true
	case n < 8:
		b.plan.Kick, b.plan.Y = true, -1
	default:
		b.plan.X = -towards
	}
	if me.Act == Jump {
		b.plan.Kick = true
	}
	return b.plan
}
