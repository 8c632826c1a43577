package field

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
)

// TestSeeds: the game's own code is never the cause of a correction, and in the end all screens agree
// with the server.
func TestSeeds(t *testing.T) {
	var all stats.Client
	found := 0
	for seed := range uint64(20) {
		drawn := 0
		r, err := play(options{rtt: 100 * time.Millisecond, loss: 0.02, seconds: 10, seed: seed + 1, watch: func(g *Game, v client.View) {
			if v.State == client.Playing {
				g.picture(v)
				drawn = g.own.Len()
			}
		}})
		require.NoError(t, err)
		require.Len(t, r.audits, players)
		for _, a := range r.audits {
			require.Equal(t, players+coins, a.Entities, "seed %d", seed+1)
			require.Zero(t, a.Differences, "seed %d: %s", seed+1, a.First)
		}
		require.Equal(t, players+coins, drawn, "donburi entities of balls are gone")
		found += r.coins
		all.Add(&r.stats)
	}
	t.Logf("%d mispredictions in %d ticks compared: %v; %d ticks run again, %d coins", all.Mispredictions, all.Compared, all.ByCause, all.Resimulated, found)
	require.Greater(t, all.ByCause.Of(prediction.ServerEffect), uint64(20), "nobody was hit")
	require.Greater(t, all.Resimulated, uint64(200))
	require.Zero(t, all.ByCause.Of(prediction.Code))
	require.Greater(t, found, 40)
}

func newPlayer() simtest.Player {
	g := &Game{}
	p := g.Protocol()
	return simtest.Player{Protocol: p, Sample: client.Sample(&g.Pad, wander(1, 1)), Begin: g.Fill}
}

// TestSync: the game's systems give the same result on both ends, and in a replay.
func TestSync(t *testing.T) {
	simtest.SyncTest(t, newPlayer, simtest.SyncConfig{Players: 4, Ticks: 240})
}

func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, Run([]string{"-rtt", "50ms", "-seconds", "5"}, &out, &errs))
	for _, said := range []string{"mispredictions", "code 0", "coins were collected", "12 entities like the server, with 0 differences"} {
		require.Contains(t, out.String(), said)
	}
	require.Empty(t, errs.String())
	out.Reset()
	require.Zero(t, Run([]string{"-seconds", "1", "-watch"}, &out, &errs))
	require.Contains(t, out.String(), "$")
	require.Contains(t, out.String(), "#")
	require.Zero(t, Run([]string{"-help"}, &out, &errs))
	for _, bad := range [][]string{{"-seconds", "0"}, {"-rtt", "1h"}, {"-loss", "2"}, {"-what"}} {
		errs.Reset()
		require.Equal(t, 2, Run(bad, &out, &errs))
		require.NotEmpty(t, errs.String())
	}
}

// BenchmarkGame measures what a match costs a player. It is the same in every run; the limits are 1.3
// times the current values.
func BenchmarkGame(b *testing.B) {
	limits := map[string]float64{"down-B/s": 2700, "corrections/min": 80, "server-allocs/tick": 2.5, "client-allocs/step": 2.9}
	simtest.Bench(b, newPlayer, simtest.BenchConfig{Seconds: 5, Seeds: 1, Limits: limits})
}
