package client

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport/sim"
)

type work struct {
	A, B, C, D float32 `net:"min=-1000,max=1000,step=0.01"`
}

const (
	replayPlayers  = 64
	replayEntities = 5
	replaySystems  = 10
	replayTicks    = 20
)

type workshop struct {
	work   ecs.Component[work]
	cmd    ecs.Component[hand]
	prefab ecs.Prefab
}

// labour is a system's body that takes about 10 ns a row. All callers use the same code, because copies
// of it in two loops would differ by where the linker puts them. It has no inner loop: a loop of
// sixteen inside one of five rows would measure how well the processor guesses where loops end.
//
//go:noinline
func labour(w *work) {
	x, b := w.A, w.B
	x = (x*0.5+b)*0.25 + b
	x = (x*0.5+b)*0.25 + b
	x = (x*0.5+b)*0.25 + b
	x = (x*0.5+b)*0.25 + b
	x = (x*0.5+b)*0.25 + b
	x = (x*0.5+b)*0.25 + b
	x = (x*0.5+b)*0.25 + b
	x = (x*0.5+b)*0.25 + b
	x = (x*0.5+b)*0.25 + b
	x = (x*0.5+b)*0.25 + b
	x = (x*0.5+b)*0.25 + b
	x = (x*0.5+b)*0.25 + b
	w.C = x - w.D
	w.A, w.D = x*0.001, w.C*0.001
}

func (g *workshop) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("workshop", 1)
	p.Component(&g.work, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.prefab, "tool", &g.work, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		for range replayEntities {
			f.Spawn(&g.prefab, player)
		}
	})
	for i := range replaySystems {
		p.Shared("labour "+strconv.Itoa(i), func(_ *foretick.Frame, rows ecs.Rows) {
			for i, w := 0, g.work.Slice(rows); i < len(w); i++ {
				labour(&w[i])
			}
		}, ecs.Write(&g.work))
	}
	return p
}

// replayBench makes a server whose every owner has entities, and one client.
func replayBench(t testing.TB) *pair {
	var sg, cg workshop
	x := newPair(t, sg.protocol(), Config{Protocol: cg.protocol()}, sim.LAN)
	for player := foretick.PlayerID(2); player <= replayPlayers; player++ {
		for range replayEntities {
			x.server.Frame().Spawn(&sg.prefab, player)
		}
	}
	x.run(3 * time.Second)
	require.Equal(t, Playing, x.client.view.State)
	require.Equal(t, replayPlayers*replayEntities, x.client.world.Len())
	x.client.undraw()
	return x
}

// undisturbed returns the lower quartile of the times: how long the work takes while nothing else runs
// on the machine.
func undisturbed(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/4]
}

// BenchmarkRatioReplay compares the replay of 20 ticks of one player of 64, including saves and
// snapping, with 20 ticks of the whole world (x_world; one player is 1.56 % of it). It also compares
// that world's systems with the same bodies over one slice (x_slice). same is a reconciliation that
// finds no difference. The four are measured by turns in short pieces, so that other work on the
// machine affects all of them alike.
func BenchmarkRatioReplay(b *testing.B) {
	x := replayBench(b)
	srv, cli := x.server, x.client
	line := &cli.timeline
	slice := make([]work, replayPlayers*replayEntities)
	from := cli.timeline.predictor.Tick() - replayTicks
	slot, ok := cli.timeline.predictor.Slot(from)
	require.True(b, ok)
	var replay, world, plain, same []float64
	clock := func(into *[]float64, rounds int, fn func()) {
		start := time.Now()
		for range rounds {
			fn()
		}
		*into = append(*into, float64(time.Since(start))/float64(rounds))
	}
	f, schedule := srv.Frame(), compiledOf(x.protocol).Schedule
	b.ResetTimer()
	for range b.N {
		for range 1000 {
			clock(&world, 1, func() { schedule.Execute(srv.World(), f.Frame) })
			clock(&replay, 2, func() {
				line.Load(slot, from)
				for k := from + 1; int32(k-cli.timeline.predictor.Tick()) <= 0; k++ {
					line.Step(k, true)
					s, _ := cli.timeline.predictor.Slot(k)
					line.Save(s, k)
				}
			})
			clock(&plain, 1, func() {
				for range replaySystems {
					for i := range slice {
						labour(&slice[i])
					}
				}
			})
			clock(&same, 20, func() { cli.reconcile(cli.timeline.agreed.newest) })
		}
	}
	b.ReportMetric(undisturbed(replay)/undisturbed(world)/replayTicks, "x_world")
	b.ReportMetric(undisturbed(world)/undisturbed(plain), "x_slice")
	b.ReportMetric(undisturbed(same)/undisturbed(world), "same_x_tick")
	b.ReportMetric(undisturbed(replay)/1000, "µs/replay")
}

// A replay allocates nothing, and neither does a reconciliation that finds no difference.
func TestReplayAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	cli := replayBench(t).client
	require.NotZero(t, cli.stats.Compared)
	require.Zero(t, testing.AllocsPerRun(50, func() { cli.timeline.predictor.Restart(cli.timeline.agreed.newest) }))
	require.Zero(t, testing.AllocsPerRun(50, func() { cli.reconcile(cli.timeline.agreed.newest) }))
}
