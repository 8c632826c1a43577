package foretick_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

// regatta is a game of boats that fire, predicted with what they fire.
type regatta struct {
	at    ecs.Component[flying]
	heard ecs.Component[float] // what the helm was last told
	cmd   ecs.Component[pad]
	boat  ecs.Prefab
	shell ecs.Prefab
}

func (g *regatta) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("regatta", 1)
	p.Component(&g.at, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.heard, foretick.Predicted(), foretick.FullPrecision())
	p.Command(&g.cmd)
	p.Prefab(&g.boat, "boat", &g.at, &g.heard, &g.cmd)
	p.Prefab(&g.shell, "shell", &g.at)
	p.Spawns(&g.shell, foretick.SpawnConfig{})
	p.OnJoin(func(f *foretick.Frame, player foretick.PlayerID) { f.Spawn(&g.boat, player) })
	p.Shared("row", func(f *foretick.Frame, rows ecs.Rows) {
		at, heard, cmd := g.at.Slice(rows), g.heard.Slice(rows), g.cmd.Slice(rows)
		for i := range at {
			heard[i].X = cmd[i].X
			at[i].X += cmd[i].X * 5 * f.DT
			if cmd[i].Jump {
				*g.at.Get(f.World, f.SpawnBy(rows.Entity(i), &g.shell)) = flying{X: at[i].X, Fuse: 20}
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.at, &g.heard), ecs.Create(&g.at))
	p.Shared("fly", func(f *foretick.Frame, rows ecs.Rows) {
		at := g.at.Slice(rows)
		for i := range at {
			at[i].X += 3 * f.DT
			if at[i].Fuse--; at[i].Fuse == 0 {
				f.Destroy(rows.Entity(i))
			}
		}
	}, ecs.Write(&g.at), ecs.Without(&g.cmd), ecs.Structural())
	foretick.PredictRemote(p, &g.cmd, func(f *foretick.Frame, e ecs.Entity, ahead int, cmd *pad) {
		cmd.X = g.heard.Get(f.World, e).X
		cmd.Jump = ahead == 3 // a shell that never was
	}, foretick.RemoteConfig{Also: []*ecs.Prefab{&g.shell}})
	return p
}

// Predicting others, being wrong and replaying them allocates nothing once a match
// runs evenly, and neither does what they spawn meanwhile.
func TestRemotePredictionAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	n := sim.NewNetwork(3)
	listen := n.Listen()
	var sg regatta
	srv, err := server.New(server.Config{Protocol: sg.protocol(), Transport: listen})
	require.NoError(t, err)
	link := sim.Link{Latency: 60 * time.Millisecond}
	var clients []*client.Client
	for range 3 {
		g := &regatta{}
		var fired foretick.Tick
		cli, err := client.New(client.Config{Protocol: g.protocol(), Transport: n.Dial(listen, link, link), Sample: client.Sample(&g.cmd, func(v client.View) pad {
			fire := v.Tick%9 == 0 && v.Tick != fired
			fired = v.Tick
			return pad{X: float32((v.Tick/6+uint32(v.Player))%3) - 1, Jump: fire}
		})})
		require.NoError(t, err)
		clients = append(clients, cli)
	}
	epoch := time.Unix(0, 0)
	var memory runtime.MemStats
	var mallocs, steps uint64
	var before stats.Client
	for now := time.Duration(0); now < 40*time.Second; now += time.Second / 60 {
		n.Run(now)
		srv.Step(epoch.Add(now))
		for _, c := range clients[1:] {
			c.Step(epoch.Add(now))
		}
		if now < 25*time.Second {
			clients[0].Step(epoch.Add(now))
			before = clients[0].Stats()
			continue
		}
		steps++
		runtime.ReadMemStats(&memory)
		had := memory.Mallocs
		clients[0].Step(epoch.Add(now))
		runtime.ReadMemStats(&memory)
		mallocs += memory.Mallocs - had
	}
	st := clients[0].Stats()
	require.Greater(t, st.RemoteMispredicted-before.RemoteMispredicted, uint64(200))
	require.Greater(t, st.Resimulated-before.Resimulated, uint64(500))
	require.Zero(t, st.Mispredictions, "nobody bears on anybody")
	// The runtime itself allocates now and then while the counters are read.
	require.Less(t, float64(mallocs)/float64(steps), 0.1)
}
