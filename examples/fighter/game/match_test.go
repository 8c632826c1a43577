package game

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/rollback/rollbacktest"
)

// TestMatches: on bad links, with late players, frozen processes, lost connections and a spectator, all see the same
// fights. Fighters are hit in all of them.
func TestMatches(t *testing.T) {
	hurt := map[uint64]bool{} // hurt has the peers that saw a fighter lose life.
	all := rollbacktest.Check(t, rollbacktest.Plan{
		Observers: 1, Play: 20 * time.Second, Stay: 30 * time.Second, Hides: 5 * time.Second, Drops: 10 * time.Second,
		New: func(seed uint64) rollbacktest.Player {
			g := &Game{}
			p, bot := g.Protocol(), NewBot(g, seed)
			press := func(v rollback.View) Command {
				c := bot.Command(v.World, v.Player, v.Tick)
				c.Special = c.Special || v.Tick%180 < 3 // bots seldom come so far apart that they throw a ball
				return c
			}
			return rollbacktest.Player{Protocol: p, Sample: rollback.Sample(&g.Command, press), Draw: func(v rollback.View) {
				if _, of, ok := g.both(v.World); ok && min(of[0].Life, of[1].Life) < fullLife {
					hurt[seed] = true
				}
			}}
		},
	}, 5)
	require.GreaterOrEqual(t, len(hurt), 3*len(all), "two players and a spectator in each match")
	flew := false
	for _, o := range all {
		require.Greater(t, o.Rollbacks, uint64(100))
		require.Greater(t, o.Replayed, uint64(500))
		require.Empty(t, o.Unset)
		flew = flew || len(o.Unmatched) == 0
	}
	require.True(t, flew, "a fireball in some match")
}
