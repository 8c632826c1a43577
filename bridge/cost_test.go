package bridge_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/bridge"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// yard returns the protocol of a game with many bodies that hardly do anything, so that its ticks
// mostly measure the cost outside of the rules.
func (g *Game) yard(bridged bool) *foretick.Protocol {
	p := g.declare()
	if !bridged {
		p.Shared("drift", func(_ *foretick.Frame, rows ecs.Rows) {
			for i := range g.Body.Slice(rows) {
				drift(&g.Body.Slice(rows)[i])
			}
		}, ecs.Write(&g.Body), ecs.WriteOther(&g.Body))
		return p
	}
	b := bridge.New(func(string) *thing { return &thing{} }, func(*thing) {})
	bridge.Component(b, &g.Body, bodyOf)
	bridge.Order(b, &g.ID, func(v *ID) uint64 { return uint64(v.N) })
	b.System(p, "drift", func(_ *foretick.Frame, active []*thing) {
		for _, t := range active {
			drift(&t.body)
		}
	}, ecs.Write(&g.Body), ecs.WriteOther(&g.Body))
	return p
}

func drift(b *Body) { b.X += float32(b.VX * 0.01) }

// TestAllocatesNothing: once a match runs evenly, ticks, replays and frames allocate nothing.
func TestAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	n := sim.NewNetwork(3)
	listen, truth := n.Listen(), &Game{}
	srv, err := server.New(server.Config{Protocol: truth.Bridged(), Transport: listen})
	require.NoError(t, err)
	truth.begin(srv)
	link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05}
	var clients []*client.Client
	for i := range uint64(2) {
		g := &Game{}
		press := wander(i)
		c, err := client.New(client.Config{
			Protocol: g.Bridged(), Transport: n.Dial(listen, link, link),
			Sample: client.Sample(&g.Stick, func(v client.View) Stick { s := press(v); s.Fire = false; return s }),
		})
		require.NoError(t, err)
		clients = append(clients, c)
	}
	epoch := time.Unix(0, 0)
	var before, after runtime.MemStats
	var mallocs, steps, replayed uint64
	for now := time.Duration(0); now < 30*time.Second; now += time.Second / 60 {
		n.Run(now)
		if now >= 20*time.Second {
			runtime.ReadMemStats(&before)
		}
		srv.Step(epoch.Add(now))
		for _, c := range clients {
			c.Step(epoch.Add(now))
		}
		if now < 20*time.Second {
			replayed = clients[0].Stats().Resimulated
			continue
		}
		runtime.ReadMemStats(&after)
		if steps++; after.Mallocs > before.Mallocs {
			mallocs += after.Mallocs - before.Mallocs
		}
	}
	require.Greater(t, clients[0].Stats().Resimulated, replayed+10, "nothing was replayed")
	t.Logf("%d allocations in %d steps of three ends", mallocs, steps)
	require.Less(t, mallocs, steps/20)
}

// BenchmarkTick prints the cost of a server's tick with 1,000 bodies, for each body. The difference
// between both versions is the bridge's cost: the list, the order, and copying one component in
// and out.
func BenchmarkTick(b *testing.B) {
	for _, c := range []struct {
		name    string
		bridged bool
	}{{"direct", false}, {"bridged", true}} {
		b.Run(c.name, func(b *testing.B) {
			const bodies = 1000
			n, g := sim.NewNetwork(1), &Game{}
			srv, err := server.New(server.Config{Protocol: g.yard(c.bridged), Transport: n.Listen()})
			require.NoError(b, err)
			for i := range uint32(bodies) {
				e := srv.Frame().Spawn(&g.Crate, ecs.Nobody)
				g.ID.Get(srv.World(), e).N = i
				g.Body.Get(srv.World(), e).X = float32(i) / bodies
			}
			now := time.Unix(0, 0)
			for range 60 {
				now = now.Add(time.Second / 30)
				srv.Step(now)
			}
			b.ReportAllocs()
			for b.Loop() {
				now = now.Add(time.Second / 30)
				srv.Step(now)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/bodies, "ns/entity")
		})
	}
}
