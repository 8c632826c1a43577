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
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

type seat struct {
	Pair uint8
}

// cavalry is a field of riders, each at the position of its horse.
type cavalry struct {
	pos         ecs.Component[position]
	cmd         ecs.Component[move]
	seat        ecs.Component[seat]
	horse, self ecs.Prefab
}

func (g *cavalry) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("cavalry", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.seat)
	p.Command(&g.cmd)
	p.Prefab(&g.horse, "horse", &g.pos, &g.seat)
	p.Prefab(&g.self, "self", &g.pos, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.self, player) })
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X += cmd[i].X * f.DT
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	p.Server("ride", func(f *foretick.ServerFrame, rows ecs.Rows) {
		pos, at := g.pos.Slice(rows), g.seat.Slice(rows)
		for i := range pos {
			a := float64(f.Tick)/20 + float64(at[i].Pair)
			pos[i] = position{X: float32(40 * math.Sin(a)), Y: float32(40 * math.Sin(a*1.3))}
		}
	}, ecs.Read(&g.seat), ecs.Write(&g.pos))
	return p
}

// On a link without enough bandwidth, a rider is never separated from its horse on a
// screen, and the player's own predicted entities are in every snapshot. The same
// match without groups separates them, which proves the test.
func TestGroupsInAMatch(t *testing.T) {
	play := func(grouped bool) (apart, together int, st stats.Client) {
		m := simtest.New(3)
		g := &cavalry{}
		srv, err := m.Serve(server.Config{Protocol: g.protocol(), SendRate: 5000})
		require.NoError(t, err)
		f := srv.Frame()
		for pair := range uint8(80) {
			horse := f.Spawn(&g.horse, ecs.Nobody)
			g.seat.Get(f.World, horse).Pair = pair
			rider := f.Spawn(&g.horse, ecs.Nobody)
			g.seat.Get(f.World, rider).Pair = pair
			if grouped {
				require.True(t, f.SetGroup(rider, horse))
			}
		}
		require.False(t, f.SetGroup(ecs.None, ecs.None))
		cg := &cavalry{}
		link := sim.Link{Latency: 30 * time.Millisecond, Loss: 0.03}
		var q *ecs.Query
		c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) move {
			return move{X: float32(v.Tick%3) - 1}
		})}, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
			if v.State != client.Playing {
				return
			}
			if q == nil {
				q = ecs.NewQuery(v.World.Types(), ecs.With(&cg.seat))
			}
			at := map[uint8]position{}
			for _, rows := range q.All(v.World) {
				pos := cg.pos.Slice(rows)
				for i, s := range cg.seat.Slice(rows) {
					if p, ok := at[s.Pair]; !ok {
						at[s.Pair] = pos[i]
					} else if p != pos[i] {
						apart++
					} else {
						together++
					}
				}
			}
		}})
		require.NoError(t, err)
		m.Run(12 * time.Second)
		return apart, together, c.Stats()
	}
	apart, together, st := play(true)
	require.Zero(t, apart)
	require.Greater(t, together, 10_000)
	require.Greater(t, st.Compared, st.Snapshots*9/10, "own state came with every snapshot")
	require.Zero(t, st.Mispredictions)
	apart, _, _ = play(false)
	require.Greater(t, apart, 1000)
}
