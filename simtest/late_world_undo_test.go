package simtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// undoGame is a game with a hook, after, that each test sets. The hook writes state that depends
// on which players fire in a tick.
type undoCoin struct {
	X     float32
	Worth uint32 `net:"to=buyers"`
}
type undoMark struct{ Stun, Fired uint8 }
type undoTold struct{ N uint32 }
type undoGame struct {
	pos    ecs.Component[footing]
	mark   ecs.Component[undoMark]
	coin   ecs.Component[undoCoin]
	cmd    ecs.Component[lunge]
	body   ecs.Prefab
	money  ecs.Prefab
	boom   foretick.Event[foretick.Tick]
	told   foretick.Message[undoTold]
	bodies *ecs.Query
	coins  *ecs.Query
	buyers schema.Audience
	finals []string
	heard  []uint32
	// after is called by a server system.
	after func(f *foretick.ServerFrame, fired func(p foretick.PlayerID) bool)
	T     foretick.Tick
}

func (g *undoGame) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("undoGame", 1)
	g.buyers = p.Audience("buyers")
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.mark)
	p.Component(&g.coin)
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.mark, &g.cmd)
	p.Prefab(&g.money, "coin", &g.coin)
	g.bodies = p.Query(ecs.With(&g.pos))
	g.coins = p.Query(ecs.With(&g.coin))
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		cmd := g.cmd.Slice(rows)
		for i := range cmd {
			if cmd[i].Fire {
				g.boom.Raise(f, rows.Entity(i), f.Tick)
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	g.boom.OnFinal(p, func(f *foretick.ServerFrame, by foretick.By, v foretick.Tick) {
		if f.Replay { // a replay of the tick calls the handler again
			return
		}
		g.finals = append(g.finals, fmt.Sprintf("tick %d final %d replay %v by %d of %d", f.Tick, f.Final(), f.Replay, by.Player, v))
	})
	p.Server("after", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if g.after != nil {
			g.after(f, func(pl foretick.PlayerID) bool {
				for _, rows := range g.bodies.Owned(f.World, pl) {
					for _, c := range g.cmd.Slice(rows) {
						if c.Fire {
							return true
						}
					}
				}
				return false
			})
		}
	}, ecs.Once(), ecs.Structural(), ecs.Create(&g.coin), ecs.ReadOther(&g.cmd), ecs.WriteOther(&g.mark, &g.coin, &g.pos))
	g.told.OnClient(p, func(_ *foretick.Frame, t foretick.Tick, v undoTold) { g.heard = append(g.heard, v.N) })
	return p
}

func (g *undoGame) count(w *ecs.World) (n int) {
	for _, rows := range g.coins.All(w) {
		n += rows.Len()
	}
	return n
}

// worth returns what a client's player sees of the worth of all coins.
func (g *undoGame) worth(w *ecs.World) (sum uint32) {
	for _, rows := range g.coins.All(w) {
		for _, coin := range g.coin.Slice(rows) {
			sum += coin.Worth
		}
	}
	return sum
}

type undoMatch struct {
	m       *simtest.Match
	srv     *server.Server
	games   []*undoGame
	clients []*client.Client
	h       []*holder
}

// playUndone starts a match in which each player in fires fires in the given tick.
func playUndone(t *testing.T, g *undoGame, fires map[foretick.PlayerID]foretick.Tick) *undoMatch {
	m := simtest.New(3)
	srv, err := m.Serve(server.Config{Protocol: g.protocol(), Late: server.Late{Window: lateWindow, World: true}, Observe: func(server.Observer) (server.Grant, error) {
		return server.OfPlayer(1), nil
	}})
	require.NoError(t, err)
	x := &undoMatch{m: m, srv: srv}
	link := sim.Link{Latency: 20 * time.Millisecond}
	for range 3 {
		c, h := &undoGame{}, &holder{}
		seat := simtest.Seat{Up: link, Down: link, Wrap: func(e transport.Endpoint) transport.Endpoint { h.Endpoint = e; return h }}
		cl, err := m.Join(client.Config{Protocol: c.protocol(), Sample: client.Sample(&c.cmd, func(v client.View) lunge {
			return lunge{Fire: v.Tick+1 == fires[v.Player]}
		})}, seat)
		require.NoError(t, err)
		x.games, x.clients, x.h = append(x.games, c), append(x.clients, cl), append(x.h, h)
		m.Run(m.Net.Now() + 300*time.Millisecond)
	}
	return x
}

func (x *undoMatch) until(t foretick.Tick) {
	for x.srv.Tick() < t {
		x.m.Run(x.m.Net.Now() + time.Second/120)
	}
}

const undoTick = 200

// The OnFinal handler of an event runs once, apart from replays.
func TestLateWorldUndoesFinal(t *testing.T) {
	g := &undoGame{}
	x := playUndone(t, g, map[foretick.PlayerID]foretick.Tick{2: undoTick})
	x.until(undoTick - 5)
	x.h[1].holds = true
	x.until(undoTick + 1)
	x.h[1].release(t)
	x.until(undoTick + 60)
	t.Log(g.finals, x.srv.Stats().InputsRerun, x.srv.Stats().InputsHindsight)
	require.Len(t, g.finals, 1)
	require.Contains(t, g.finals[0], "replay false")
}

// An event is not final while another player's command is missing.
func TestLateWorldUndoesFinalTooEarly(t *testing.T) {
	g := &undoGame{}
	x := playUndone(t, g, map[foretick.PlayerID]foretick.Tick{2: undoTick})
	x.until(undoTick - 6)
	x.h[2].holds = true
	x.until(undoTick - 5)
	x.h[1].holds = true
	x.until(undoTick)
	x.h[1].release(t)
	x.until(undoTick + 60)
	t.Log(g.finals, x.srv.Stats().InputsRerun, x.srv.Stats().InputsHindsight)
	require.Len(t, g.finals, 1)
}

// An entity that a tick hid in one run is visible again if the next run does not hide it.
func TestLateWorldUndoesVisibleTwice(t *testing.T) {
	g := &undoGame{}
	var coin ecs.Entity
	g.after = func(f *foretick.ServerFrame, fired func(foretick.PlayerID) bool) {
		if f.Tick == 100 {
			coin = f.Spawn(&g.money, ecs.Nobody)
		}
		if f.Tick == undoTick {
			t.Log("run of T: replay", f.Replay, fired(2), fired(3))
		}
		if f.Tick == undoTick && fired(2) && !fired(3) {
			f.SetVisible(1, coin, false)
		}
	}
	x := playUndone(t, g, map[foretick.PlayerID]foretick.Tick{2: undoTick, 3: undoTick})
	x.until(undoTick - 5)
	require.Equal(t, 1, x.games[0].count(x.clients[0].View().World))
	x.h[1].holds, x.h[2].holds = true, true
	x.until(undoTick)
	x.h[1].release(t)
	x.until(undoTick + 2)
	x.h[2].release(t)
	x.until(undoTick + 60)
	require.Equal(t, 1, x.games[0].count(x.clients[0].View().World))
}

// An entity that only the first run hid is shown, although it has the same network id.
func TestLateWorldUndoesNetReused(t *testing.T) {
	g := &undoGame{}
	g.after = func(f *foretick.ServerFrame, fired func(foretick.PlayerID) bool) {
		if f.Tick == undoTick {
			t.Log("run of T: replay", f.Replay, fired(2))
			e := f.Spawn(&g.money, ecs.Nobody)
			if !fired(2) {
				f.SetVisible(1, e, false)
			}
		}
	}
	x := playUndone(t, g, map[foretick.PlayerID]foretick.Tick{2: undoTick})
	x.until(undoTick - 5)
	x.h[1].holds = true
	x.until(undoTick + 1)
	x.h[1].release(t)
	x.until(undoTick + 60)
	require.Equal(t, 1, x.games[1].count(x.clients[1].View().World))
	require.Equal(t, 1, x.games[0].count(x.clients[0].View().World))
}

// An entity whose removal is undone comes back on every screen.
func TestLateWorldUndoesUndestroyed(t *testing.T) {
	g := &undoGame{}
	var coin ecs.Entity
	g.after = func(f *foretick.ServerFrame, fired func(foretick.PlayerID) bool) {
		if f.Tick == 100 {
			coin = f.Spawn(&g.money, ecs.Nobody)
		}
		if f.Tick == undoTick {
			t.Log("run of T: replay", f.Replay, fired(2))
		}
		if f.Tick == undoTick && !fired(2) {
			f.Destroy(coin)
		}
	}
	x := playUndone(t, g, map[foretick.PlayerID]foretick.Tick{2: undoTick})
	x.until(undoTick - 5)
	x.h[1].holds = true
	x.until(undoTick + 2)
	x.h[1].release(t)
	x.until(undoTick + 90)
	require.Equal(t, 1, g.count(x.srv.World()))
	require.Equal(t, 1, x.games[1].count(x.clients[1].View().World))
	require.Equal(t, 1, x.games[0].count(x.clients[0].View().World))
}

// An entity whose removal is undone stays hidden from the players from which it was hidden before.
func TestLateWorldUndoesUndestroyedHidden(t *testing.T) {
	g := &undoGame{}
	var coin ecs.Entity
	g.after = func(f *foretick.ServerFrame, fired func(foretick.PlayerID) bool) {
		if f.Tick == 100 {
			coin = f.Spawn(&g.money, ecs.Nobody)
			f.SetVisible(1, coin, false)
		}
		if f.Tick == undoTick && !fired(2) {
			f.Destroy(coin)
		}
		if f.Tick == undoTick+1 {
			f.Spawn(&g.money, ecs.Nobody) // gets the number of the first coin in the snapshots
		}
	}
	x := playUndone(t, g, map[foretick.PlayerID]foretick.Tick{2: undoTick})
	x.until(undoTick - 5)
	x.h[1].holds = true
	x.until(undoTick + 3)
	x.h[1].release(t)
	x.until(undoTick + 90)
	require.Equal(t, 2, g.count(x.srv.World()))
	require.Equal(t, 2, x.games[1].count(x.clients[1].View().World))
	require.Equal(t, 1, x.games[0].count(x.clients[0].View().World))
}

// Who could see a field of an entity whose removal is undone sees it again: a player, and an observer with its view.
func TestLateWorldUndoesUndestroyedAudience(t *testing.T) {
	g := &undoGame{}
	var coin ecs.Entity
	g.after = func(f *foretick.ServerFrame, fired func(foretick.PlayerID) bool) {
		if f.Tick == 100 {
			coin = f.Spawn(&g.money, ecs.Nobody)
			g.coin.Get(f.World, coin).Worth = 500
			f.SetAudience(1, coin, g.buyers, true)
		}
		if f.Tick == undoTick && !fired(2) {
			f.Destroy(coin)
		}
		if f.Tick == undoTick+1 {
			f.Spawn(&g.money, ecs.Nobody) // gets the number of the first coin in the snapshots
		}
	}
	x := playUndone(t, g, map[foretick.PlayerID]foretick.Tick{2: undoTick})
	watched := &undoGame{}
	observer, err := x.m.Join(client.Config{Protocol: watched.protocol(), Observe: &client.Observe{}}, simtest.Seat{})
	require.NoError(t, err)
	see := func() []uint32 {
		return []uint32{x.games[0].worth(x.clients[0].View().World), x.games[1].worth(x.clients[1].View().World), watched.worth(observer.View().World)}
	}
	x.until(undoTick - 5)
	require.Equal(t, []uint32{500, 0, 500}, see())
	x.h[1].holds = true
	x.until(undoTick + 3)
	x.h[1].release(t)
	x.until(undoTick + 90)
	require.Equal(t, 2, g.count(x.srv.World()))
	require.Equal(t, []uint32{500, 0, 500}, see())
}

// An entity that the program hides or shows between Steps stays so when ticks run again.
func TestLateWorldUndoesOutsideVisible(t *testing.T) {
	g := &undoGame{}
	var coin ecs.Entity
	g.after = func(f *foretick.ServerFrame, fired func(foretick.PlayerID) bool) {
		if f.Tick == 100 {
			coin = f.Spawn(&g.money, ecs.Nobody)
		}
		if f.Tick == undoTick {
			f.SetVisible(1, coin, false)
		}
	}
	x := playUndone(t, g, map[foretick.PlayerID]foretick.Tick{2: undoTick})
	x.until(undoTick - 5)
	x.h[1].holds = true
	x.until(undoTick + 1)
	x.srv.Frame().SetVisible(1, coin, true) // the program shows it again
	x.h[1].release(t)
	x.until(undoTick + 60)
	t.Log(x.srv.Stats().InputsRerun)
	require.Equal(t, 1, x.games[0].count(x.clients[0].View().World))
}

// Messages that the program sends between Steps keep their order among those of ticks that run again.
func TestLateWorldUndoesOrder(t *testing.T) {
	g := &undoGame{}
	g.after = func(f *foretick.ServerFrame, fired func(foretick.PlayerID) bool) {
		if f.Tick >= undoTick-10 && f.Tick < undoTick+10 {
			_ = g.told.Send(f, 1, undoTold{f.Tick * 10})
		}
	}
	x := playUndone(t, g, map[foretick.PlayerID]foretick.Tick{2: undoTick})
	x.until(undoTick - 5)
	x.h[1].holds = true
	x.until(undoTick + 1)
	require.NoError(t, g.told.Send(x.srv.Frame(), 1, undoTold{x.srv.Tick()*10 + 5}))
	x.h[1].release(t)
	x.until(undoTick + 60)
	t.Log(x.srv.Stats().InputsRerun, x.games[0].heard)
	require.IsIncreasing(t, x.games[0].heard)
}

// A kicked player still gets the messages that were sent to it.
func TestLateWorldUndoesKick(t *testing.T) {
	for _, hold := range []bool{false, true} {
		g := &undoGame{}
		g.after = func(f *foretick.ServerFrame, fired func(foretick.PlayerID) bool) {
			if f.Tick == undoTick {
				t.Log("final", f.Final())
				_ = g.told.Send(f, 1, undoTold{7})
				f.Kick(1, transport.Kicked, "you lost")
			}
		}
		x := playUndone(t, g, nil)
		x.until(undoTick - 6)
		x.h[1].holds = hold
		x.until(undoTick + 1)
		x.h[1].release(t)
		x.until(undoTick + 30)
		t.Log(hold, x.games[0].heard)
		if len(x.games[0].heard) != 1 {
			t.Errorf("hold %v: the kicked player did not get its message", hold)
		}
	}
}

// An event that the program raises between Steps is not lost.
func TestLateWorldUndoesOutsideEvent(t *testing.T) {
	for _, hold := range []bool{false, true} {
		g := &undoGame{}
		x := playUndone(t, g, map[foretick.PlayerID]foretick.Tick{2: undoTick - 1})
		x.until(undoTick - 5)
		x.h[1].holds = hold
		x.until(undoTick + 1)
		g.boom.Raise(x.srv.Frame().Frame, ecs.None, 7777)
		x.h[1].release(t)
		x.until(undoTick + 60)
		found := false
		for _, s := range g.finals {
			found = found || len(s) > 4 && s[len(s)-4:] == "7777"
		}
		t.Log(hold, g.finals)
		if !found {
			t.Errorf("hold %v: the event from outside is lost", hold)
		}
	}
}

// A body whose teleport is undone does not slide back.
func TestLateWorldUndoesTeleportUndone(t *testing.T) {
	g := &undoGame{}
	put := func(f *foretick.Frame, x float32) {
		for _, rows := range g.bodies.Owned(f.World, 1) {
			g.pos.Slice(rows)[0].X = x
			f.Teleport(rows.Entity(0))
		}
	}
	g.after = func(f *foretick.ServerFrame, fired func(foretick.PlayerID) bool) {
		if f.Tick == undoTick && !fired(2) {
			put(f.Frame, 15)
		}
	}
	x := playUndone(t, g, map[foretick.PlayerID]foretick.Tick{2: undoTick})
	x.until(undoTick - 6)
	x.h[1].holds = true
	x.until(undoTick + 2)
	x.h[1].release(t)
	var seen []float32
	between := 0
	for x.srv.Tick() < undoTick+40 {
		x.m.Run(x.m.Net.Now() + time.Second/60)
		for _, rows := range x.games[2].bodies.Owned(x.clients[2].View().World, 1) {
			v := x.games[2].pos.Slice(rows)[0].X
			seen = append(seen, v)
			if v > 0.5 && v < 14.5 {
				between++
			}
		}
	}
	t.Log(seen)
	require.Zero(t, between)
}

// A removal by another player's late input is no fault of the code.
func TestLateWorldUndoesCauseOfRemoval(t *testing.T) {
	for _, undone := range []bool{false, true} {
		g := &undoGame{}
		g.after = func(f *foretick.ServerFrame, fired func(foretick.PlayerID) bool) {
			if f.Tick == undoTick && fired(2) != undone {
				for _, rows := range g.bodies.Owned(f.World, 1) {
					f.Destroy(rows.Entity(0))
				}
			}
		}
		x := playUndone(t, g, map[foretick.PlayerID]foretick.Tick{2: undoTick})
		x.until(undoTick - 6)
		x.h[1].holds = true
		x.until(undoTick + 2)
		x.h[1].release(t)
		x.until(undoTick + 60)
		n := 0
		for _, rows := range x.games[0].bodies.Owned(x.clients[0].View().World, 1) {
			n += rows.Len()
		}
		t.Log(undone, n, x.clients[0].Stats().ByCause, prediction.Code, prediction.LateInput)
		require.Zero(t, x.clients[0].Stats().ByCause.Of(prediction.Code))
	}
}
