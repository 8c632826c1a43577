package simtest_test

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
	"github.com/foretick/foretick/transport/sim"
)

// crates is a game in which players push a crate: the shared system writes an
// entity without an owner, and the crate slides on by itself.
type crates struct {
	pos   ecs.Component[position]
	vel   ecs.Component[velocity]
	cmd   ecs.Component[move]
	body  ecs.Prefab
	crate ecs.Prefab
	all   *ecs.Query

	pushed func(f *foretick.Frame, player foretick.PlayerID)
	bias   bool // a planted fault
}

type velocity struct {
	X, Y float32 `net:"min=-20,max=20,step=0.01"`
}

func (g *crates) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("crates", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.vel, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.cmd)
	p.Prefab(&g.crate, "crate", &g.pos, &g.vel)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.pos.Get(f.World, f.Spawn(&g.body, player)).X = -3 + 6*float32(player-1)
	})
	p.Shared("push", g.push, ecs.Read(&g.cmd), ecs.Write(&g.pos), ecs.ReadOther(&g.pos), ecs.WriteOther(&g.vel), ecs.Before("slide"))
	p.Shared("slide", g.slide, ecs.Write(&g.pos, &g.vel))
	g.all = p.Query(ecs.With(&g.pos, &g.vel))
	return p
}

func (g *crates) push(f *foretick.Frame, rows ecs.Rows) {
	pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
	for i := range pos {
		pos[i].X += cmd[i].X * 4 * f.DT
		pos[i].Y += cmd[i].Y * 4 * f.DT
		if g.bias && f.Tick%30 == 0 {
			pos[i].X += 0.25
		}
		for _, crates := range g.all.All(f.World) {
			at, vel := g.pos.Slice(crates), g.vel.Slice(crates)
			for k := range at {
				dx, dy := at[k].X-pos[i].X, at[k].Y-pos[i].Y
				if dx*dx+dy*dy < 1 {
					vel[k].X += dx * 2
					vel[k].Y += dy * 2
					if g.pushed != nil {
						g.pushed(f, rows.Owner())
					}
				}
			}
		}
	}
}

func (g *crates) slide(f *foretick.Frame, rows ecs.Rows) {
	pos, vel := g.pos.Slice(rows), g.vel.Slice(rows)
	for i := range pos {
		pos[i].X += vel[i].X * f.DT
		pos[i].Y += vel[i].Y * f.DT
		vel[i].X *= 0.9
		vel[i].Y *= 0.9
	}
}

// A crate that one player pushes moves on that player's screen at once. A crate that two
// players push ends in the same place on both ends.
func TestPushedCrate(t *testing.T) {
	for _, players := range []int{1, 2} {
		m := simtest.New(4)
		g := &crates{}
		srv, err := m.Serve(server.Config{Protocol: g.protocol()})
		require.NoError(t, err)
		crate := srv.Frame().Spawn(&g.crate, ecs.Nobody)
		link := sim.Link{Latency: 75 * time.Millisecond}
		var clients []*client.Client
		for range players {
			cg := &crates{}
			c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) move {
				if now := m.Net.Now(); now < 2*time.Second || now > 4*time.Second {
					return move{}
				}
				return move{X: float32(3 - 2*int(v.Player))} // towards each other
			})}, simtest.Seat{Up: link, Down: link})
			require.NoError(t, err)
			clients = append(clients, c)
		}
		m.Run(3 * time.Second)
		st := clients[0].Stats()
		m.Run(8 * time.Second)
		for _, c := range clients {
			a := m.Audit(c)
			require.Zero(t, a.Differences, a.First)
			require.Equal(t, 2*players+4, a.Fields)
			require.Zero(t, c.Stats().ByCause.Of(prediction.Code))
		}
		moved := *g.pos.Get(srv.World(), crate)
		if players == 1 {
			require.Zero(t, clients[0].Stats().Mispredictions, "one player predicts his crate exactly")
			require.Greater(t, moved.X, float32(0.5), "the crate was pushed")
			require.NotZero(t, st.PredictedTicks)
		}
	}
}

// Two players push one crate at a round trip of 150 ms. It moves on both screens
// while it moves on the server, every push counts, each player feels its own push
// in the tick of its input, and the final position is the same.
func TestCrateOfTwo(t *testing.T) {
	m := simtest.New(4)
	g := &crates{}
	pushes := map[foretick.PlayerID]int{} // on the server
	g.pushed = func(_ *foretick.Frame, player foretick.PlayerID) { pushes[player]++ }
	var crate ecs.Entity
	type motion struct{ moved, stood, longest int }
	type frame struct {
		tick foretick.Tick
		at   position
	}
	var shown [2][]frame
	truth := map[foretick.Tick]position{}
	srv, err := m.Serve(server.Config{Protocol: g.protocol(), OnTick: func(f *foretick.ServerFrame) {
		truth[f.Tick] = *g.pos.Get(f.World, crate)
	}})
	require.NoError(t, err)
	crate = srv.Frame().Spawn(&g.crate, ecs.Nobody)
	link := sim.Link{Latency: 75 * time.Millisecond}
	var clients []*client.Client
	var felt [2]int
	var seen [2]motion
	for n := range 2 {
		cg := &crates{}
		cg.pushed = func(f *foretick.Frame, player foretick.PlayerID) {
			if !f.Replay {
				felt[n]++
			}
		}
		c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) move {
			now := m.Net.Now() - time.Duration(v.Player)*400*time.Millisecond // the players push one after the other
			if now < 2*time.Second || now > 5*time.Second {
				return move{}
			}
			toward := float32(3 - 2*int(v.Player))
			return move{X: toward, Y: 0.0625 * toward}
		})}, simtest.Seat{Up: link, Down: link, FrameRate: 30, After: func(v client.View) {
			if v.State != client.Playing {
				return
			}
			shown[n] = append(shown[n], frame{v.Tick, cg.pos.Slice(cg.all.All(v.World)[0])[0]})
		}})
		require.NoError(t, err)
		clients = append(clients, c)
	}
	m.Run(10 * time.Second)
	require.Greater(t, pushes[1], 3)
	require.Greater(t, pushes[2], 3)
	for n := range 2 {
		for i, p := range shown[n][1:] {
			switch before := shown[n][i]; {
			case truth[p.tick] == truth[p.tick-1]: // the crate stands still, or that tick was never reached
			case p.at != before.at:
				seen[n].moved++
				seen[n].stood = 0
			default:
				seen[n].stood++
				seen[n].longest = max(seen[n].longest, seen[n].stood)
			}
		}
		require.Positive(t, felt[n], "a player's own push is predicted")
		require.Greater(t, seen[n].moved, 50)
		require.LessOrEqual(t, seen[n].longest, 8, "nobody's crate stands while it moves")
	}
	t.Logf("pushes on the server %v, predicted %v, frames %v", pushes, felt, seen)
	for _, c := range clients {
		a := m.Audit(c)
		require.Zero(t, a.Differences, a.First)
		require.Zero(t, c.Stats().ByCause.Of(prediction.Code))
	}
}

// A game whose systems read other entities can also be wrong through its code: if
// no other player's values differed, the cause is the code.
func TestCodeIsNamedAmongOthers(t *testing.T) {
	for _, walks := range []bool{false, true} { // whether the other player walks
		m := simtest.New(4)
		g := &crates{}
		srv, err := m.Serve(server.Config{Protocol: g.protocol()})
		require.NoError(t, err)
		srv.Frame().Spawn(&g.crate, ecs.Nobody)
		link := sim.Link{Latency: 50 * time.Millisecond}
		var clients []*client.Client
		read := map[string]bool{} // the components that causes name
		for n := range 2 {
			cg := &crates{bias: n == 0}
			c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) move {
				if walks || n == 0 {
					return move{Y: float32(v.Tick/20%2)*2 - 1}
				}
				return move{}
			}), OnMisprediction: func(w prediction.Misprediction) { read[w.Read] = w.Cause == prediction.Untracked }}, simtest.Seat{Up: link, Down: link})
			require.NoError(t, err)
			clients = append(clients, c)
		}
		m.Run(20 * time.Second)
		by := clients[0].Stats().ByCause
		if walks {
			require.Greater(t, by.Of(prediction.Untracked), uint64(10), "%v", by)
			require.True(t, read["position"], read)
		} else {
			require.Greater(t, by.Of(prediction.Code), uint64(10), "%v", by)
			require.Zero(t, by.Of(prediction.Untracked), "%v", by)
		}
		require.Zero(t, clients[1].Stats().ByCause.Of(prediction.Code))
	}
}
