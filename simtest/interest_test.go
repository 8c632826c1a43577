package simtest_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport/sim"
)

type spot struct {
	X, Y float32 `net:"min=-1000,max=1000,step=0.01,lerp"`
}

type label struct {
	ID uint16
}

// plain is a wide field: players walk over it, things are scattered about, one flag
// matters to all players, and ghosts only to the second player.
type plain struct {
	pos                      ecs.Component[spot]
	id                       ecs.Component[label]
	cmd                      ecs.Component[move]
	self, thing, flag, ghost ecs.Prefab
	news                     ecs.Prefab // has no position
}

const plainEnter, plainLeave = 60, 80

func (g *plain) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("plain", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.id)
	p.Command(&g.cmd)
	p.Prefab(&g.self, "self", &g.pos, &g.cmd)
	p.Prefab(&g.thing, "thing", &g.pos, &g.id)
	p.Prefab(&g.flag, "flag", &g.pos, &g.id)
	p.Prefab(&g.ghost, "ghost", &g.pos, &g.id)
	p.Prefab(&g.news, "news", &g.id)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.pos.Get(f.World, f.Spawn(&g.self, player)).Y = float32(player) * 10
	})
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X += cmd[i].X * 40 * f.DT
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	foretick.Interest(p, &g.pos, snapshot.AreaConfig{Enter: plainEnter, Leave: plainLeave}, func(at *spot) (x, y, z float32) { return at.X, at.Y, 0 })
	p.Relevant(func(_ *foretick.Frame, player foretick.PlayerID, e ecs.Entity) snapshot.Relevance {
		return snapshot.Always
	}, &g.flag)
	p.Relevant(func(_ *foretick.Frame, player foretick.PlayerID, e ecs.Entity) snapshot.Relevance {
		if player == 2 {
			return snapshot.ByDistance
		}
		return snapshot.Never
	}, &g.ghost)
	return p
}

// A player receives nearby entities (with hysteresis at the edge, so that nothing
// flickers), entities that matter everywhere, and its own. It joins a world of 3 000
// entities without a packet over the MTU, nearest entities first.
func TestInterestInAMatch(t *testing.T) {
	m := simtest.New(4)
	g := &plain{}
	srv, err := m.Serve(server.Config{Protocol: g.protocol()})
	require.NoError(t, err)
	f := srv.Frame()
	where := map[uint16]spot{}
	prefabs := map[uint16]*ecs.Prefab{}
	put := func(k *ecs.Prefab, id uint16, at spot) {
		e := f.Spawn(k, ecs.Nobody)
		g.id.Get(f.World, e).ID = id
		if pos := g.pos.Find(f.World, e); pos != nil {
			*pos = at
		}
		where[id], prefabs[id] = at, k
	}
	for i := range uint16(3000) {
		put(&g.thing, i, spot{X: float32(i%100)*18 - 900, Y: float32(i/100)*18 - 270})
	}
	put(&g.flag, 5000, spot{X: 900, Y: 900})
	put(&g.ghost, 5001, spot{X: 5, Y: 5})
	put(&g.news, 5002, spot{})
	type sight struct{ first time.Duration }
	link := sim.Link{Latency: 30 * time.Millisecond, Loss: 0.02}
	var clients []*client.Client
	games := []*plain{{}, {}}
	seen := []map[uint16]*sight{{}, {}}
	flickers := 0
	now := map[uint16]bool{}
	for n, cg := range games {
		var q *ecs.Query
		c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) move {
			if at := m.Net.Now(); n == 0 && at > 5*time.Second && at < 10*time.Second {
				return move{X: 1} // walks 200 m away
			} else if n == 0 && at > 10*time.Second && at < 15*time.Second {
				return move{X: float32(v.Tick/10%2)*2 - 1} // walks back and forth at the edge
			}
			return move{}
		})}, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
			if v.State != client.Playing {
				return
			}
			if q == nil {
				q = ecs.NewQuery(v.World.Types(), ecs.With(&cg.id))
			}
			before := now
			if n == 0 {
				now = map[uint16]bool{}
			}
			for _, rows := range q.All(v.World) {
				for _, l := range cg.id.Slice(rows) {
					if seen[n][l.ID] == nil {
						seen[n][l.ID] = &sight{first: m.Net.Now()}
					}
					if n == 0 {
						now[l.ID] = true
					}
				}
			}
			if n == 0 && m.Net.Now() > 11*time.Second {
				for id := range now {
					if !before[id] {
						flickers++
					}
				}
			}
		}})
		require.NoError(t, err)
		clients = append(clients, c)
		m.Run(m.Net.Now() + 500*time.Millisecond)
		require.EqualValues(t, n+1, c.View().Player)
	}
	m.Run(4 * time.Second)
	reach := func(n int, at spot) (near, all int) {
		for id, w := range where {
			d := math.Hypot(float64(w.X-at.X), float64(w.Y-at.Y))
			if _, ok := seen[n][id]; ok {
				all++
			} else if prefabs[id] == &g.thing && d < plainEnter {
				near++
			}
		}
		return near, all
	}
	missing, all := reach(0, spot{Y: 10})
	require.Zero(t, missing, "near things that the player does not see")
	require.Less(t, all, 60)
	require.Contains(t, seen[0], uint16(5000), "the flag, from afar")
	require.Contains(t, seen[0], uint16(5002), "what has no place")
	require.NotContains(t, seen[0], uint16(5001))
	require.Contains(t, seen[1], uint16(5001), "a ghost to the second player alone")
	m.Run(20 * time.Second)
	require.Less(t, flickers, 12, "things that came again while the player paced at the edge")
	_, all = reach(0, spot{X: 200, Y: 10})
	require.Greater(t, all, 100, "what he came near to on his way")
	for _, c := range clients {
		a := m.Audit(c)
		require.Zero(t, a.Differences, a.First)
		require.Less(t, a.Entities, 80)
	}
}

// Wrong declarations are refused.
func TestInterestFaults(t *testing.T) {
	g := &plain{}
	p := g.protocol()
	foretick.Interest(p, &g.pos, snapshot.AreaConfig{Enter: 1}, func(*spot) (x, y, z float32) { return })
	require.ErrorContains(t, p.Err(), "twice")
	for want, cfg := range map[string]snapshot.AreaConfig{"Enter is 0": {}, "Leave is 1": {Enter: 2, Leave: 1}, "Cell is": {Enter: 100, Cell: 0.1}} {
		var pos ecs.Component[spot]
		p := foretick.NewProtocol("x", 1)
		p.Component(&pos)
		foretick.Interest(p, &pos, cfg, func(*spot) (x, y, z float32) { return })
		require.ErrorContains(t, p.Err(), want)
	}
	var k ecs.Prefab
	p = foretick.NewProtocol("x", 1)
	p.Prefab(&k, "k")
	p.Relevant(func(*foretick.Frame, foretick.PlayerID, ecs.Entity) snapshot.Relevance { return snapshot.Never }, &k)
	require.ErrorContains(t, p.Err(), "needs Interest")
}

// A shot at a moment before an entity came near does not hit the entity, even if the client has
// received it by the time that the shot is judged.
func TestShotsBeforeItCameNear(t *testing.T) {
	hittable := func(g *plain) *foretick.Protocol {
		p := g.protocol()
		foretick.Hitbox(p, &g.pos, func(at *spot) lagcomp.Sphere { return lagcomp.Sphere{X: at.X, Y: at.Y, R: 1} })
		return p
	}
	m := simtest.New(6)
	g, cg := &plain{}, &plain{}
	const came = 200
	me, thing := ecs.Nobody, ecs.None
	before, late, there := 0, 0, 0
	srv, err := m.Serve(server.Config{Protocol: hittable(g), OnTick: func(f *foretick.ServerFrame) {
		if thing == ecs.None {
			return
		}
		if f.Tick == came-1 {
			g.pos.Get(f.World, thing).X = 20 // from the next tick on
		}
		seen := f.Rewind(me)
		_, ok := seen.Hitbox(thing, 0)
		_, hit := seen.Nearest(lagcomp.Vec{X: 20}, 1)
		require.Equal(t, ok, hit, f.Tick)
		switch {
		case f.Tick < came:
			before++
			require.False(t, ok, "far away")
		case seen.Used.Tick < came:
			late++
			require.False(t, ok, "judged at %v, when it was not near", seen.Used)
		case ok:
			there++
		}
	}})
	require.NoError(t, err)
	link := sim.Link{Latency: 50 * time.Millisecond}
	c, err := m.Join(client.Config{Protocol: hittable(cg), Sample: client.Sample(&cg.cmd, func(client.View) move { return move{} })}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(3 * time.Second)
	me, thing = c.View().Player, srv.Frame().Spawn(&g.thing, ecs.Nobody)
	g.pos.Get(srv.World(), thing).X = 500
	m.Run(10 * time.Second)
	require.Greater(t, before, 50)
	require.Greater(t, late, 4)
	require.Greater(t, there, 50)
}
