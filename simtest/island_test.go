package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// crates is a game in which players push a crate: the shared system writes an
// entity that nobody owns, and the crate slides on by itself.
type crates struct {
	pos   ecs.Component[position]
	vel   ecs.Component[velocity]
	cmd   ecs.Component[move]
	body  ecs.Kind
	crate ecs.Kind
	all   *ecs.Query
}

type velocity struct {
	X, Y float32 `net:"min=-20,max=20,step=0.01"`
}

func (g *crates) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("crates", 1)
	p.Component(&g.pos, foretick.Predicted)
	p.Component(&g.vel, foretick.Predicted)
	p.Command(&g.cmd)
	p.Kind(&g.body, "body", &g.pos, &g.cmd)
	p.Kind(&g.crate, "crate", &g.pos, &g.vel)
	p.Join(func(f *foretick.Frame, who ecs.Owner) {
		g.pos.Get(f.World, f.Spawn(&g.body, who)).X = -3 + 6*float32(who-1)
	})
	p.Shared("push", g.push, ecs.Read(&g.cmd), ecs.Write(&g.pos), ecs.WriteOther(&g.vel), ecs.Before("slide"))
	p.Shared("slide", g.slide, ecs.Write(&g.pos, &g.vel))
	g.all = ecs.NewQuery(p.Types(), ecs.With(&g.pos, &g.vel))
	return p
}

func (g *crates) push(f *foretick.Frame, rows ecs.Rows) {
	pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
	for i := range pos {
		pos[i].X += cmd[i].X * 4 * f.DT
		pos[i].Y += cmd[i].Y * 4 * f.DT
		for _, crates := range g.all.All(f.World) {
			at, vel := g.pos.Slice(crates), g.vel.Slice(crates)
			for k := range at {
				dx, dy := at[k].X-pos[i].X, at[k].Y-pos[i].Y
				if dx*dx+dy*dy < 1 {
					vel[k].X += dx * 2
					vel[k].Y += dy * 2
				}
			}
		}
	}
}

func (g *crates) slide(f *foretick.Frame, rows ecs.Rows) {
	pos, vel := g.pos.Slice(rows), g.vel.Slice(rows)
	for i := range pos {
		pos[i].X += vel[i].X * f.DT
		pos[i].Y += vel[i].Y * f.DT
		vel[i].X *= 0.9
		vel[i].Y *= 0.9
	}
}

// A crate that one player pushes moves on his own screen at once; one that two
// players push ends in the same place everywhere.
func TestPushedCrate(t *testing.T) {
	for _, players := range []int{1, 2} {
		m := simtest.New(4)
		g := &crates{}
		srv, err := m.Serve(foretick.ServerConfig{Protocol: g.protocol()})
		require.NoError(t, err)
		crate := srv.Frame().Spawn(&g.crate, ecs.Nobody)
		link := sim.Link{Latency: 75 * time.Millisecond}
		var clients []*foretick.Client
		for n := range players {
			cg := &crates{}
			toward := float32(1 - 2*n)
			c, err := m.Join(foretick.ClientConfig{Protocol: cg.protocol(), Sample: foretick.Sample(&cg.cmd, func(foretick.View) move {
				if now := m.Net.Now(); now < 2*time.Second || now > 4*time.Second {
					return move{}
				}
				return move{X: toward}
			})}, simtest.Seat{Up: link, Down: link})
			require.NoError(t, err)
			clients = append(clients, c)
		}
		m.Run(3 * time.Second)
		st := clients[0].Stats()
		m.Run(8 * time.Second)
		for _, c := range clients {
			a := m.Audit(c)
			require.Zero(t, a.Differences, a.First)
			require.Equal(t, 2*players+4, a.Fields)
			require.Zero(t, c.Stats().ByCause[prediction.Code])
		}
		moved := *g.pos.Get(srv.World(), crate)
		if players == 1 {
			require.Zero(t, clients[0].Stats().Mispredictions, "one player predicts his crate exactly")
			require.Greater(t, moved.X, float32(0.5), "the crate was pushed")
			require.NotZero(t, st.PredictedTicks)
		}
	}
}
