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

// ribbon is a component that only the server writes.
type ribbon struct {
	N  uint8
	To ecs.Entity
}

// badges is a game whose server hangs badges on players, on a crate that all of them
// push, and takes them away.
type badges struct {
	pos    ecs.Component[position]
	vel    ecs.Component[velocity]
	badge  ecs.Component[ribbon]
	cmd    ecs.Component[move]
	body   ecs.Prefab
	crate  ecs.Prefab
	flag   ecs.Prefab
	all    *ecs.Query
	wears  *ecs.Query
	remote bool // clients predict remote players
}

func (g *badges) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("badges", 1)
	p.Component(&g.pos, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.vel, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.badge)
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.badge, &g.cmd)
	p.Prefab(&g.crate, "crate", &g.pos, &g.vel, &g.badge)
	p.Prefab(&g.flag, "flag", &g.pos)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("push", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X += cmd[i].X * f.DT
			for _, crates := range g.all.All(f.World) {
				for k, vel := 0, g.vel.Slice(crates); k < len(vel); k++ {
					vel[k].X = cmd[i].X
				}
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos), ecs.WriteOther(&g.vel))
	if g.remote {
		foretick.PredictRemote(p, &g.cmd, func(*foretick.Frame, ecs.Entity, int, *move) {}, foretick.RemoteConfig{})
	}
	g.all = p.Query(ecs.With(&g.vel))
	g.wears = p.Query(ecs.With(&g.badge))
	return p
}

// worn lists the badges of a world.
func (g *badges) worn(w *ecs.World) (all []ribbon) {
	for _, rows := range g.wears.All(w) {
		all = append(all, g.badge.Slice(rows)...)
	}
	return all
}

// play begins a match of two players and a crate. It returns the match, the server, the clients,
// and the clients' games.
func (g *badges) play(t *testing.T) (*simtest.Match, *server.Server, []*client.Client, []*badges) {
	m := simtest.New(3)
	srv, err := m.Serve(server.Config{Protocol: g.protocol()})
	require.NoError(t, err)
	srv.Frame().Spawn(&g.crate, ecs.Nobody)
	link := sim.Link{Latency: 2 * time.Millisecond} // far less than the interpolation delay
	var clients []*client.Client
	var games []*badges
	for range 2 {
		cg := &badges{remote: g.remote}
		c, err := m.Join(client.Config{Protocol: cg.protocol()}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		clients, games = append(clients, c), append(games, cg)
	}
	m.Run(2 * time.Second)
	return m, srv, clients, games
}

// The server adds and removes a component that only it computes, and all entities that clients
// predict follow: their own, common ones, and those of predicted remote players.
func TestUnpredictedComponentsAreRemoved(t *testing.T) {
	for name, remote := range map[string]bool{"own and shared": false, "remote players": true} {
		t.Run(name, func(t *testing.T) {
			g := &badges{remote: remote}
			m, srv, clients, games := g.play(t)
			var wearers []ecs.Entity
			for _, rows := range g.wears.All(srv.World()) {
				for i := range rows.Len() {
					wearers = append(wearers, rows.Entity(i))
				}
			}
			require.Len(t, wearers, 3)
			for round := range uint8(3) {
				for _, e := range wearers {
					g.badge.Remove(srv.World(), e)
				}
				m.Run(m.Net.Now() + time.Second)
				for i, c := range clients {
					require.Empty(t, games[i].worn(c.View().World), "client %d", i)
					a := m.Audit(c)
					require.Zero(t, a.Differences, a.First)
				}
				for _, e := range wearers {
					g.badge.Add(srv.World(), e, ribbon{N: round})
				}
				m.Run(m.Net.Now() + time.Second)
				for i, c := range clients {
					require.Len(t, games[i].worn(c.View().World), 3)
					a := m.Audit(c)
					require.Zero(t, a.Differences, a.First)
				}
			}
		})
	}
}

// If the target of a reference appears later than the reference, because it is interpolated, the
// client looks the reference up again once the target is there.
func TestReferencesAreLookedUpAgain(t *testing.T) {
	for name, remote := range map[string]bool{"own and shared": false, "remote players": true} {
		t.Run(name, func(t *testing.T) {
			g := &badges{remote: remote}
			m, srv, clients, games := g.play(t)
			target := srv.Frame().Spawn(&g.flag, ecs.Nobody)
			for _, rows := range g.wears.All(srv.World()) {
				for i, b := 0, g.badge.Slice(rows); i < len(b); i++ {
					b[i] = ribbon{N: 7, To: target}
				}
			}
			m.Run(m.Net.Now() + time.Second)
			for i, c := range clients {
				worn := games[i].worn(c.View().World)
				require.Len(t, worn, 3)
				for _, b := range worn {
					require.True(t, c.View().World.Alive(b.To), "client %d: %v", i, b.To)
				}
				a := m.Audit(c)
				require.Zero(t, a.Differences, a.First)
			}
		})
	}
}
