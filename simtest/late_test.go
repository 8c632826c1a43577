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
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport/sim"
)

// yard is a place so small that everything in it matters to all players.
type yard struct {
	pos         ecs.Component[spot]
	id          ecs.Component[label]
	cmd         ecs.Component[move]
	self, thing ecs.Prefab
}

func (g *yard) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("yard", 1)
	p.Component(&g.pos)
	p.Component(&g.id)
	p.Command(&g.cmd)
	p.Prefab(&g.self, "self", &g.pos, &g.cmd)
	p.Prefab(&g.thing, "thing", &g.pos, &g.id)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.self, player) })
	foretick.Interest(p, &g.pos, snapshot.AreaConfig{Enter: 1900, Leave: 2000}, func(at *spot) (x, y, z float32) { return at.X, at.Y, 0 })
	return p
}

// weighed measures the packets to one player.
type weighed struct {
	player  foretick.PlayerID
	longest int
	seconds map[int]int // bytes in each second
}

func (w *weighed) Packet(m *simtest.Match, _, to int, b []byte) error {
	if m.Owner(to) == w.player {
		w.longest = max(w.longest, len(b))
		w.seconds[int(m.Net.Now()/time.Second)] += len(b)
	}
	return nil
}
func (*weighed) Tick(*simtest.Match) error { return nil }

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// A player that joins late gets 3 000 things within the rate, in packets not longer than the MTU,
// the nearest things first.
func TestLateJoinerInAMatch(t *testing.T) {
	const things, rate = 1500, 12_000
	m := simtest.New(4)
	to := &weighed{player: 2, seconds: map[int]int{}}
	m.Watch(to)
	var truth, early, late yard
	srv, err := m.Serve(server.Config{Protocol: truth.protocol(), SendRate: rate})
	require.NoError(t, err)
	far := make([]float64, things)
	for i := range far {
		e := srv.Frame().Spawn(&truth.thing, ecs.Nobody)
		at := spot{X: float32(i*7919%1801) - 900, Y: float32(i*104729%1801) - 900} // in no order
		*truth.pos.Get(srv.World(), e), truth.id.Get(srv.World(), e).ID = at, uint16(i)
		far[i] = math.Hypot(float64(at.X), float64(at.Y))
	}
	link := sim.Link{Latency: 30 * time.Millisecond, Loss: 0.02}
	join := func(g *yard, after func(client.View)) *client.Client {
		c, err := m.Join(client.Config{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(client.View) move { return move{} })}, simtest.Seat{Up: link, Down: link, After: after})
		require.NoError(t, err)
		return c
	}
	join(&early, func(client.View) {})
	m.Run(4 * time.Second)
	first := make([]time.Duration, things)
	known := 0
	var q *ecs.Query
	c := join(&late, func(v client.View) {
		if v.State != client.Playing || known == things {
			return
		}
		if q == nil {
			q = ecs.NewQuery(v.World.Types(), ecs.With(&late.id))
		}
		for _, rows := range q.All(v.World) {
			for _, l := range late.id.Slice(rows) {
				if first[l.ID] == 0 {
					first[l.ID] = m.Net.Now()
					known++
				}
			}
		}
	})
	m.Run(10 * time.Second)
	require.Equal(t, to.player, c.View().Player)
	require.Equal(t, things, known)
	var means [3]float64 // means of the nearest, the middle and the farthest third
	var last time.Duration
	before, pairs := 0, 0
	for i := range far {
		third := 0
		for j := range far {
			if far[j] < far[i] {
				third++
			}
			if far[j] < far[i]-200 { // a tenth of the reach, and more than a step of priority
				if pairs++; first[i] < first[j] {
					before++
				}
			}
		}
		means[third*3/things] += (first[i] - 4*time.Second).Seconds() / things * 3
		last = max(last, first[i])
	}
	most := 0
	for _, n := range to.seconds {
		most = max(most, n)
	}
	t.Logf("known after %v; the nearest third after %.2f s, the others %.2f and %.2f; %.1f %% of those 200 m nearer came later; packets of up to %d bytes, %d in a second at most", last-4*time.Second, means[0], means[1], means[2], percent(before, pairs), to.longest, most)
	require.LessOrEqual(t, to.longest, 1200)
	require.LessOrEqual(t, most, rate*11/10)
	require.Less(t, last, 4*time.Second+6*time.Second)
	require.Less(t, means[0], means[1])
	require.Less(t, means[1], means[2])
	require.LessOrEqual(t, percent(before, pairs), 10.0)
}
