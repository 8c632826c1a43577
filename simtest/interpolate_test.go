package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// TestOwnInterpolationOfTheOwnBody: the game's own interpolation also draws the player's own body
// between two ticks. Prediction never gets interpolated values.
func TestOwnInterpolationOfTheOwnBody(t *testing.T) {
	m := simtest.New(4)
	srv, cl := &game{}, &game{}
	_, err := m.Serve(server.Config{Protocol: srv.protocol()})
	require.NoError(t, err)
	p := cl.protocol()
	moves := 0
	foretick.Interpolate(p, &cl.pos, func(from, to position, t float32) position {
		if to.X > from.X {
			moves++
		}
		return position{X: t, Y: 77}
	})
	all := p.Query(ecs.With(&cl.pos))
	frames, shown := 0, 0
	c, err := m.Join(client.Config{Protocol: p, Sample: client.Sample(&cl.cmd, func(client.View) move { return move{X: 1} })},
		simtest.Seat{FrameRate: 144, After: func(v client.View) {
			for _, rows := range all.Owned(v.World, v.Player) {
				if at := cl.pos.Slice(rows)[0]; v.Fraction > 0 && v.Fraction < 1 {
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
	type unseen struct{ X int32 }
	var c ecs.Component[worded]
	var unknown ecs.Component[unseen]
	g := &game{}
	p := g.protocol()
	p.Component(&c)
	foretick.Interpolate(p, &c, func(from, _ worded, _ float32) worded { return from })
	foretick.Interpolate(p, &unknown, func(from, _ unseen, _ float32) unseen { return from })
	foretick.Interpolate(p, &g.pos, nil)
	for range 2 {
		foretick.Interpolate(p, &g.pos, func(from, _ position, _ float32) position { return from })
	}
	err := p.Err()
	for _, want := range []string{"worded, which holds strings or slices", "Interpolate needs a replicated component", "Interpolate has no function", "Interpolate of position was called twice"} {
		require.ErrorContains(t, err, want)
	}
}
