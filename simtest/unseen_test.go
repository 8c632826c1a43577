package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport/sim"
)

// census is a game in which every player's sum grows by the counts of all others, including
// others that the player does not receive.
type census struct {
	at    ecs.Component[censusAt]
	count ecs.Component[censusCount]
	sum   ecs.Component[censusSum]
	long  ecs.Component[madeLong]
	cmd   ecs.Component[lunge]
	body  ecs.Prefab
	pet   ecs.Prefab
	load  ecs.Prefab // its entities are longer than a snapshot can have
	all   *ecs.Query

	near   bool // players receive only entities that are near
	meets  bool // the system reads only entities that touch
	biased bool // a planted fault
	bodies map[foretick.PlayerID]ecs.Entity
}

type (
	censusAt struct {
		X float32 `net:"min=-1000,max=1000,step=0.01"`
	}
	censusCount struct{ N uint32 }
	censusSum   struct{ N uint32 }
)

func (g *census) protocol() *foretick.Protocol {
	g.bodies = map[foretick.PlayerID]ecs.Entity{}
	p := foretick.NewProtocol("census", 1)
	p.Component(&g.at, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.count, foretick.Predicted())
	p.Component(&g.sum, foretick.Predicted())
	p.Component(&g.long)
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.at, &g.count, &g.sum, &g.cmd)
	p.Prefab(&g.pet, "pet", &g.at, &g.count)
	p.Prefab(&g.load, "load", &g.at, &g.count, &g.long)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.bodies[player] = f.Spawn(&g.body, player)
		g.at.Get(f.World, g.bodies[player]).X = 100 * float32(player)
	})
	p.InOrder()
	p.Shared("count", func(f *foretick.Frame, rows ecs.Rows) {
		for i, c := 0, g.count.Slice(rows); f.Tick%30 == 0 && i < len(c); i++ {
			c[i].N++
		}
	}, ecs.Write(&g.count))
	g.all = p.Query(ecs.With(&g.at, &g.count))
	p.Shared("look", func(f *foretick.Frame, rows ecs.Rows) {
		for i := range rows.Len() {
			sum := uint32(0)
			for _, others := range g.all.All(f.World) {
				for k, at := range g.at.Slice(others) {
					if d := at.X - g.at.Slice(rows)[i].X; !g.meets || others.Entity(k) != rows.Entity(i) && d > -1 && d < 1 {
						sum += g.count.Slice(others)[k].N
					}
				}
			}
			if f.Tick%10 == 0 {
				g.sum.Slice(rows)[i].N += sum
			}
			if g.biased && f.Tick%30 == 15 {
				g.sum.Slice(rows)[i].N++
			}
		}
	}, ecs.ReadOther(&g.at, &g.count), ecs.Read(&g.at), ecs.Write(&g.sum))
	if g.near {
		foretick.Interest(p, &g.at, snapshot.AreaConfig{Enter: 50}, func(a *censusAt) (x, y, z float32) { return a.X, 0, 0 })
	}
	return p
}

// play returns the corrections of player 2, from a second after fn was called.
func (g census) play(t *testing.T, link sim.Link, fn func(g *census, m *simtest.Match, srv *server.Server)) (by prediction.ByCause) {
	t.Helper()
	m, truth := simtest.New(4), g
	truth.biased = false
	srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
	require.NoError(t, err)
	for n := range 3 {
		cg := g
		_, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(client.View) lunge { return lunge{} }),
			OnMisprediction: func(w prediction.Misprediction) {
				if n == 1 && m.Net.Now() > 3*time.Second {
					by.Count(w.Cause, 1)
				}
			}}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		m.RunFor(200 * time.Millisecond)
	}
	if fn != nil {
		m.Net.At(2*time.Second, func() { fn(&truth, m, srv) })
	}
	m.Run(20 * time.Second)
	require.NoError(t, m.Err())
	return by
}

// A client does not have entities that are hidden or too far away, and components that the server
// does not send. If a shared system reads these on the server, its result differs, and the
// correction does not get the cause Code.
func TestUnseenOthersAreNoCode(t *testing.T) {
	hide := func(srv *server.Server, e ecs.Entity) { srv.Frame().SetVisible(2, e, false) }
	for name, c := range map[string]struct {
		g  census
		fn func(g *census, m *simtest.Match, srv *server.Server)
	}{
		"another player is hidden": {census{}, func(g *census, _ *simtest.Match, srv *server.Server) { hide(srv, g.bodies[1]) }},
		"an unowned thing is hidden": {census{}, func(g *census, _ *simtest.Match, srv *server.Server) {
			hide(srv, srv.Frame().Spawn(&g.pet, ecs.Nobody))
		}},
		"its own is hidden and given away": {census{}, func(g *census, _ *simtest.Match, srv *server.Server) {
			e := srv.Frame().Spawn(&g.pet, 2)
			hide(srv, e)
			require.NoError(t, srv.World().Transfer(e, 1))
		}},
		"another player is hidden now and then": {census{}, func(g *census, m *simtest.Match, srv *server.Server) {
			for n := range 60 {
				m.Net.At(m.Net.Now()+time.Duration(n)*270*time.Millisecond, func() { srv.Frame().SetVisible(2, g.bodies[1], n%2 == 0) })
			}
		}},
		"others are far away": {census{near: true}, nil},
		"its record is too long": {census{}, func(g *census, _ *simtest.Match, srv *server.Server) {
			for range 12 {
				e := srv.Frame().Spawn(&g.load, ecs.Nobody)
				g.long.Get(srv.World(), e).L = make([]uint32, 512)
				twistLong(g.long.Get(srv.World(), e), 8)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, link := range []sim.Link{{Latency: 80 * time.Millisecond, Loss: 0.2}, {Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond}}[:min(2, costtest.Count(1, 2))] {
				by := c.g.play(t, link, c.fn)
				t.Log(by)
				require.Zero(t, by.Of(prediction.Code))
				require.Greater(t, by.Of(prediction.Untracked), uint64(10))
			}
		})
	}
}

// A fault of the code gets the cause Code even if other entities are too far away, as long as the
// near ones make no difference, and even if others were hidden once.
func TestUnseenOthersHideNoCode(t *testing.T) {
	link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond}
	by := census{near: true, meets: true, biased: true}.play(t, link, func(g *census, _ *simtest.Match, srv *server.Server) {
		g.at.Get(srv.World(), srv.Frame().Spawn(&g.pet, ecs.Nobody)).X = 220 // an entity that is near, and touches nobody
	})
	t.Log(by)
	require.Greater(t, by.Of(prediction.Code), uint64(15))
	require.Zero(t, by.Of(prediction.Untracked))
	by = census{meets: true, biased: true}.play(t, link, func(g *census, _ *simtest.Match, srv *server.Server) {
		e := srv.Frame().Spawn(&g.pet, ecs.Nobody)
		srv.Frame().SetVisible(2, e, false)
		srv.Frame().SetVisible(2, e, true)
	})
	t.Log(by)
	require.Greater(t, by.Of(prediction.Code), uint64(15))
}
