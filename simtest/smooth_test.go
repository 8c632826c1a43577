package simtest_test

import (
	"math"
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

type stance struct {
	X, Y  float32 `net:"min=-64,max=64,step=0.01,lerp"`
	Angle float32 `net:"angle,bits=12,lerp"`
	Z     float32 `net:"min=-64,max=64,step=0.01"` // not interpolated, so its corrections do not fade
}

// shove is a game in which only the server shoves a body, once.
type shove struct {
	at    ecs.Component[stance]
	cmd   ecs.Component[move]
	body  ecs.Prefab
	by    stance
	in    foretick.Tick
	ran   func(f *foretick.Frame, at stance) // called with the state before each tick
	stood *ecs.Query
}

func (g *shove) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("shove", 1)
	p.Component(&g.at, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.at, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.at.Get(f.World, f.Spawn(&g.body, player)).Angle = 3.1
	})
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		at, cmd := g.at.Slice(rows), g.cmd.Slice(rows)
		for i := range at {
			if g.ran != nil {
				g.ran(f, at[i])
			}
			at[i].X += cmd[i].X * f.DT
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.at))
	p.Server("shove", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, at := 0, g.at.Slice(rows); i < len(at); i++ {
			if f.Tick == g.in {
				at[i].X += g.by.X
				at[i].Z += g.by.Z
				at[i].Angle += g.by.Angle
			}
		}
	}, ecs.Write(&g.at))
	g.stood = p.Query(ecs.With(&g.at))
	return p
}

// play shoves a standing or walking body. It returns the drawn state in each
// later frame, and the simulated state in each tick and replay.
func (g *shove) play(t *testing.T, half time.Duration, walk float32) (drawn []stance, simulated []stance) {
	m := simtest.New(3)
	g.in = 90
	_, err := m.Serve(server.Config{Protocol: g.protocol()})
	require.NoError(t, err)
	cg := &shove{ran: func(_ *foretick.Frame, at stance) { simulated = append(simulated, at) }}
	link := sim.Link{Latency: 50 * time.Millisecond}
	_, err = m.Join(client.Config{Protocol: cg.protocol(), SmoothHalfLife: half, Sample: client.Sample(&cg.cmd, func(client.View) move {
		return move{X: walk}
	})}, simtest.Seat{Up: link, Down: link, FrameRate: 100, After: func(v client.View) {
		if v.State == client.Playing && m.Net.Now() > 3*time.Second {
			drawn = append(drawn, cg.at.Slice(cg.stood.All(v.World)[0])[0])
		}
	}})
	require.NoError(t, err)
	m.Run(5 * time.Second)
	return drawn, simulated
}

func shortWay(a float32) float64 { return math.Remainder(float64(a), 2*math.Pi) }

// A correction fades by half in each half-life, field by field. Angles fade along the shorter
// way round the circle. A correction of a field that is not interpolated shows at once.
func TestCorrectionsFadeExponentially(t *testing.T) {
	const half = 100 * time.Millisecond
	g := &shove{by: stance{X: 1, Z: 1, Angle: 0.5}} // the angle across the circle's end
	drawn, _ := g.play(t, half, 0)
	first, last := -1, drawn[len(drawn)-1]
	require.InDelta(t, 1, last.X, 0.01)
	require.InDelta(t, 0, shortWay(last.Angle-3.6), 0.01)
	for i, d := range drawn {
		require.Zero(t, d.Y, "an untouched field stays")
		if first < 0 && d.Z != 0 {
			first = i
			require.EqualValues(t, 1, d.Z, "at once")
		}
	}
	require.Positive(t, first)
	k := math.Exp2(-float64(10*time.Millisecond) / float64(half)) // per frame
	for i := first; i < first+40; i++ {
		faded := math.Pow(k, float64(i-first+1))
		require.InDelta(t, faded, 1-float64(drawn[i].X), 0.01, "frame %d", i-first)
		require.InDelta(t, 0.5*faded, shortWay(3.6-drawn[i].Angle), 0.006, "frame %d", i-first)
	}
	require.InDelta(t, 0.5, 1-float64(drawn[first+9].X), 0.01, "half after the half-life")
}

// A correction too large to fade is shown at once.
func TestLargeCorrectionsAreShownAtOnce(t *testing.T) {
	g := &shove{by: stance{X: 2.5}}
	drawn, _ := g.play(t, 100*time.Millisecond, 0)
	for _, d := range drawn {
		require.True(t, d.X == 0 || math.Abs(float64(d.X)-2.5) < 0.01, "%v", d.X)
	}
	require.InDelta(t, 2.5, drawn[len(drawn)-1].X, 0.01)
}

// The simulation is the same, however slowly corrections fade.
func TestSmoothingNeverTouchesTheSimulation(t *testing.T) {
	play := func(half time.Duration) (drawn, simulated []stance) {
		g := &shove{by: stance{X: 1, Angle: 0.5}}
		return g.play(t, half, 0.75)
	}
	slowDrawn, slow := play(2 * time.Second)
	fastDrawn, fast := play(time.Microsecond)
	require.Greater(t, len(slow), 140)
	require.Equal(t, fast, slow)
	require.NotEqual(t, fastDrawn, slowDrawn, "or nothing was compared")
}
