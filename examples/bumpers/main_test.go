package main

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/pair"
)

// TestRemotePrediction: with a round trip of 100 ms, crashes happen on the server where players feel
// them, and screens show bodies where the server has them. Without remote prediction neither is so. At
// rest both ends agree.
func TestRemotePrediction(t *testing.T) {
	var ahead, blind report
	for seed := range uint64(3) {
		o := options{rtt: 100 * time.Millisecond, jitter: 10 * time.Millisecond, loss: 0.01, seconds: 20, seed: seed + 3}
		ahead.add(match(t, o))
		o.blind = true
		blind.add(match(t, o))
	}
	require.Zero(t, ahead.stats.ByCause.Of(prediction.Untracked))
	require.Less(t, 2*ahead.share(ahead.felt), blind.share(blind.felt))
	require.Less(t, 5*ahead.share(ahead.real), blind.share(blind.real))
	by := blind.stats.ByCause
	require.Positive(t, by.Of(prediction.RemoteInput), "others push the ball")
	require.Greater(t, by.Of(prediction.RemoteInput)+by.Of(prediction.Untracked), uint64(500))
	require.Greater(t, ahead.stats.RemoteMispredicted, ahead.stats.RemotePredicted/10, "bots that turn their wheels")
	require.Zero(t, blind.stats.RemotePredicted)
	for _, c := range [][2][]float64{{ahead.own, blind.own}, {ahead.cars, blind.cars}, {ahead.ball, blind.ball}} {
		mean, worst := sum(c[0])
		blindMean, blindWorst := sum(c[1])
		require.Less(t, 5*mean, blindMean)
		require.Less(t, 2*worst, blindWorst)
	}
}

// match plays a match, and checks what must be so in every match.
func match(t *testing.T, o options) report {
	r, err := play(o)
	require.NoError(t, err)
	require.Zero(t, r.stats.ByCause.Of(prediction.Code))
	require.Len(t, r.audits, players)
	for _, a := range r.audits {
		require.Equal(t, players+1, a.Entities)
		require.Zero(t, a.Differences, a.First)
	}
	require.Greater(t, r.both, 20)
	t.Logf("seed %d, blind %t: %d crashes on both ends, %d felt only on a client, %d only on the server; score %d:%d",
		o.seed, o.blind, r.both, r.felt, r.real, r.score.Right, r.score.Left)
	return r
}

// add adds the report of another match.
func (r *report) add(o report) {
	r.own, r.cars, r.ball = append(r.own, o.own...), append(r.cars, o.cars...), append(r.ball, o.ball...)
	r.both, r.felt, r.real = r.both+o.both, r.felt+o.felt, r.real+o.real
	r.stats.Add(&o.stats)
}

// share returns n as a percentage of all crashes.
func (r *report) share(n int) float64 { return 100 * float64(n) / float64(r.both+r.felt+r.real) }

// TestGoals: a goal counts once, and the ball returns to the middle on every screen.
func TestGoals(t *testing.T) {
	m, truth := simtest.New(1), &Game{}
	srv, err := m.Serve(server.Config{Protocol: truth.Protocol()})
	require.NoError(t, err)
	ball := srv.Frame().Spawn(&truth.Ball, ecs.Nobody)
	g := &Game{}
	c, err := m.Join(client.Config{Protocol: g.Protocol()}, simtest.Seat{})
	require.NoError(t, err)
	m.Run(time.Second)
	for n, vx := range []float32{30, -30, 30} {
		*truth.Body.Get(srv.World(), ball) = Body{Y: 3, VX: vx} // past the player's car
		m.Run(time.Duration(n+2) * 2 * time.Second)
	}
	require.Equal(t, Score{Left: 1, Right: 2}, *truth.Score.Get(srv.World(), ball))
	for _, rows := range g.balls.All(c.View().World) {
		require.Equal(t, Score{Left: 1, Right: 2}, g.Score.Slice(rows)[0])
		require.Zero(t, g.Body.Slice(rows)[0])
	}
}

func newPlayer() simtest.Player {
	g := &Game{heard: func(foretick.Tick, foretick.PlayerID, foretick.PlayerID) {}}
	b := &bot{Game: g, rand: rand.New(rand.NewPCG(1, 2))}
	return simtest.Player{
		Protocol: g.Protocol(), Sample: client.Sample(&g.Cmd, b.steer),
		Begin: func(s *server.Server) { s.Frame().Spawn(&g.Ball, ecs.Nobody) },
	}
}

// TestSync: collisions have the same result on both ends, and in a replay.
func TestSync(t *testing.T) {
	simtest.SyncTest(t, newPlayer, simtest.SyncConfig{Players: 4, Ticks: 240})
}

func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, run([]string{"-rtt", "50ms", "-seconds", "5"}, &out, &errs))
	for _, said := range []string{"other cars", "felt only", "mispredictions", "states of other players were wrong", "score"} {
		require.Contains(t, out.String(), said)
	}
	require.Empty(t, errs.String())
	require.Zero(t, run([]string{"-help"}, &out, &errs))
	for _, bad := range [][]string{{"-seconds", "0"}, {"-rtt", "1h"}, {"-jitter", "-1s"}, {"-loss", "2"}, {"-what"}} {
		errs.Reset()
		require.Equal(t, 2, run(bad, &out, &errs))
		require.NotEmpty(t, errs.String())
	}
}

// TestPair plays over UDP; with flags it is one end, on a machine of its own: see package pair.
func TestPair(t *testing.T) { pair.Test(t, newPlayer) }

// BenchmarkGame measures what a match costs a player. It is the same in every run; the limits are 1.3
// times the current values.
func BenchmarkGame(b *testing.B) {
	limits := map[string]float64{"down-B/s": 5000, "corrections/min": 1700, "server-allocs/tick": 1, "client-allocs/step": 3.5}
	simtest.Bench(b, newPlayer, simtest.BenchConfig{Seconds: 5, Seeds: 1, Limits: limits})
}
