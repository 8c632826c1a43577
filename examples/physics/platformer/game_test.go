package platformer

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
)

// TestSeeds: the game's own code is never the cause of a correction.
func TestSeeds(t *testing.T) {
	var all stats.Client
	rode, highest := 0, float32(0)
	for seed := range uint64(20) {
		r, err := play(options{players: 4, rtt: 100 * time.Millisecond, loss: 0.02, seconds: 12, seed: seed + 1})
		require.NoError(t, err)
		all.Add(&r.stats)
		rode, highest = rode+r.rode, max(highest, r.highest)
	}
	t.Logf("%d mispredictions in %d ticks compared: %v; %d ticks on the lift, %.1f tiles up", all.Mispredictions, all.Compared, all.ByCause, rode, highest)
	require.Zero(t, all.ByCause.Of(prediction.Code)+all.ByCause.Of(prediction.Untracked))
	require.Greater(t, all.Compared, uint64(20000))
	require.Greater(t, rode, 60, "nobody rode the lift")
	require.Greater(t, highest, float32(7), "nobody jumped onto a platform and further")
}

// TestLoss: on a bad network ticks are run again, and only lost input is the cause.
func TestLoss(t *testing.T) {
	var all stats.Client
	for seed := range uint64(4) {
		r, err := play(options{players: 4, rtt: 150 * time.Millisecond, loss: 0.3, seconds: 15, seed: seed + 1})
		require.NoError(t, err)
		all.Add(&r.stats)
	}
	t.Logf("%v; %d ticks run again", all.ByCause, all.Resimulated)
	require.Equal(t, all.Mispredictions, all.ByCause.Of(prediction.Input))
	require.Greater(t, all.Resimulated, uint64(50))
}

func newPlayer() simtest.Player {
	g := &Game{}
	p := g.Protocol()
	return simtest.Player{Protocol: p, Sample: client.Sample(&g.Cmd, Bot(1, 1))}
}

// TestSync: replays have the result of the first run.
func TestSync(t *testing.T) {
	simtest.SyncTest(t, newPlayer, simtest.SyncConfig{Players: 4, Ticks: 300})
}

// fly lets one jumper play alone, with an input for each frame of its screen, from a place.
func fly(t *testing.T, at Body, input func(frame int) Command, ticks int) (out []Body) {
	truth, g := &Game{}, &Game{}
	p, frame, watching := g.Protocol(), 0, false
	m := simtest.New(1)
	srv, err := m.Serve(server.Config{Protocol: truth.Protocol(), OnTick: func(f *foretick.ServerFrame) {
		for _, rows := range truth.bodies.All(f.World) {
			if watching {
				out = append(out, truth.Body.Slice(rows)[0])
			}
		}
	}})
	require.NoError(t, err)
	_, err = m.Join(client.Config{Protocol: p, Sample: client.Sample(&g.Cmd, func(client.View) Command {
		if !watching {
			return Command{}
		}
		frame++
		return input(frame)
	})}, simtest.Seat{})
	require.NoError(t, err)
	m.Run(time.Second)
	for _, rows := range truth.bodies.All(srv.World()) {
		truth.Body.Slice(rows)[0] = at
	}
	watching = true
	m.Run(time.Second + time.Duration(ticks)*time.Second/30)
	require.NotEmpty(t, out)
	return out
}

// TestRules: a jumper lands, jumps once for a press, is stopped by walls and platforms, and
// stands still.
func TestRules(t *testing.T) {
	stand := fly(t, Body{X: 3, Y: 4}, func(int) Command { return Command{} }, 60)
	require.InDelta(t, 1+Height/2, stand[len(stand)-1].Y, 0.03)
	require.Equal(t, stand[len(stand)-2], stand[len(stand)-1], "it stands still")
	left := fly(t, Body{X: 3, Y: 1.8}, func(int) Command { return Command{X: -1} }, 60)
	require.InDelta(t, Width/2, left[len(left)-1].X, 0.03, "the wall stops it")
	jump := fly(t, Body{X: 3, Y: 1.8}, func(frame int) Command { return Command{Jump: frame == 20} }, 60)
	top := float32(0)
	for _, b := range jump {
		top = max(top, b.Y)
	}
	require.Greater(t, top, float32(3.5))
	require.InDelta(t, 1+Height/2, jump[len(jump)-1].Y, 0.03)
	under := fly(t, Body{X: 10, Y: 1.8}, func(frame int) Command { return Command{Jump: frame == 20} }, 60)
	for _, b := range under {
		require.Less(t, b.Y+Height/2, float32(3.05), "the platform stops it")
	}
}

func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, Run([]string{"-rtt", "50ms", "-seconds", "5"}, &out, &errs))
	for _, said := range []string{"mispredictions", "code 0", "were run again", "rode the lift"} {
		require.Contains(t, out.String(), said)
	}
	require.Empty(t, errs.String())
	out.Reset()
	require.Zero(t, Run([]string{"-players", "2", "-seconds", "1", "-watch"}, &out, &errs))
	require.Contains(t, out.String(), "=")
	require.Contains(t, out.String(), "@")
	require.Zero(t, Run([]string{"-help"}, &out, &errs))
	for _, bad := range [][]string{{"-seconds", "0"}, {"-rtt", "1h"}, {"-players", "9"}, {"-loss", "2"}, {"-what"}} {
		errs.Reset()
		require.Equal(t, 2, Run(bad, &out, &errs))
		require.NotEmpty(t, errs.String())
	}
}

// The costs of a match for a player are the same in every run. The limits are 1.3 times the measured values.
func BenchmarkGame(b *testing.B) {
	limits := map[string]float64{"down-B/s": 2300, "corrections/min": 1, "server-allocs/tick": 740, "client-allocs/step": 48}
	simtest.Bench(b, newPlayer, simtest.BenchConfig{Seconds: 5, Seeds: 1, Limits: limits})
}
