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
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

type loose struct {
	X float32 `net:"min=-64,max=64,step=0.01,tol=0.25"`
	N uint8   // a field without a tolerance
}

// breeze is a game whose server moves bodies, a little or a lot, which clients cannot
// predict.
type breeze struct {
	at    ecs.Component[loose]
	cmd   ecs.Component[move]
	body  ecs.Prefab
	every foretick.Tick
	gust  float32
	until foretick.Tick
	stood *ecs.Query
}

func (g *breeze) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("breeze", 1)
	p.Component(&g.at, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.at, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		at, cmd := g.at.Slice(rows), g.cmd.Slice(rows)
		for i := range at {
			at[i].X += cmd[i].X * f.DT
			at[i].N++
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.at))
	p.Server("blow", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, at := 0, g.at.Slice(rows); i < len(at); i++ {
			if f.Tick%g.every == 0 && f.Tick < g.until {
				at[i].X += g.gust
			}
		}
	}, ecs.Write(&g.at))
	g.stood = p.Query(ecs.With(&g.at))
	return p
}

func (g *breeze) play(t *testing.T) (truth, cl loose, st stats.Client, m *simtest.Match) {
	m = simtest.New(3)
	srv, err := m.Serve(server.Config{Protocol: g.protocol()})
	require.NoError(t, err)
	cg := &breeze{every: g.every, gust: g.gust, until: g.until}
	link := sim.Link{Latency: 60 * time.Millisecond, Loss: 0.02}
	c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(client.View) move {
		if now := m.Net.Now(); now > 11*time.Second || int(now.Seconds())%2 == 0 {
			return move{}
		}
		return move{X: 1}
	})}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(12 * time.Second)
	require.Equal(t, client.Playing, c.View().State)
	w, v := srv.World(), c.View().World
	return g.at.Slice(g.stood.All(w)[0])[0], cg.at.Slice(cg.stood.All(v)[0])[0], c.Stats(), m
}

// A difference within a field's tolerance makes no tick run again. The client still ends at
// the server's value, however many such differences add up.
func TestToleranceSparesTheReplay(t *testing.T) {
	g := &breeze{every: 20, gust: 0.2, until: 320}
	srv, cl, st, _ := g.play(t)
	require.Greater(t, srv.X, float32(3), "fifteen gusts, twelve times the tolerance")
	require.Equal(t, srv.X, cl.X)
	require.Greater(t, st.SoftCorrections, uint64(10))
	require.LessOrEqual(t, st.Mispredictions, uint64(1), "but for the commands before the first came")
	replayed := st.Resimulated

	g = &breeze{every: 20, gust: 0.3, until: 320}
	srv, cl, st, _ = g.play(t)
	require.Equal(t, srv.X, cl.X)
	require.Greater(t, st.Mispredictions, uint64(10), "beyond the tolerance it is corrected")
	require.Greater(t, st.Resimulated, replayed+50)
}
