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

type position struct {
	X, Y float32 `net:"min=-100,max=100,step=0.01,lerp"`
}

type move struct {
	X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
}

type game struct {
	pos    ecs.Component[position]
	cmd    ecs.Component[move]
	player ecs.Prefab
}

func (g *game) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("walk", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.player, "player", &g.pos, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.player, player) })
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X += cmd[i].X * 5 * f.DT
			pos[i].Y += cmd[i].Y * 5 * f.DT
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	return p
}

// walk plays n clients for a while, then lets them stop and compares.
func walk(t *testing.T, seed uint64, n int, link sim.Link, d time.Duration) (*simtest.Match, []*client.Client) {
	t.Helper()
	return walkOn(t, server.Config{}, seed, n, link, d)
}

// walkOn is walk on a server with settings.
func walkOn(t *testing.T, cfg server.Config, seed uint64, n int, link sim.Link, d time.Duration) (*simtest.Match, []*client.Client) {
	t.Helper()
	m := simtest.New(seed)
	var g game
	cfg.Protocol = g.protocol()
	_, err := m.Serve(cfg)
	require.NoError(t, err)
	var clients []*client.Client
	for range n {
		cg := &game{}
		p := cg.protocol()
		c, err := m.Join(client.Config{Protocol: p, Sample: client.Sample(&cg.cmd, func(v client.View) move {
			if m.Net.Now() > d {
				return move{}
			}
			// another command in every tick, so that a lost one cannot be guessed
			return move{X: float32(v.Tick*7919%257)/128 - 1, Y: float32(v.Tick/33%2) - 0.5}
		})}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		clients = append(clients, c)
	}
	m.Run(d + 2*time.Second)
	return m, clients
}

func TestCalmMatch(t *testing.T) {
	m, clients := walk(t, 1, 3, sim.Link{Latency: 50 * time.Millisecond}, 10*time.Second)
	for _, c := range clients {
		st := c.Stats()
		require.Equal(t, client.Playing, c.View().State)
		t.Logf("%+v", m.Audit(c))
		require.Zero(t, m.Audit(c).Differences, m.Audit(c).First)
		require.NotZero(t, m.Audit(c).Fields)
		require.Zero(t, st.Mispredictions)
		require.Greater(t, st.PredictedTicks, uint64(250))
		t.Logf("pred %d compared %d wrong %d resim %d p50 %v missing %d", st.PredictedTicks, st.Compared, st.MispredictedTicks, st.Resimulated, st.Confirm(.5), m.Server().Stats().InputsMissing)
	}
}
