package dojo_test

import (
	"testing"
	"time"

	"github.com/foretick/foretick/examples/fighter/game"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/rollback/rollbacktest"
)

func TestMatches(t *testing.T) {
	rollbacktest.Check(t, rollbacktest.Plan{
		New: func(seed uint64) rollbacktest.Player {
			g := &game.Game{}
			p, bot := g.Protocol(), game.NewBot(g, seed)
			press := func(v rollback.View) game.Command { return bot.Command(v.World, v.Player, v.Tick) }
			return rollbacktest.Player{Protocol: p, Sample: rollback.Sample(&g.Command, press)}
		},
		Stay: 20 * time.Second, Hides: 10 * time.Second, Drops: 15 * time.Second, // on average
	}, 3)
}
