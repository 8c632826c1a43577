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
	"github.com/foretick/foretick/transport/sim"
)

type button struct {
	Hold bool
	Fire bool `net:"oneshot"`
}

type tally struct {
	Held, Fired uint16 `net:"max=60000"`
}

type gallery struct {
	cmd   ecs.Component[button]
	tally ecs.Component[tally]
	body  ecs.Prefab
}

func (g *gallery) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("range", 1)
	p.Component(&g.tally, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.tally, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("count", func(_ *foretick.Frame, rows ecs.Rows) {
		cmd, n := g.cmd.Slice(rows), g.tally.Slice(rows)
		for i := range cmd {
			if cmd[i].Fire {
				n[i].Fired++
			}
			if cmd[i].Hold {
				n[i].Held++
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.tally))
	return p
}

// At 144 frames and 30 ticks a second, a trigger pressed in a single frame fires exactly once, on
// both ends, whatever packets are lost.
func TestPressBetweenTicksFiresOnce(t *testing.T) {
	m := simtest.New(2)
	g := &gallery{}
	srv, err := m.Serve(server.Config{Protocol: g.protocol()})
	require.NoError(t, err)
	cg := &gallery{}
	frames, presses := 0, 0
	c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) button {
		frames++
		if now := m.Net.Now(); now < 2*time.Second || now > 22*time.Second || frames%37 != 0 {
			return button{}
		}
		presses++
		return button{Fire: true, Hold: true}
	})}, simtest.Seat{Up: sim.Link{Latency: 40 * time.Millisecond, Loss: 0.02}, Down: sim.Link{Latency: 40 * time.Millisecond, Loss: 0.02}, FrameRate: 144})
	require.NoError(t, err)
	m.Run(25 * time.Second)
	require.Greater(t, presses, 70)
	q := ecs.NewQuery(srv.World().Types(), ecs.With(&g.tally))
	got := g.tally.Slice(q.All(srv.World())[0])[0]
	missing := int(srv.Stats().InputsMissing)
	require.InDelta(t, presses, int(got.Fired), float64(missing), "one-shots are neither lost nor doubled, but with their whole command")
	require.LessOrEqual(t, missing, 3)
	require.Less(t, int(got.Held), presses, "what is held counts as of the last frame alone")
	require.Zero(t, m.Audit(c).Differences, m.Audit(c).First)
}
