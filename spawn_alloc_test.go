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

type flying struct {
	X    float32 `net:"min=-512,max=512,step=0.01,lerp"`
	Fuse uint8   `net:"max=255"`
}

type firing struct {
	Fire bool `net:"oneshot"`
}

// gunnery is a game of one gun, whose rockets are matched and whose bullets are not.
type gunnery struct {
	at     ecs.Component[flying]
	cmd    ecs.Component[firing]
	gun    ecs.Prefab
	rocket ecs.Prefab
	bullet ecs.Prefab
}

func (g *gunnery) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("range", 1)
	p.Component(&g.at, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.gun, "gun", &g.cmd)
	p.Prefab(&g.rocket, "rocket", &g.at)
	p.Prefab(&g.bullet, "bullet", &g.at)
	p.Spawns(&g.rocket, foretick.SpawnConfig{})
	p.Spawns(&g.bullet, foretick.SpawnConfig{ClientOnly: true})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.gun, player) })
	p.Shared("fire", func(f *foretick.Frame, rows ecs.Rows) {
		for i, cmd := 0, g.cmd.Slice(rows); i < len(cmd); i++ {
			if cmd[i].Fire {
				for range 3 {
					*g.at.Get(f.World, f.SpawnBy(rows.Entity(i), &g.rocket)) = flying{Fuse: 20}
					*g.at.Get(f.World, f.SpawnBy(rows.Entity(i), &g.bullet)) = flying{Fuse: 5}
				}
			}
		}
	}, ecs.Read(&g.cmd), ecs.Create(&g.at))
	p.Shared("fly", func(f *foretick.Frame, rows ecs.Rows) {
		at := g.at.Slice(rows)
		for i := range at {
			at[i].X += 3 * f.DT
			if at[i].Fuse--; at[i].Fuse == 0 {
				f.Destroy(rows.Entity(i))
			}
		}
	}, ecs.Write(&g.at), ecs.Structural())
	p.Server("gust", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, at := 0, g.at.Slice(rows); i < len(at); i++ {
			if f.Tick%50 == 0 {
				at[i].X++ // corrections, and replays with them
			}
		}
	}, ecs.Write(&g.at), ecs.Before("fly"))
	return p
}

// Spawning, matching, destroying, correcting and replaying allocate nothing once a
// match runs evenly, on either end.
func TestSpawningAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	n := sim.NewNetwork(3)
	listen := n.Listen()
	var sg, cg gunnery
	srv, err := server.New(server.Config{Protocol: sg.protocol(), Transport: listen})
	require.NoError(t, err)
	link := sim.Link{Latency: 60 * time.Millisecond}
	var fired foretick.Tick
	cli, err := client.New(client.Config{Protocol: cg.protocol(), Transport: n.Dial(listen, link, link), Sample: client.Sample(&cg.cmd, func(v client.View) firing {
		fire := v.Tick%4 == 0 && v.Tick != fired
		fired = v.Tick
		return firing{Fire: fire}
	})})
	require.NoError(t, err)
	epoch := time.Unix(0, 0)
	var memory runtime.MemStats
	count := func(step func()) uint64 {
		runtime.ReadMemStats(&memory)
		before := memory.Mallocs
		step()
		runtime.ReadMemStats(&memory)
		return memory.Mallocs - before
	}
	var truth, cl, steps uint64
	var before stats.Client
	for now := time.Duration(0); now < 40*time.Second; now += time.Second / 60 {
		n.Run(now)
		if now < 25*time.Second {
			srv.Step(epoch.Add(now))
			cli.Step(epoch.Add(now))
			before = cli.Stats()
			continue
		}
		steps++
		truth += count(func() { srv.Step(epoch.Add(now)) })
		cl += count(func() { cli.Step(epoch.Add(now)) })
	}
	st := cli.Stats()
	require.Greater(t, st.SpawnsMatched-before.SpawnsMatched, uint64(200))
	require.Greater(t, st.Resimulated-before.Resimulated, uint64(20))
	require.Zero(t, st.SpawnsCancelled)
	// The runtime itself allocates now and then while the counters are read.
	require.Less(t, float64(truth)/float64(steps), 0.1)
	require.Less(t, float64(cl)/float64(steps), 0.1)
}
