package simtest_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// hop goes from one value to the next in an arch that no tag makes.
func hop(from, to kite, t float32) kite {
	from.Line += float32((to.Line - from.Line) * t)
	from.Y = from.Line
	from.X = from.Line + float32(2*t*(1-t))
	return from
}

// TestOwnInterpolationIsJudgedWhereDrawn: what the game interpolates is drawn so on
// screens, and shots at it are judged there.
func TestOwnInterpolationIsJudgedWhereDrawn(t *testing.T) {
	m := simtest.New(3)
	server, client := kites{own: true}, kites{own: true}
	srv, err := m.Serve(foretick.ServerConfig{Protocol: server.protocol(30), SnapshotRate: 15})
	require.NoError(t, err)
	for n := range kiteCount {
		server.kite.Get(srv.World(), srv.Frame().Spawn(&server.prefab, ecs.Nobody)).N = uint8(n)
	}
	judged, drawn := map[foretick.Tick]map[uint8]pictured{}, map[foretick.Tick]map[uint8]pictured{}
	server.seen = func(f *foretick.Frame, by foretick.PlayerID) { judged[f.Tick] = server.frame(f.World, f.Rewind(by)) }
	var cli *foretick.Client
	client.drawn = func(f *foretick.Frame) { drawn[f.Tick] = client.frame(f.World, f.Rewind(cli.View().Player)) }
	link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.02}
	arches := 0
	cli, err = m.Join(foretick.ClientConfig{Protocol: client.protocol(30), Sample: foretick.Sample(&client.cmd, func(v foretick.View) whistle {
		return whistle{Blow: v.Tick%2 == 0 && m.Net.Now() > 6*time.Second}
	})}, simtest.Seat{Up: link, Down: link, After: func(v foretick.View) {
		for _, rows := range client.all.All(v.World) {
			for _, k := range client.kite.Slice(rows) {
				if k.X != k.Line && k.Y == k.Line {
					arches++
				}
			}
		}
	}})
	require.NoError(t, err)
	m.Run(16 * time.Second)
	require.Greater(t, arches, 1000, "the screen shows them")
	compared, bent := 0, 0
	for tick, all := range drawn {
		for n, saw := range all {
			was, ok := judged[tick][n]
			if !ok || saw.held {
				continue
			}
			if compared++; saw.kite.X-saw.kite.Line > 0.1 {
				bent++
			}
			require.LessOrEqual(t, math.Abs(float64(saw.kite.X-was.kite.X)), placeStep, "tick %d", tick)
			require.LessOrEqual(t, distance(saw.hitboxes[0], was.hitboxes[0]), placeStep, "tick %d", tick)
		}
	}
	t.Logf("%d compared, %d of them in an arch", compared, bent)
	require.Greater(t, compared, 500)
	require.Greater(t, bent, compared/2)
}

// TestOwnInterpolationOfTheOwnBody: the player's own body is drawn so between two ticks,
// and prediction never sees it.
func TestOwnInterpolationOfTheOwnBody(t *testing.T) {
	m := simtest.New(4)
	server, client := &game{}, &game{}
	_, err := m.Serve(foretick.ServerConfig{Protocol: server.protocol()})
	require.NoError(t, err)
	p := client.protocol()
	moves := 0
	foretick.Interpolate(p, &client.pos, func(from, to position, t float32) position {
		if to.X > from.X {
			moves++
		}
		return position{X: t, Y: 77}
	})
	all := ecs.NewQuery(p.Types(), ecs.With(&client.pos))
	frames, shown := 0, 0
	c, err := m.Join(foretick.ClientConfig{Protocol: p, Sample: foretick.Sample(&client.cmd, func(foretick.View) move { return move{X: 1} })},
		simtest.Seat{FrameRate: 144, After: func(v foretick.View) {
			for _, rows := range all.Owned(v.World, v.Player) {
				if at := client.pos.Slice(rows)[0]; v.Fraction > 0 && v.Fraction < 1 {
					if frames++; at == (position{X: v.Fraction, Y: 77}) {
						shown++
					}
				}
			}
		}})
	require.NoError(t, err)
	m.Run(5 * time.Second)
	require.Greater(t, frames, 500)
	require.Greater(t, shown, frames*9/10, "but where nothing came before")
	require.Greater(t, moves, frames*9/10, "between the last two ticks")
	require.Zero(t, c.Stats().Mispredictions)
}

func TestInterpolateFaults(t *testing.T) {
	type worded struct {
		Text string `net:"max=8"`
	}
	var c ecs.Component[worded]
	var unknown ecs.Component[look]
	g := &game{}
	p := g.protocol()
	p.Component(&c)
	foretick.Interpolate(p, &c, func(from, _ worded, _ float32) worded { return from })
	foretick.Interpolate(p, &unknown, func(from, _ look, _ float32) look { return from })
	foretick.Interpolate(p, &g.pos, nil)
	for range 2 {
		foretick.Interpolate(p, &g.pos, func(from, _ position, _ float32) position { return from })
	}
	err := p.Err()
	for _, want := range []string{"worded, which holds strings or slices", "Interpolate needs a replicated component", "Interpolate has no function", "Interpolate of position was called twice"} {
		require.ErrorContains(t, err, want)
	}
}
