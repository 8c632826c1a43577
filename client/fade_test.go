package client_test

import (
	"math"
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

// pose has a field of each type that fades.
type pose struct {
	Turn  [4]float32 `net:"quat,slerp"`
	X     float32    `net:"min=-512,max=512,step=0.01,lerp"`
	Free  float32    `net:"lerp"`
	Fine  float64    `net:"lerp"`
	Count uint8      `net:"lerp"`
	Deep  int64      `net:"lerp"`
}

// nod is a command that no system reads.
type nod struct{ Nod bool }

// The components that only a client has.
type (
	glow  struct{ Frames uint64 }
	flame struct{ Since uint64 }
)

// dancers is a game whose server pushes each of a player's bodies, so that some correction always
// fades.
type dancers struct {
	at   ecs.Component[pose]
	cmd  ecs.Component[nod]
	body ecs.Prefab
	lamp ecs.Prefab

	local bool // it has the components that only the client has
	seen  ecs.Component[glow]
	lit   ecs.Component[flame]
}

func (g *dancers) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("dance", 1)
	p.Component(&g.at, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.at, &g.cmd)
	if g.local {
		p.LocalComponent(&g.seen)
		p.LocalComponent(&g.lit)
		p.Prefab(&g.lamp, "lamp", &g.at, &g.seen)
		p.Render("light", func(f *foretick.Frame, rows ecs.Rows) {
			for i, seen := 0, g.seen.Slice(rows); i < len(seen); i++ {
				if seen[i].Frames++; g.lit.Find(f.World, rows.Entity(i)) == nil {
					g.lit.Add(f.World, rows.Entity(i), flame{1000})
				}
			}
		}, ecs.Write(&g.seen), ecs.ReadOther(&g.lit), ecs.Create(&g.lit), ecs.Structural())
	} else {
		p.Prefab(&g.lamp, "lamp", &g.at)
	}
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.at.Get(f.World, f.Spawn(&g.body, player)).Turn[3] = 1
		for range 7 {
			g.at.Get(f.World, f.Spawn(&g.lamp, player)).Turn[3] = 1
		}
	})
	p.Shared("turn", func(f *foretick.Frame, rows ecs.Rows) {
		for i, at := 0, g.at.Slice(rows); i < len(at); i++ {
			at[i].X = min(at[i].X+f.DT, 500)
		}
	}, ecs.Write(&g.at))
	p.Server("push", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, at := 0, g.at.Slice(rows); i < len(at) && f.Tick%4 == 0; i++ {
			k := float64(f.Tick/4%10) / 10
			at[i] = pose{
				Turn: [4]float32{2: float32(math.Sin(k)), 3: float32(math.Cos(k))}, X: float32(k), Free: float32(1 - k), Fine: -k,
				Count: uint8(10 * k), Deep: int64(20 * k),
			}
		}
	}, ecs.Write(&g.at))
	return p
}

// Corrections of every type of field fade without an allocation, while new ones begin.
func TestFadingAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	fading(t, false)
}

// ClientOnly components stay through as many rollbacks without an allocation.
func TestRollbackOfLocalsAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	fading(t, true)
}

// shining returns the rows of entities with the components that only the client has.
func (g *dancers) shining(w *ecs.World) []ecs.Rows {
	if !g.local {
		return nil
	}
	return ecs.NewQuery(w.Types(), ecs.With(&g.seen)).All(w)
}

func fading(t *testing.T, local bool) {
	n := sim.NewNetwork(3)
	listen := n.Listen()
	sg, cg := dancers{local: local}, dancers{local: local}
	srv, err := server.New(server.Config{Protocol: sg.protocol(), Transport: listen})
	require.NoError(t, err)
	link := sim.Link{Latency: 60 * time.Millisecond}
	cli, err := client.New(client.Config{
		Protocol: cg.protocol(), Transport: n.Dial(listen, link, link), SmoothLimit: -1,
		Sample: client.Sample(&cg.cmd, func(client.View) nod { return nod{} }),
	})
	require.NoError(t, err)
	lamps := func() (all []ecs.Rows) {
		return ecs.NewQuery(cli.View().World.Types(), ecs.With(&cg.at)).All(cli.View().World)
	}
	epoch := time.Unix(0, 0)
	var memory runtime.MemStats
	var mallocs, steps, between uint64
	var before stats.Client
	for now := time.Duration(0); now < 30*time.Second; now += time.Second / 60 {
		n.Run(now)
		srv.Step(epoch.Add(now))
		if now < 15*time.Second {
			cli.Step(epoch.Add(now))
			before = cli.Stats()
			continue
		}
		steps++
		runtime.ReadMemStats(&memory)
		had := memory.Mallocs
		cli.Step(epoch.Add(now))
		runtime.ReadMemStats(&memory)
		mallocs += memory.Mallocs - had
		for _, rows := range lamps() { // a fading value is none of the ten values that the server sets
			if free := float64(cg.at.Slice(rows)[0].Free) * 10; math.Abs(free-math.Round(free)) > 0.01 {
				between++
				break
			}
		}
	}
	st := cli.Stats()
	require.Greater(t, st.Mispredictions-before.Mispredictions, uint64(50))
	for _, rows := range cg.shining(cli.View().World) {
		for i, seen := range cg.seen.Slice(rows) {
			require.Greater(t, seen.Frames, steps)
			require.EqualValues(t, 1000, cg.lit.Get(cli.View().World, rows.Entity(i)).Since)
		}
	}
	require.Greater(t, between, steps/2, "corrections are fading most of the time")
	// The runtime itself allocates sometimes while the counters are read.
	require.Less(t, float64(mallocs)/float64(steps), 0.1)
}
