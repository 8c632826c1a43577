package shottest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// A shot without a shooter hits bodies as they were in the newest complete tick, except the
// named entity: with players and without, also after one has left.
func TestPresentHitsForThoseWhoAreNoPlayers(t *testing.T) {
	m, err := newRange(61, 30, server.Config{})
	require.NoError(t, err)
	s, err := m.seat(sim.Link{Latency: 50 * time.Millisecond}, sim.Link{Latency: 50 * time.Millisecond}, time.Hour, time.Hour)
	require.NoError(t, err)
	hits, last := 0, map[ecs.Entity]lagcomp.Vec{}
	m.game.script = func(f *foretick.ServerFrame) {
		seen := f.Present()
		for n := range uint8(runners) {
			e := m.game.number(f.World, n)
			if at, ok := last[e]; ok {
				hit, ok := seen.Nearest(at, 0)
				require.True(t, ok, "it is where the newest complete tick had it")
				require.Equal(t, e, hit.Entity)
				_, ok = seen.Except(e).Nearest(at, 0)
				require.False(t, ok)
				_, ok = seen.Only(e).Nearest(at, 0)
				require.True(t, ok)
				require.EqualValues(t, 1, seen.Behind())
				var shot lagcomp.Projectile
				_, _, ok = seen.CatchUp(&shot)
				require.False(t, ok)
				require.NotPanics(t, func() { seen.Explain(lagcomp.RayTo(lagcomp.Vec{Y: -20}, at), 1) })
				hits++
			}
			_, ok := f.Rewind(ecs.Nobody).Nearest(last[e], 0)
			require.False(t, ok)
			last[e] = bone(m.game.pos.Get(f.World, e), m.game.pose.Get(f.World, e))
		}
	}
	m.Net.At(5*time.Second, func() { s.client.Close() })
	m.Run(8 * time.Second)
	require.Greater(t, hits, 600)
	require.GreaterOrEqual(t, m.Server().Stats().ViewsOfNobody, uint64(hits), "who aims at nothing is told so")
}
