package simtest_test

import (
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

// A server whose process stalls, once for long or repeatedly, as on a busy machine, drops no
// player for it. All players are there afterwards, and in step within two seconds, or within
// twenty if the clients' clocks followed a slow server. A player that falls silent later is
// still dropped after the timeout.
func TestServerThatStandsStill(t *testing.T) {
	ms := time.Millisecond
	for i, stall := range []struct {
		name        string
		still, runs time.Duration
		times       int
		away        bool          // the stall is so long that clients end their connections and reconnect
		calm        time.Duration // time until all clients are in step
	}{
		{"once", 4 * time.Second, 0, 1, false, 2 * time.Second},
		{"for longer than its clients wait", 20 * time.Second, 0, 1, true, 2 * time.Second},
		{"again and again", 900 * ms, 150 * ms, 25, false, 2 * time.Second},
		{"a little, always", 200 * ms, 5 * ms, 100, false, 20 * time.Second},
	} {
		for _, rate := range ratesOf(i) {
			m := simtest.New(4)
			g := &game{}
			p := g.protocol()
			p.SetTickRate(rate)
			lost := 0
			p.OnDisconnect(func(*foretick.ServerFrame, foretick.PlayerID) { lost++ })
			srv, err := m.Serve(server.Config{Protocol: p})
			require.NoError(t, err)
			link := sim.Link{Latency: 30 * ms, Jitter: 5 * ms}
			var clients []*client.Client
			for range 3 {
				cg := &game{}
				cp := cg.protocol()
				cp.SetTickRate(rate)
				c, err := m.Join(client.Config{Protocol: cp, Sample: client.Sample(&cg.cmd, func(v client.View) move {
					return move{X: float32(v.Tick/8%2) - 0.5}
				})}, simtest.Seat{Up: link, Down: link})
				require.NoError(t, err)
				clients = append(clients, c)
			}
			m.Run(5 * time.Second)
			before := srv.Stats()
			for range stall.times {
				m.FreezeServer(true)
				m.Run(m.Net.Now() + stall.still)
				m.FreezeServer(false)
				m.Run(m.Net.Now() + stall.runs)
			}
			m.Run(m.Net.Now() + stall.calm)
			calm := srv.Stats()
			m.Run(m.Net.Now() + stall.still + 4*time.Second)
			st := srv.Stats()
			what := []any{"%s, %d Hz: %+v", stall.name, rate, st}
			require.GreaterOrEqual(t, st.Slips-before.Slips, uint64(stall.times), what...)
			require.Zero(t, st.Offenders, what...)
			require.EqualValues(t, 3, st.Joined, what...)
			require.Zero(t, st.Left, what...)
			require.Equal(t, stall.away, st.Resumed > 0, what...)
			require.LessOrEqual(t, st.InputsMissing-calm.InputsMissing, uint64(rate/10), what...)
			require.NotZero(t, st.InputsTaken-calm.InputsTaken)
			for _, c := range clients {
				require.Equal(t, client.Playing, c.View().State, what...)
				require.LessOrEqual(t, c.Stats().HardResets, uint64(stall.times+stall.times/10), what...)
			}

			lost = 0
			silent := sim.Link{Loss: 1}
			m.Link(clients[0], silent, silent)
			m.Run(m.Net.Now() + 5200*ms)
			require.Equal(t, 1, lost, what...)
		}
	}
}

// After a stall, a player's change of direction takes effect once its predicted
// input has run, not after all the input pressed during the stall.
func TestInputAfterAServerStoodStill(t *testing.T) {
	for _, still := range []time.Duration{time.Second, 2500 * time.Millisecond, 4500 * time.Millisecond} {
		for _, loss := range []float64{0, 0.05} {
			m := simtest.New(4)
			g := &game{}
			srv, err := m.Serve(server.Config{Protocol: g.protocol()})
			require.NoError(t, err)
			link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 5 * time.Millisecond, Loss: loss}
			cg, pushes := &game{}, float32(0.25)
			c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(client.View) move {
				return move{X: pushes}
			})}, simtest.Seat{Up: link, Down: link})
			require.NoError(t, err)
			at := func() float32 {
				for _, rows := range ecs.NewQuery(srv.World().Types(), ecs.With(&g.pos)).All(srv.World()) {
					return g.pos.Slice(rows)[0].X
				}
				return 0
			}
			m.Run(5 * time.Second)
			m.FreezeServer(true)
			m.Run(m.Net.Now() + still)
			m.FreezeServer(false)
			m.Run(m.Net.Now() + 200*time.Millisecond)
			pushes = -0.25
			m.Run(m.Net.Now() + 1100*time.Millisecond) // as long as inputs had been predicted ahead
			turned := at()
			ticks := srv.Tick()
			m.Run(m.Net.Now() + 600*time.Millisecond)
			went := at() - turned
			full := -0.25 * 5 * float32(srv.Tick()-ticks) / 30
			require.Less(t, went, 0.85*full, "still for %v at %v: %v of %v", still, loss, went, full)
			require.Zero(t, m.Audit(c).Entities-1)
		}
	}
}
