package foretick

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/transport/sim"
)

type work struct {
	A, B, C, D float32 `net:"min=-1000,max=1000,step=0.01"`
}

type hand struct {
	X float32 `net:"min=-1,max=1,step=0.0078125"`
}

const (
	replayPlayers  = 64
	replayEntities = 5
	replaySystems  = 10
	replayTicks    = 20
)

type workshop struct {
	work ecs.Component[work]
	cmd  ecs.Component[hand]
	kind ecs.Kind
}

// labour is a body of about 10 ns a row.
func labour(w *work) {
	x := w.A
	for range 16 {
		x = x*0.5 + w.B
		w.C = x - w.D
	}
	w.A, w.D = x*0.001, w.C*0.001
}

func (g *workshop) protocol() *Protocol {
	p := NewProtocol("workshop", 1)
	p.Component(&g.work, Predicted)
	p.Command(&g.cmd)
	p.Kind(&g.kind, "tool", &g.work, &g.cmd)
	p.Join(func(f *Frame, who ecs.Owner) {
		for range replayEntities {
			f.Spawn(&g.kind, who)
		}
	})
	for i := range replaySystems {
		p.Shared("labour "+itoa(i), func(_ *Frame, rows ecs.Rows) {
			for i, w := 0, g.work.Slice(rows); i < len(w); i++ {
				labour(&w[i])
			}
		}, ecs.Write(&g.work))
	}
	return p
}

// replayBench is a server whose every owner has entities, and one client.
func replayBench(t testing.TB) (*Server, *Client) {
	n := sim.NewNetwork(1)
	listen := n.Listen()
	var sg, cg workshop
	srv, err := NewServer(ServerConfig{Protocol: sg.protocol(), Transport: listen})
	require.NoError(t, err)
	cli, err := NewClient(ClientConfig{Protocol: cg.protocol(), Transport: n.Dial(listen, sim.LAN, sim.LAN)})
	require.NoError(t, err)
	for who := ecs.Owner(2); who <= replayPlayers; who++ {
		for range replayEntities {
			srv.Frame().Spawn(&sg.kind, who)
		}
	}
	epoch := time.Unix(0, 0)
	for now := time.Duration(0); now < 3*time.Second; now += time.Second / 60 {
		n.Run(now)
		srv.Step(epoch.Add(now))
		cli.Step(epoch.Add(now))
	}
	require.Equal(t, Playing, cli.View().State)
	require.Equal(t, replayPlayers*replayEntities, cli.World().Len())
	cli.undraw()
	return srv, cli
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// BenchmarkRatioReplay holds the replay of 20 ticks of one player of 64, saves
// and snapping included, against 20 ticks of the whole world (x_world; one
// player is 1.56 % of it), and that world's systems against the same bodies
// over one slice (x_slice). same is a reconciliation that finds no difference.
func BenchmarkRatioReplay(b *testing.B) {
	srv, cli := replayBench(b)
	line := timeline{cli}
	slice := make([]work, replayPlayers*replayEntities)
	from := cli.predictor.Tick() - replayTicks
	slot, ok := cli.predictor.Slot(from)
	require.True(b, ok)
	var replay, world, plain, same []float64
	clock := func(into *[]float64, rounds int, fn func()) {
		start := time.Now()
		for range rounds {
			fn()
		}
		*into = append(*into, float64(time.Since(start))/float64(rounds))
	}
	f := srv.Frame()
	b.ResetTimer()
	for range b.N {
		for range 31 {
			clock(&world, 2, func() {
				for range replayTicks {
					srv.p.schedule.Execute(srv.world, f)
				}
			})
			clock(&replay, 20, func() {
				line.Load(slot, from)
				for k := from + 1; int32(k-cli.predictor.Tick()) <= 0; k++ {
					line.Step(k, true)
					s, _ := cli.predictor.Slot(k)
					line.Save(s, k)
				}
			})
			clock(&plain, 2, func() {
				for range replayTicks * replaySystems {
					for i := range slice {
						labour(&slice[i])
					}
				}
			})
			clock(&same, 100, func() { cli.reconcile(cli.good) })
		}
	}
	b.ReportMetric(median(replay)/median(world), "x_world")
	b.ReportMetric(median(world)/median(plain), "x_slice")
	b.ReportMetric(median(same)/(median(world)/replayTicks), "same_x_tick")
	b.ReportMetric(median(replay)/1000, "µs/replay")
}

// A replay, and a reconciliation that finds nothing, allocate nothing.
func TestReplayAllocatesNothing(t *testing.T) {
	_, cli := replayBench(t)
	require.NotZero(t, cli.stats.Compared)
	require.Zero(t, testing.AllocsPerRun(50, func() { cli.predictor.Restart(cli.good) }))
	require.Zero(t, testing.AllocsPerRun(50, func() { cli.reconcile(cli.good) }))
}
