package simtest_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type dashMove struct {
	X     float32 `net:"min=-1,max=1,step=0.0078125"`
	Shoot bool    `net:"oneshot"`
}

// muzzle is where a shot begins: where the screen showed the body, and where the body is after
// the tick.
type muzzle struct{ Drawn, After float32 }

// dash is a game of players who run and shoot.
type dash struct {
	place  ecs.Component[sprintPlace]
	cmd    ecs.Component[dashMove]
	runner ecs.Prefab
	shot   foretick.Event[muzzle]
	judged map[foretick.Tick]muzzle
	places *ecs.Query
}

const dashSpeed = 6

func (g *dash) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("dash", 1)
	p.Component(&g.place, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.runner, "runner", &g.place, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.runner, player) })
	p.Shared("run", func(f *foretick.Frame, rows ecs.Rows) {
		place, cmd := g.place.Slice(rows), g.cmd.Slice(rows)
		for i := range place {
			before := place[i].X
			place[i].X += float32(cmd[i].X * dashSpeed * f.DT)
			if cmd[i].Shoot {
				part := f.DrawnPart(rows.Owner())
				g.shot.Raise(f, rows.Entity(i), muzzle{before + float32((place[i].X-before)*part), place[i].X})
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.place), ecs.Partial())
	g.places = p.Query(ecs.With(&g.place))
	g.judged = map[foretick.Tick]muzzle{}
	g.shot.OnServer(p, func(f *foretick.ServerFrame, _ foretick.By, at muzzle) { g.judged[f.Tick] = at })
	g.shot.OnPredicted(p, func(f *foretick.Frame, _ foretick.By, at muzzle) { g.judged[f.Tick] = at })
	return p
}

// The command has the part of its tick that was drawn. So a shot begins where the screen showed
// the muzzle, and in the same place on both ends.
func TestShotsLeaveFromWhereTheBodyWasDrawn(t *testing.T) {
	var most [2]float64
	for i, partial := range []bool{false, true} {
		m := simtest.New(9)
		g, cg := &dash{}, &dash{}
		_, err := m.Serve(server.Config{Protocol: g.protocol()})
		require.NoError(t, err)
		link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 5 * time.Millisecond}
		shown := map[foretick.Tick]float32{} // positions shown at a press, by the tick that runs it
		var drawn float32
		frame := 0
		c, err := m.Join(client.Config{
			Protocol: cg.protocol(), PartialTicks: partial,
			Sample: client.Sample(&cg.cmd, func(v client.View) dashMove {
				cmd := dashMove{X: float32(v.Tick/40%2)*2 - 1, Shoot: frame%23 == 0 && v.Tick%40 > 3 && v.Tick%40 < 36}
				if frame++; cmd.Shoot {
					shown[v.Tick+1] = drawn
				}
				return cmd
			}),
		}, simtest.Seat{Up: link, Down: link, FrameRate: 144, After: func(v client.View) {
			for _, rows := range cg.places.All(v.World) {
				drawn = cg.place.Slice(rows)[0].X
			}
		}})
		require.NoError(t, err)
		m.Run(20 * time.Second)
		require.Zero(t, c.Stats().Mispredictions)
		var off, offAfter []float64
		for tick, at := range shown {
			if judged, ok := g.judged[tick]; ok && tick > 100 {
				require.Equal(t, cg.judged[tick], judged)
				off = append(off, math.Abs(float64(judged.Drawn-at)))
				offAfter = append(offAfter, math.Abs(float64(judged.After-at)))
			}
		}
		slices.Sort(off)
		slices.Sort(offAfter)
		n := len(off)
		require.Greater(t, n, 80)
		most[i] = off[n*99/100]
		t.Logf("partial ticks %v: %d shots at %d m/s leave p50 %.3f m, p99 %.3f m from where the screen showed the body; from where the tick left it, p50 %.3f m, p99 %.3f m",
			partial, n, dashSpeed, off[n/2], most[i], offAfter[n/2], offAfter[n*99/100])
	}
	require.Less(t, most[1], 0.02)
	require.Greater(t, most[0], 0.1)
}
