package bridge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

// TestFaultsOfOneSystemForAll: a system that moves every player's body in one call does not count
// as a push by another player. If a client predicts remote players, and such a system has a fault
// for the player's own body, the correction gets the cause Code.
func TestFaultsOfOneSystemForAll(t *testing.T) {
	protocol := func(g *Game) *foretick.Protocol {
		p := g.declare()
		b := bound(g)
		b.System(p, "step", func(f *foretick.Frame, active []*thing) {
			for _, own := range active {
				own.body.X = float32(f.Tick%64) / 8
				if !f.IsServer() && f.Tick%32 < 8 && f.World.Owner(b.Entity(own)) == 1 {
					own.body.X++
				}
			}
		}, ecs.Write(&g.Body), ecs.WriteOther(&g.Body))
		foretick.PredictRemote(p, &g.Stick, func(*foretick.Frame, ecs.Entity, int, *Stick) {}, foretick.RemoteConfig{})
		return p
	}
	m, srv := simtest.New(1), &Game{}
	_, err := m.Serve(server.Config{Protocol: protocol(srv)})
	require.NoError(t, err)
	var clients []*client.Client
	link := sim.Link{Latency: 40 * time.Millisecond}
	for range 2 {
		g := &Game{}
		c, err := m.Join(client.Config{Protocol: protocol(g), Sample: client.Sample(&g.Stick, func(client.View) Stick { return Stick{} })}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		clients = append(clients, c)
	}
	m.Run(2 * time.Second)
	m.Run(10 * time.Second)
	var found stats.Client
	for _, c := range clients {
		st := c.Stats()
		found.Add(&st)
	}
	t.Log(found.ByCause)
	require.Greater(t, found.ByCause.Of(prediction.Code), uint64(10), "the fault is not found")
}

// TestSimulates: Frame.Simulates and Frame.PrefabOf return the right results on both ends.
func TestSimulates(t *testing.T) {
	type seen struct{ server, own, others, crates, shells int }
	var on seen
	watch := func(g *Game, p *foretick.Protocol, me foretick.PlayerID, remote bool) *foretick.Protocol {
		p.Shared("watch", func(f *foretick.Frame, _ ecs.Rows) {
			require.Nil(t, f.PrefabOf(ecs.None))
			require.False(t, f.Simulates(ecs.None))
			for _, rows := range g.bodies.All(f.World) {
				for _, e := range rows.Entities() {
					k, does := f.PrefabOf(e), f.Simulates(e)
					switch {
					case f.IsServer():
						on.server++
						require.True(t, does)
					case k == &g.Crate:
						on.crates++
						require.True(t, does)
					case k == &g.Shell:
						on.shells++
						require.Equal(t, rows.Owner() == me, does)
					case rows.Owner() == me:
						on.own++
						require.Same(t, &g.Tank, k)
						require.True(t, does)
					default:
						on.others++
						require.Same(t, &g.Tank, k)
						require.Equal(t, remote, does)
					}
				}
			}
		}, ecs.Once())
		if remote {
			foretick.PredictRemote(p, &g.Stick, func(*foretick.Frame, ecs.Entity, int, *Stick) {}, foretick.RemoteConfig{})
		}
		return p
	}
	for _, remote := range []bool{false, true} {
		m, srv := simtest.New(1), &Game{}
		s, err := m.Serve(server.Config{Protocol: watch(srv, srv.Direct(), 0, remote)})
		require.NoError(t, err)
		srv.begin(s)
		for i := range uint64(2) {
			g := &Game{}
			p := watch(g, g.Direct(), foretick.PlayerID(i+1), remote)
			_, err := m.Join(client.Config{Protocol: p, Sample: client.Sample(&g.Stick, wander(i))}, simtest.Seat{})
			require.NoError(t, err)
			m.Run(time.Duration(i+1) * 2 * time.Second)
		}
		require.NoError(t, m.Err())
	}
	require.NotZero(t, on.server*on.own*on.others*on.crates*on.shells, "%+v", on)
}
