package remotetest

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// scene is a shooting range: the first player fires at the second, which walks past.
type scene struct {
	body  ecs.Component[chassis]
	news  ecs.Component[load] // only one of the builds has it
	cmd   ecs.Component[ride]
	man   ecs.Prefab
	other ecs.Prefab
	shot  foretick.Event[lagcomp.Ray]
	hits  map[foretick.Tick]float32
}

func (g *scene) protocol(predictsRemote, along, younger bool) *foretick.Protocol {
	p := foretick.NewProtocol("range", 1)
	p.Component(&g.body, foretick.Predicted(), foretick.FullPrecision())
	if younger {
		p.Component(&g.news)
	}
	p.Command(&g.cmd)
	p.Prefab(&g.man, "man", &g.body, &g.cmd)
	p.Prefab(&g.other, "other", &g.body)
	foretick.Hitbox(p, &g.body, func(b *chassis) lagcomp.Sphere { return lagcomp.Sphere{X: b.X, Y: b.Y, R: 0.5} })
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.body.Get(f.World, f.Spawn(&g.man, player)).X = 20 * float32(player-1)
	})
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		body, cmd := g.body.Slice(rows), g.cmd.Slice(rows)
		for i := range body {
			body[i].VY = cmd[i].Y
			body[i].Y += 5 * cmd[i].Y * f.DT
			if cmd[i].Fire {
				g.shot.Raise(f, rows.Entity(i), lagcomp.Ray{X: body[i].X, Y: body[i].Y, DX: 1, Range: 60})
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.body))
	g.hits = map[foretick.Tick]float32{}
	hit := func(f *foretick.Frame, player foretick.PlayerID, r lagcomp.Ray) {
		if h, ok := f.Rewind(player).Raycast(r); ok && player == 1 {
			g.hits[f.Tick] = h.Distance
		}
	}
	g.shot.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, r lagcomp.Ray) { hit(f.Frame, by.Player, r) })
	g.shot.OnPredicted(p, func(f *foretick.Frame, by foretick.By, r lagcomp.Ray) { hit(f, by.Player, r) })
	if predictsRemote {
		var cfg foretick.RemoteConfig
		if along {
			cfg.Also = append(cfg.Also, &g.other)
		}
		foretick.PredictRemote(p, &g.cmd, func(f *foretick.Frame, e ecs.Entity, _ int, cmd *ride) {
			cmd.Y = g.body.Get(f.World, e).VY
		}, cfg)
	}
	return p
}

// A client of another build predicts remote players if both builds predict the same
// components, and draws them in the past otherwise. In both cases its shots are judged
// where it saw its targets.
func TestRemotePredictionOfTwoBuilds(t *testing.T) {
	type way struct{ predictsRemote, along bool }
	for _, c := range []struct {
		name           string
		server, client way
		ahead          bool
	}{
		{"both", way{true, true}, way{true, true}, true},
		{"the server alone", way{true, false}, way{}, false},
		{"the client alone", way{}, way{true, false}, false},
		{"other prefabs", way{true, true}, way{true, false}, false},
		{"neither", way{}, way{}, false},
	} {
		m := simtest.New(8)
		g := &scene{}
		srv, err := m.Serve(server.Config{Protocol: g.protocol(c.server.predictsRemote, c.server.along, true), AllowOtherBuilds: true})
		require.NoError(t, err)
		var ends []*scene
		var clients []*client.Client
		for range 2 {
			cg := &scene{}
			cl, err := m.Join(client.Config{Protocol: cg.protocol(c.client.predictsRemote, c.client.along, false), Sample: client.Sample(&cg.cmd, func(v client.View) ride {
				now := m.Net.Now()
				switch {
				case now < 2*time.Second || now > 20*time.Second:
					return ride{}
				case v.Player == 1:
					return ride{Fire: true}
				}
				return ride{Y: float32(now/(3*time.Second)%2) - 0.5}
			})}, both(sim.Link{Latency: 60 * time.Millisecond}))
			require.NoError(t, err)
			ends, clients = append(ends, cg), append(clients, cl)
		}
		m.Run(22 * time.Second)
		require.EqualValues(t, 2, srv.Stats().OtherBuilds, c.name)
		require.Equal(t, c.ahead, clients[0].Stats().RemotePredicted > 0, c.name)
		n, agreed := 0, 0
		for k, at := range ends[0].hits {
			if (k < 90 || k%90 < 15) && c.ahead {
				continue // the clients do not know yet that the target started or turned
			}
			n++
			if is, ok := g.hits[k]; ok && math.Abs(float64(is-at)) < 0.002 {
				agreed++
			}
		}
		t.Logf("%s: %d hits on the screen, %d met at the same point", c.name, n, agreed)
		require.Greater(t, n, 10, c.name)
		require.GreaterOrEqual(t, agreed, n-1, c.name)
		for _, cl := range clients {
			a := m.Audit(cl)
			require.Zero(t, a.Differences, "%s: %s", c.name, a.First)
			require.Zero(t, cl.Stats().Mispredictions, c.name)
		}
	}
}
