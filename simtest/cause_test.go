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

// tile is a square of a map that nobody owns and every player may paint.
type tile struct {
	Colour uint8
	At     uint8 `net:"max=8"`
}

type brush struct {
	X     float32 `net:"min=-1,max=1,step=0.0078125"`
	Paint bool    `net:"oneshot"`
}

type heal struct{ Much uint8 }

// garden is a small game, each of whose parts the server can change in a way that clients
// cannot predict.
type garden struct {
	pos   ecs.Component[position]
	tile  ecs.Component[tile]
	cmd   ecs.Component[brush]
	heal  foretick.Request[heal]
	body  ecs.Prefab
	pack  ecs.Prefab // a child of a body
	slab  ecs.Prefab // a tile
	tiles *ecs.Query
	loads *ecs.Query

	bodies map[foretick.PlayerID]ecs.Entity // entities of the players, on the server
	packs  map[foretick.PlayerID]ecs.Entity
	bias   bool // a planted fault

	entered func(f *foretick.Frame)
	painted func(f *foretick.Frame, player foretick.PlayerID)
}

func (g *garden) protocol() *foretick.Protocol {
	g.bodies, g.packs = map[foretick.PlayerID]ecs.Entity{}, map[foretick.PlayerID]ecs.Entity{}
	p := foretick.NewProtocol("garden", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.tile, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.cmd)
	p.Prefab(&g.pack, "pack", &g.pos)
	p.Prefab(&g.slab, "slab", &g.tile)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { g.enter(f, player) })
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		speed := float32(4)
		for _, packs := range g.loads.Owned(f.World, rows.Owner()) {
			speed -= float32(packs.Len()) // a player with many packs is slow
		}
		for i := range pos {
			pos[i].X += cmd[i].X * speed * f.DT
			if g.bias && f.Tick%20 == 0 {
				pos[i].X += 0.25
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos), ecs.ReadOther(&g.pos))
	g.loads = p.Query(ecs.With(&g.pos), ecs.Without(&g.cmd))
	p.Shared("paint", func(f *foretick.Frame, rows ecs.Rows) {
		for _, cmd := range g.cmd.Slice(rows) {
			if !cmd.Paint {
				continue
			}
			if g.painted != nil {
				g.painted(f, rows.Owner())
			}
			for _, slabs := range g.tiles.All(f.World) {
				for k, t := 0, g.tile.Slice(slabs); k < len(t); k++ {
					if uint32(t[k].At) == f.Tick%4 {
						t[k].Colour = t[k].Colour*3 + uint8(f.Tick)
					}
				}
			}
		}
	}, ecs.Read(&g.cmd), ecs.WriteOther(&g.tile))
	g.tiles = p.Query(ecs.With(&g.tile))
	g.heal.Handle(p, func(f *foretick.ServerFrame, player foretick.PlayerID, v heal) {
		g.pos.Get(f.World, g.bodies[player]).Y += float32(v.Much)
	})
	return p
}

func (g *garden) enter(f *foretick.ServerFrame, player foretick.PlayerID) {
	g.bodies[player], g.packs[player] = f.Spawn(&g.body, player), f.Spawn(&g.pack, player)
	_ = f.World.SetParent(g.packs[player], g.bodies[player])
	if g.entered != nil {
		g.entered(f.Frame)
	}
}

// afternoon is a match in the garden.
type afternoon struct {
	m       *simtest.Match
	g       *garden
	srv     *server.Server
	clients []*client.Client
	games   []*garden
	told    [][]prediction.Misprediction
}

func newAfternoon(t *testing.T, players int, link sim.Link, sample func(n int, v client.View) brush) *afternoon {
	a := &afternoon{m: simtest.New(5), g: &garden{}}
	var err error
	a.srv, err = a.m.Serve(server.Config{Protocol: a.g.protocol()})
	require.NoError(t, err)
	for k := range 4 {
		a.g.tile.Get(a.srv.World(), a.srv.Frame().Spawn(&a.g.slab, ecs.Nobody)).At = uint8(k)
	}
	a.told = make([][]prediction.Misprediction, players)
	for n := range players {
		cg := &garden{}
		c, err := a.m.Join(client.Config{Protocol: cg.protocol(),
			Sample:          client.Sample(&cg.cmd, func(v client.View) brush { return sample(n, v) }),
			OnMisprediction: func(w prediction.Misprediction) { a.told[n] = append(a.told[n], w) }},
			simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		a.clients, a.games = append(a.clients, c), append(a.games, cg)
	}
	return a
}

// every runs fn every d, from 2 s to 12 s.
func (a *afternoon) every(d time.Duration, fn func(f *foretick.ServerFrame)) {
	for at := 2 * time.Second; at < 12*time.Second; at += d {
		a.m.Net.At(at, func() { fn(a.srv.Frame()) })
	}
}

// Only faults of the code get the cause Code. Actions of the server, of another
// player or of the network have their own causes.
func TestCausesAreNamed(t *testing.T) {
	walk := func(_ int, v client.View) brush { return brush{X: float32(v.Tick/20%2)*2 - 1} }
	frames := 0
	wander := func(int, client.View) brush { // another command whenever the same tick's is made
		frames++
		return brush{X: float32(frames*7919%257)/128 - 1}
	}
	good := sim.Link{Latency: 50 * time.Millisecond}
	for name, c := range map[string]struct {
		players int
		link    sim.Link
		sample  func(n int, v client.View) brush
		do      func(a *afternoon)
		want    prediction.Cause
		system  string
		least   int
	}{
		"another player paints": {2, good, func(n int, v client.View) brush {
			return brush{Paint: n == 1 && v.Tick%10 == 0}
		}, nil, prediction.RemoteInput, "", 20},
		"both paint": {2, good, func(_ int, v client.View) brush {
			return brush{Paint: v.Tick%10 == 0}
		}, nil, prediction.RemoteInput, "", 20},
		"a request's handler": {1, good, walk, func(a *afternoon) {
			a.every(time.Second, func(*foretick.ServerFrame) { _ = a.games[0].heal.Send(a.clients[0], heal{3}) })
		}, prediction.ServerEffect, "request heal", 8},
		"an edit between ticks": {1, good, walk, func(a *afternoon) {
			a.every(time.Second, func(f *foretick.ServerFrame) { a.g.pos.Get(f.World, a.g.bodies[1]).Y++ })
		}, prediction.ServerEffect, "(outside of systems)", 8},
		"an edit through Do": {1, good, walk, func(a *afternoon) {
			a.every(time.Second, func(*foretick.ServerFrame) {
				require.NoError(t, a.srv.Do("editor", func(f *foretick.ServerFrame) {
					require.NoError(t, f.World.SetValue(a.g.bodies[1], "position.Y", a.g.pos.Get(f.World, a.g.bodies[1]).Y+1))
				}))
			})
		}, prediction.ServerEffect, "(an edit of the running server)", 8},
		"a component taken between ticks": {1, good, walk, func(a *afternoon) {
			a.every(time.Second, func(f *foretick.ServerFrame) {
				if e := a.g.packs[1]; a.g.pos.Has(f.World, e) {
					a.g.pos.Remove(f.World, e)
				} else {
					a.g.pos.Add(f.World, e, position{})
				}
			})
		}, prediction.ServerEffect, "(outside of systems)", 8},
		"hidden own entities": {1, good, walk, func(a *afternoon) {
			hidden := false
			a.every(time.Second, func(f *foretick.ServerFrame) {
				hidden = !hidden
				f.SetVisible(1, a.g.packs[1], !hidden)
			})
		}, prediction.ServerEffect, "(hidden from its own player)", 3},
		"destroyed own entities": {1, good, walk, func(a *afternoon) {
			a.every(time.Second, func(f *foretick.ServerFrame) {
				f.Destroy(a.g.packs[1])
				a.m.Net.At(a.m.Net.Now()+500*time.Millisecond, func() { a.g.packs[1] = a.srv.Frame().Spawn(&a.g.pack, 1) })
			})
		}, prediction.ServerEffect, "(outside of systems)", 3},
		"a parent's children": {2, good, walk, func(a *afternoon) {
			a.every(time.Second, func(f *foretick.ServerFrame) { // makes an entity of another player a child of the first player's
				e := f.Spawn(&a.g.pack, 1)
				_ = f.World.SetParent(a.g.packs[2], e)
				a.m.Net.At(a.m.Net.Now()+500*time.Millisecond, func() {
					a.srv.Frame().Destroy(e)
					a.g.packs[2] = a.srv.Frame().Spawn(&a.g.pack, 2)
				})
			})
		}, prediction.ServerEffect, "(outside of systems)", 3},
		"a stalled server": {1, sim.Link{Latency: 150 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.4}, wander, func(a *afternoon) {
			for at := 2 * time.Second; at < 12*time.Second; at += 5 * time.Second {
				a.m.Net.At(at, func() { a.m.FreezeServer(true) })
				a.m.Net.At(at+3*time.Second, func() { a.m.FreezeServer(false) })
			}
		}, prediction.Input, "", 1},
		"lost commands": {1, sim.Link{Latency: 50 * time.Millisecond, Loss: 0.3}, wander, nil, prediction.Input, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAfternoon(t, c.players, c.link, c.sample)
			if c.do != nil {
				c.do(a)
			}
			a.m.Run(15 * time.Second)
			require.NoError(t, a.m.Err())
			n, by := 0, map[prediction.Cause]int{}
			defer func() { t.Log(name, n, by) }()
			for _, told := range a.told {
				for _, w := range told {
					by[w.Cause]++
				}
			}
			for _, told := range a.told {
				for _, w := range told {
					require.Equal(t, c.want, w.Cause, w.String())
					if c.system != "" {
						require.Equal(t, c.system, w.System, w.String())
					}
					n++
				}
			}
			require.GreaterOrEqual(t, n, c.least)
		})
	}
}

// A stall counts once, however many ticks it lasts: not once for each of them.
func TestStallCountsOnce(t *testing.T) {
	frames := 0
	good, cut := sim.Link{Latency: 40 * time.Millisecond}, sim.Link{Loss: 1}
	a := newAfternoon(t, 1, good, func(int, client.View) brush {
		frames++
		return brush{X: float32(frames*7919%257)/128 - 1}
	})
	const stalls = 4
	for n := range stalls {
		at := time.Duration(2+3*n) * time.Second
		a.m.Net.At(at, func() { a.m.Link(a.clients[0], cut, good) })
		a.m.Net.At(at+time.Second, func() { a.m.Link(a.clients[0], good, good) })
	}
	a.m.Run(16 * time.Second)
	require.Len(t, a.told[0], stalls)
	require.EqualValues(t, stalls, a.clients[0].Stats().Mispredictions)
	require.EqualValues(t, stalls, a.clients[0].Stats().ByCause.Of(prediction.Input))
	for _, w := range a.told[0] {
		require.Contains(t, w.Why(), "did not arrive in time; the server repeated the last one", w.String())
		require.NotEqual(t, w.Input, w.Executed)
	}
}

// If a missing command was replaced by an equal one, the command is not the cause of a correction
// in that tick: the planted fault is.
func TestCommandReplacedByItsLike(t *testing.T) {
	a := newAfternoon(t, 1, sim.Link{Latency: 40 * time.Millisecond, Loss: 0.3}, func(int, client.View) brush { return brush{X: 0.5} })
	a.games[0].bias = true
	a.m.Run(30 * time.Second)
	code := 0
	for _, w := range a.told[0] {
		switch {
		case w.Cause == prediction.Code:
			code++
		case w.Tick >= 60: // at first it has sent none
			require.Equal(t, prediction.Untracked, w.Cause, "but where the snapshot was lost: %v", w)
		}
	}
	require.Greater(t, code, len(a.told[0])*9/10)
	require.Greater(t, code, 20)
}

// SyncTest does not blame the code for effects of another player on common entities.
func TestSyncTestIsSilentOnOtherPlayers(t *testing.T) {
	for name, end := range map[string]func() simtest.Player{
		"painters": func() simtest.Player {
			g := &garden{}
			return simtest.Player{Protocol: g.protocol(), Begin: func(s *server.Server) {
				for k := range 4 {
					g.tile.Get(s.World(), s.Frame().Spawn(&g.slab, ecs.Nobody)).At = uint8(k)
				}
			}, Sample: client.Sample(&g.cmd, func(v client.View) brush { return brush{Paint: v.Tick%5 == 0} })}
		},
		"two who push one crate": func() simtest.Player {
			g := &crates{}
			return simtest.Player{Protocol: g.protocol(), Begin: func(s *server.Server) { s.Frame().Spawn(&g.crate, ecs.Nobody) },
				Sample: client.Sample(&g.cmd, func(v client.View) move { return move{X: float32(3-2*int(v.Player)) * float32(v.Tick/30%2)} })}
		},
	} {
		t.Run(name, func(t *testing.T) {
			simtest.SyncTest(t, end, simtest.SyncConfig{Ticks: 600})
		})
	}
}
