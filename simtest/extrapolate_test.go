package simtest_test

import (
	"math"
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

type train struct {
	Goes  float32 `net:"min=-10000,max=10000,step=0.01,lerp,extrapolate=6"`
	Stays float32 `net:"min=-10000,max=10000,step=0.01,lerp"`
}

// An entity postponed for lack of bandwidth continues its motion if its tag says so, and is shown
// closer to its true position than one that stops.
func TestExtrapolationInAMatch(t *testing.T) {
	protocol := func(pos *ecs.Component[train], k *ecs.Prefab) *foretick.Protocol {
		p := foretick.NewProtocol("line", 1)
		p.Component(pos)
		p.Prefab(k, "train", pos)
		p.Server("run", func(f *foretick.ServerFrame, rows ecs.Rows) {
			for i := range pos.Slice(rows) {
				at := &pos.Slice(rows)[i]
				at.Goes = 0.3 * float32(f.Tick)
				at.Stays = at.Goes
			}
		}, ecs.Write(pos))
		return p
	}
	m := simtest.New(6)
	var pos, cpos ecs.Component[train]
	var k, ck ecs.Prefab
	srv, err := m.Serve(server.Config{Protocol: protocol(&pos, &k), SendRate: 4000})
	require.NoError(t, err)
	for range 300 {
		srv.Frame().Spawn(&k, ecs.Nobody)
	}
	var goes, stays float64
	shown := 0
	link := sim.Link{Latency: 20 * time.Millisecond}
	var q *ecs.Query
	_, err = m.Join(client.Config{Protocol: protocol(&cpos, &ck)}, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
		if v.State != client.Playing || m.Net.Now() < 4*time.Second {
			return
		}
		if q == nil {
			q = ecs.NewQuery(v.World.Types(), ecs.With(&cpos))
		}
		truth := 0.3 * (float64(v.RenderTick) + float64(v.RenderFraction))
		for _, rows := range q.All(v.World) {
			for _, at := range cpos.Slice(rows) {
				goes += math.Abs(float64(at.Goes) - truth)
				stays += math.Abs(float64(at.Stays) - truth)
				require.Less(t, float64(at.Goes)-truth, 0.1, "never ahead")
				shown++
			}
		}
	}})
	require.NoError(t, err)
	m.Run(10 * time.Second)
	require.Greater(t, shown, 10_000)
	require.Greater(t, stays/float64(shown), 0.1, "things are put off")
	require.Less(t, goes, stays/2)
	t.Logf("mean error %.3f m with, %.3f without", goes/float64(shown), stays/float64(shown))
}
