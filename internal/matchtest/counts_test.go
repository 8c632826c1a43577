package matchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// TestFiguresOfPaths: on a network that loses packets, the server's figures have the corrections that
// clients counted, the round trip, and the losses of both directions.
func TestFiguresOfPaths(t *testing.T) {
	link := sim.Link{Latency: 40 * time.Millisecond, Loss: 0.05}
	g := new(Walk)
	m := simtest.New(7)
	srv, err := m.Serve(server.Config{Protocol: g.Protocol()})
	require.NoError(t, err)
	var players []*client.Client
	for range 3 {
		c, err := m.Join(client.Config{Protocol: new(Walk).Protocol(), Redial: func() (transport.Endpoint, error) { return m.Dial(link, link), nil }}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		players = append(players, c)
	}
	everyone := ecs.NewQuery(srv.Frame().World.Types(), ecs.With(&g.Pos))
	m.Run(2 * time.Second)
	push := func(d time.Duration) {
		for end := m.Net.Now() + d; m.Net.Now() < end; m.RunFor(700 * time.Millisecond) {
			require.NoError(t, srv.Do("a push", func(f *foretick.ServerFrame) {
				for _, rows := range everyone.All(f.World) {
					g.Pos.Slice(rows)[0].X++
				}
			}))
		}
	}
	push(time.Minute)
	m.RunFor(40 * time.Second)
	var f stats.Server
	srv.Figures(&f)
	want := prediction.ByCause{}
	for _, c := range players {
		want.Add(c.Stats().ByCause)
	}
	t.Log(want, f.RTT.Quantile(0.5), f.LossIn.Mean(), f.LossOut.Mean())
	require.Greater(t, want.Of(prediction.ServerEffect), uint64(50))
	require.Equal(t, want, f.Corrections)
	require.InDelta(t, 3*10, float64(f.RTT.Count()), 3, "three players, each ten seconds")
	require.Equal(t, f.RTT.Count(), f.LossIn.Count())
	require.Equal(t, f.RTT.Count(), f.LossOut.Count())
	require.InDelta(t, 0.09, f.RTT.Quantile(0.5).Seconds(), 0.03)
	require.InDelta(t, link.Loss, f.LossIn.Mean(), 0.02)
	require.InDelta(t, link.Loss, f.LossOut.Mean(), 0.02)

	// Counts that were reported on one connection are not reported again on the next one.
	m.Freeze(players[0], true)
	m.RunFor(8 * time.Second)
	m.Freeze(players[0], false)
	m.RunFor(5 * time.Second)
	require.EqualValues(t, 1, srv.Stats().Resumed)
	push(20 * time.Second)
	m.RunFor(40 * time.Second)
	srv.Figures(&f)
	now := prediction.ByCause{}
	for _, c := range players {
		now.Add(c.Stats().ByCause)
	}
	require.Greater(t, now.Of(prediction.ServerEffect), want.Of(prediction.ServerEffect))
	require.Equal(t, now, f.Corrections)

	// Without losses the newest shares are 0. The player that reconnected keeps its lossy link.
	for _, c := range players[1:] {
		m.Link(c, sim.Link{Latency: link.Latency}, sim.Link{Latency: link.Latency})
	}
	m.RunFor(20 * time.Second)
	before := f
	srv.Figures(&before)
	m.RunFor(30 * time.Second)
	srv.Figures(&f)
	for _, loss := range [][2]stats.Shares{{before.LossIn, f.LossIn}, {before.LossOut, f.LossOut}} {
		require.InDelta(t, 3*3, float64(loss[1].Count()-loss[0].Count()), 3)
		require.InDelta(t, 2*3, float64(loss[1].Counts[0]-loss[0].Counts[0]), 1)
	}
}
