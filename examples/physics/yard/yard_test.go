package yard

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

// TestCauses: with the whole engine rolled back, only players are the cause of corrections:
// other players' input, and input that the network lost. In the end all screens agree.
func TestCauses(t *testing.T) {
	var all stats.Client
	for seed := range uint64(4) {
		r, err := play(options{players: 4, rtt: 100 * time.Millisecond, loss: 0.02, seconds: 20, seed: seed + 1})
		require.NoError(t, err)
		require.Greater(t, r.shoved, float32(15), "nobody pushed a crate")
		require.Len(t, r.audits, 4)
		for _, a := range r.audits {
			require.Equal(t, 4+crates, a.Entities)
			require.Zero(t, a.Differences, a.First)
		}
		all.Add(&r.stats)
	}
	t.Logf("%d mispredictions in %d ticks compared: %v", all.Mispredictions, all.Compared, all.ByCause)
	by := all.ByCause
	require.Positive(t, by.Of(prediction.RemoteInput))
	require.Equal(t, all.Mispredictions, by.Of(prediction.RemoteInput)+by.Of(prediction.Input))
	require.Zero(t, by.Of(prediction.Code)+by.Of(prediction.Untracked))
}

func newPlayer() simtest.Player {
	g := &Game{}
	p := g.Protocol()
	return simtest.Player{Protocol: p, Sample: client.Sample(&g.Cmd, newBot(g, 1, 1).steer), Begin: g.Fill}
}

// TestSync: the engine gives the same result on both ends, and in a replay.
func TestSync(t *testing.T) {
	simtest.SyncTest(t, newPlayer, simtest.SyncConfig{Players: 4, Ticks: 200})
}

// TestFrame prints what a frame costs in which 8 ticks are run again.
func TestFrame(t *testing.T) {
	n, truth := sim.NewNetwork(1), &Game{}
	listen := n.Listen()
	srv, err := server.New(server.Config{Protocol: truth.Protocol(), Transport: listen})
	require.NoError(t, err)
	truth.Fill(srv)
	link := sim.Link{Latency: 95 * time.Millisecond, Loss: 0.02}
	var clients []*client.Client
	for i := range uint64(4) {
		g := &Game{}
		p := g.Protocol()
		c, err := client.New(client.Config{Protocol: p, Transport: n.Dial(listen, link, link), Sample: client.Sample(&g.Cmd, newBot(g, 1, i).steer)})
		require.NoError(t, err)
		clients = append(clients, c)
	}
	epoch, frames := time.Unix(0, 0), 0
	best, sum := time.Hour, time.Duration(0)
	for now := time.Duration(0); now < 20*time.Second; now += time.Second / 60 {
		n.Run(now)
		srv.Step(epoch.Add(now))
		for _, c := range clients {
			before, begun := c.Stats().Resimulated, time.Now()
			c.Step(epoch.Add(now))
			took := time.Since(begun)
			if again := c.Stats().Resimulated - before; now > 5*time.Second && again == 8 {
				frames, sum, best = frames+1, sum+took, min(best, took)
			}
		}
	}
	require.Positive(t, frames)
	t.Logf("%d frames ran 8 ticks again: %v on average, %v at best", frames, sum/time.Duration(frames), best)
	require.Less(t, best, 100*time.Millisecond)
}

func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, Run([]string{"-rtt", "50ms", "-seconds", "5"}, &out, &errs))
	for _, said := range []string{"mispredictions", "predicted states of other cars", "were run again", "other cars", "19 bodies like the server, with 0 differences"} {
		require.Contains(t, out.String(), said)
	}
	require.Empty(t, errs.String())
	out.Reset()
	require.Zero(t, Run([]string{"-players", "2", "-seconds", "1", "-watch"}, &out, &errs))
	require.Contains(t, out.String(), "#")
	require.Contains(t, out.String(), "2")
	require.Zero(t, Run([]string{"-help"}, &out, &errs))
	for _, bad := range [][]string{{"-seconds", "0"}, {"-rtt", "1h"}, {"-players", "9"}, {"-loss", "2"}, {"-what"}} {
		errs.Reset()
		require.Equal(t, 2, Run(bad, &out, &errs))
		require.NotEmpty(t, errs.String())
	}
}

// The costs of a match for a player are the same in every run. The limits are 1.3 times the measured values.
func BenchmarkGame(b *testing.B) {
	limits := map[string]float64{"down-B/s": 7800, "corrections/min": 2300, "server-allocs/tick": 73, "client-allocs/step": 170}
	simtest.Bench(b, newPlayer, simtest.BenchConfig{Seconds: 5, Seeds: 1, Limits: limits})
}
