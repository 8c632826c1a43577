package rollbacktest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/rollback/rollbacktest"
)

// everything returns a plan with every kind of fault.
func everything() rollbacktest.Plan {
	return rollbacktest.Plan{
		New: newSnow(nil), Players: 3, Observers: 2, Play: 12 * time.Second,
		Stay: 20 * time.Second, Hides: 4 * time.Second, Drops: 6 * time.Second, Change: 5 * time.Second,
	}
}

// TestSound: a sound game passes with late joins, freezes, lost connections and spectators. The players hit one
// another in all peers' worlds.
func TestSound(t *testing.T) {
	hits := map[uint64]uint32{}
	p := everything()
	p.New = newSnow(func(g *snow) {
		g.draw = func(g *snow, v rollback.View) { hits[g.seed] = max(hits[g.seed], g.score.Get(v.World).Hits) }
	})
	var leaves, hides, drops, came int
	var worlds uint64
	for _, o := range rollbacktest.Check(t, p, 10) {
		leaves, hides, drops = leaves+o.Leaves, hides+o.Hides, drops+o.Drops
		worlds += o.Worlds
		require.Greater(t, o.Rollbacks, uint64(100))
		require.Greater(t, o.Sums, uint64(8))
		require.Greater(t, o.Replayed, uint64(1000))
		require.GreaterOrEqual(t, o.Joins+o.Observers, 5)
		came += o.Joins + o.Observers
		require.Equal(t, []string{"keys.Duck"}, o.Unset)
		require.Equal(t, []string{"never"}, o.Unmatched)
		require.NotZero(t, o.ReplayBytes)
	}
	require.Greater(t, leaves, 10)
	require.Greater(t, hides, 10)
	require.Greater(t, drops, 10)
	require.Greater(t, came, 5*10+leaves/2)
	require.Greater(t, worlds, uint64(5), "players who come late receive a world")
	hit := 0
	for _, n := range hits {
		hit += int(min(n, 1))
	}
	require.Greater(t, hit, 10*3, "players and spectators whose worlds have hits")
}

// TestLockstep: a game in lockstep passes, and never goes back.
func TestLockstep(t *testing.T) {
	p := everything()
	p.Peer = func(cfg *rollback.Config) { cfg.Window = rollback.Lockstep }
	for _, o := range rollbacktest.Check(t, p, 2) {
		require.Zero(t, o.Rollbacks)
		require.NotZero(t, o.Stalls)
		require.Greater(t, o.Replayed, uint64(1000))
	}
}

// TestOneSeedIsOneMatch: the same seed gives the same outcome, and another seed another match.
func TestOneSeedIsOneMatch(t *testing.T) {
	a, err := everything().Run(5)
	require.NoError(t, err)
	b, err := everything().Run(5)
	require.NoError(t, err)
	require.Equal(t, a, b)
	c, err := everything().Run(6)
	require.NoError(t, err)
	require.NotEqual(t, a.Trace, c.Trace)
}
