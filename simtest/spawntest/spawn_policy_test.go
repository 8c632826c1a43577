package spawntest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// A client's ClientOnly bullets continue through rollbacks, each once, even if the server
// jams the gun. The client never sees the server's copies of its own bullets, but the other
// player does.
func TestLocalSpawns(t *testing.T) {
	link := sim.Link{Latency: 70 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05}
	const until = 12 * time.Second
	b := newBattery(t, 9, 2, link, func(g *artillery) { g.jams = true }, gunner{every: 5, until: until, bullets: true})
	*b.gunners[1] = gunner{every: 1 << 20} // does not shoot
	q := ecs.NewQuery(b.clients[0].View().World.Types(), ecs.With(&b.games[0].flight))
	look := ecs.NewQuery(b.clients[1].View().World.Types(), ecs.With(&b.games[1].flight))
	seen, most, last, flown := map[ecs.Entity]int{}, 0, map[ecs.Entity]float32{}, 0
	onlooker := 0
	for now := 2 * time.Second; now < until+5*time.Second; now += time.Second / 60 {
		b.m.Run(now)
		n := 0
		for _, rows := range q.All(b.clients[0].View().World) {
			require.Equal(t, ecs.ClientOnly, rows.Owner(), "the server's are withheld")
			for i, f := range b.games[0].flight.Slice(rows) {
				e := rows.Entity(i)
				if before, ok := last[e]; ok && f.X != before {
					flown++
					require.Negative(t, (f.X-before)*60, "a bullet that a rollback touched")
				}
				last[e] = f.X
				seen[e]++
				n++
			}
		}
		most = max(most, n)
		for _, rows := range look.All(b.clients[1].View().World) {
			require.Equal(t, foretick.PlayerID(1), rows.Owner())
			onlooker += rows.Len()
		}
	}
	b.rest(t)
	st := b.clients[0].Stats()
	require.NotZero(t, st.ByCause.Of(prediction.ServerEffect), "the jams were corrected")
	require.NotZero(t, st.Resimulated)
	require.Zero(t, st.SpawnsPredicted)
	require.Equal(t, b.games[0].bullets, len(seen), "none twice")
	require.Greater(t, len(seen), 200)
	require.Less(t, b.server.bullets, len(seen), "jammed guns fire on the client alone")
	require.Greater(t, flown, 1000)
	require.Greater(t, onlooker, 1000)
	require.LessOrEqual(t, most, 60)
}

// minefield is a game in which a player lays mines and clears them, unless the
// server has locked them without warning.
type minefield struct {
	state ecs.Component[mineState]
	cmd   ecs.Component[layer]
	body  ecs.Prefab
	mine  ecs.Prefab

	lock                                bool
	cleared                             map[ecs.Entity]foretick.Tick
	predicted, restored, confirmed, off int
	back                                []ecs.Entity
}

type mineState struct {
	Lock   uint8  `net:"max=60"`
	Serial uint16 `net:"max=60000"`
}

type layer struct {
	Lay   bool `net:"oneshot"`
	Clear bool `net:"oneshot"`
}

func (g *minefield) protocol() *foretick.Protocol {
	g.cleared = map[ecs.Entity]foretick.Tick{}
	p := foretick.NewProtocol("minefield", 1)
	p.Component(&g.state, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.cmd)
	p.Prefab(&g.mine, "mine", &g.state, &g.cmd)
	p.Spawns(&g.mine, foretick.SpawnConfig{
		OnPredicted: func(f *foretick.Frame, e ecs.Entity) { g.predicted++ },
		OnConfirmed: func(*foretick.Frame, ecs.Entity) { g.confirmed++ },
		OnCancelled: func(*foretick.Frame, ecs.Entity) { g.off++ },
		OnRestored: func(f *foretick.Frame, e ecs.Entity) {
			g.restored++
			g.back = append(g.back, e)
		},
	})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Server("lock", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, s := 0, g.state.Slice(rows); i < len(s); i++ {
			if g.lock && f.Time() < 25*time.Second && f.Rand(uint64(i))%20 == 0 {
				s[i].Lock = 20
			}
		}
	}, ecs.Write(&g.state), ecs.Before("clear"))
	p.Shared("clear", func(f *foretick.Frame, rows ecs.Rows) {
		s, cmd := g.state.Slice(rows), g.cmd.Slice(rows)
		for i := range s {
			if s[i].Lock > 0 {
				s[i].Lock--
			} else if cmd[i].Clear && f.Destroy(rows.Entity(i)) && !f.IsServer() {
				g.cleared[rows.Entity(i)] = f.Tick
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.state), ecs.Structural())
	p.Shared("lay", func(f *foretick.Frame, rows ecs.Rows) {
		for i, cmd := 0, g.cmd.Slice(rows); i < len(cmd); i++ {
			if cmd[i].Lay {
				g.state.Get(f.World, f.SpawnBy(rows.Entity(i), &g.mine)).Serial = uint16(f.Tick)
			}
		}
	}, ecs.Read(&g.cmd), ecs.Without(&g.state), ecs.Create(&g.state, &g.cmd), ecs.After("clear"))
	return p
}

// An entity that a player's prediction destroys is gone at once. It comes back with its
// handle and its values if the server did not destroy it.
func TestPredictedDespawns(t *testing.T) {
	link := sim.Link{Latency: 60 * time.Millisecond, Jitter: 15 * time.Millisecond, Loss: 0.03}
	m := simtest.New(21)
	srv, g := &minefield{lock: true}, &minefield{}
	_, err := m.Serve(server.Config{Protocol: srv.protocol()})
	require.NoError(t, err)
	pressed := foretick.Tick(0)
	c, err := m.Join(client.Config{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(v client.View) layer {
		if v.Tick/7 == pressed || m.Net.Now() > 25*time.Second {
			return layer{}
		}
		pressed = v.Tick / 7
		return layer{Lay: pressed%3 != 2, Clear: pressed%3 == 2}
	})}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	gone, returned, serials := 0, 0, map[ecs.Entity]uint16{}
	for now := 2 * time.Second; now < 30*time.Second; now += time.Second / 60 {
		g.back = g.back[:0]
		w := c.View().World
		var absent []ecs.Entity // entities that were shown, and that prediction destroyed
		for e := range g.cleared {
			if g.state.Find(w, e) == nil {
				absent = append(absent, e)
			}
		}
		m.Run(now)
		for _, e := range absent {
			if g.state.Find(w, e) != nil {
				returned++
				require.Contains(t, g.back, e, "tick %d: %v is back, and nobody was told", c.View().Tick, e)
			}
		}
		for _, e := range g.back {
			if s := g.state.Find(w, e); s != nil && serials[e] != 0 {
				require.Equal(t, serials[e], s.Serial, "%v came back as another", e)
			}
		}
		for e, tick := range g.cleared {
			if s := g.state.Find(w, e); s == nil {
				gone++
			} else if c.View().Tick == tick {
				t.Fatalf("%v is shown in the tick in which it was destroyed", e)
			}
		}
		for _, rows := range ecs.NewQuery(w.Types(), ecs.With(&g.state)).Owned(w, c.View().Player) {
			for i, s := range g.state.Slice(rows) {
				serials[rows.Entity(i)] = s.Serial
			}
		}
	}
	st := c.Stats()
	t.Logf("%d mines, %d restored, %d mispredictions %v", g.predicted, g.restored, st.Mispredictions, st.ByCause)
	a := m.Audit(c)
	require.Zero(t, a.Differences, a.First)
	require.Greater(t, g.predicted, 60)
	require.Equal(t, g.predicted, g.confirmed+g.off)
	require.Greater(t, g.restored, 5)
	require.Greater(t, returned, 5)
	require.Greater(t, gone, 1000)
	require.Zero(t, st.ByCause.Of(prediction.Code))
	require.NotZero(t, st.ByCause.Of(prediction.ServerEffect))
}

// A shared system that makes a spawn that no client can match gets an error at its
// first call, on either end.
func TestSpawnsThatAreMistakes(t *testing.T) {
	type end struct {
		state ecs.Component[mineState]
		cmd   ecs.Component[layer]
		body  ecs.Prefab
		mine  ecs.Prefab
		own   ecs.Prefab
	}
	for want, c := range map[string]struct {
		declare func(*end, *foretick.Protocol)
		spawn   func(*end, *foretick.Frame, ecs.Entity)
		access  []ecs.Access
	}{
		"without a spawner: use SpawnBy": {nil, func(g *end, f *foretick.Frame, by ecs.Entity) {
			(&foretick.ServerFrame{Frame: f}).Spawn(&g.mine, f.World.Owner(by))
		}, nil},
		"declare it with Protocol.Spawns": {nil, func(g *end, f *foretick.Frame, by ecs.Entity) { f.SpawnBy(by, &g.own) }, nil},
		"declare it on the system with ecs.Create": {
			nil, func(g *end, f *foretick.Frame, by ecs.Entity) { f.SpawnBy(by, &g.mine) }, []ecs.Access{},
		},
		"which nobody owns": {nil, func(g *end, f *foretick.Frame, _ ecs.Entity) {
			for _, rows := range ecs.NewQuery(f.World.Types(), ecs.With(&g.state), ecs.Without(&g.cmd)).All(f.World) {
				f.SpawnBy(rows.Entity(0), &g.mine)
			}
		}, nil},
		"name a spawner among the system's own rows": {nil, func(g *end, f *foretick.Frame, by ecs.Entity) {
			for _, rows := range ecs.NewQuery(f.World.Types(), ecs.With(&g.cmd)).All(f.World) {
				if rows.Owner() != f.World.Owner(by) {
					f.SpawnBy(rows.Entity(0), &g.mine)
				}
			}
		}, nil},
	} {
		t.Run(want, func(t *testing.T) {
			protocol := func() *foretick.Protocol {
				g := &end{}
				p := foretick.NewProtocol("mistakes", 1)
				p.Component(&g.state, foretick.Predicted())
				p.Command(&g.cmd)
				p.Prefab(&g.body, "body", &g.cmd)
				p.Prefab(&g.own, "furniture", &g.state)
				p.Prefab(&g.mine, "mine", &g.state)
				p.Spawns(&g.mine, foretick.SpawnConfig{})
				p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
					f.Spawn(&g.body, player)
					f.Spawn(&g.own, ecs.Nobody)
				})
				access := append([]ecs.Access{ecs.Read(&g.cmd)}, c.access...)
				if c.access == nil {
					access = append(access, ecs.Create(&g.state))
				}
				p.Shared("mistake", func(f *foretick.Frame, rows ecs.Rows) { c.spawn(g, f, rows.Entity(0)) }, access...)
				return p
			}
			m := simtest.New(1)
			_, err := m.Serve(server.Config{Protocol: protocol()})
			require.NoError(t, err)
			for range 2 {
				_, err = m.Join(client.Config{Protocol: protocol()}, simtest.Seat{})
				require.NoError(t, err)
			}
			defer func() {
				err, ok := recover().(foretick.UsageError)
				require.True(t, ok, "it panicked with a UsageError")
				require.Contains(t, err.Error(), want)
			}()
			m.Run(2 * time.Second)
			t.Fatal("nothing was said")
		})
	}
}

func TestSpawnsDeclaredWrongly(t *testing.T) {
	g := &minefield{}
	p := g.protocol()
	var other ecs.Prefab
	p.Spawns(&other, foretick.SpawnConfig{})
	p.Spawns(&g.mine, foretick.SpawnConfig{})
	err := p.Err()
	require.ErrorContains(t, err, "call Prefab first")
	require.ErrorContains(t, err, `Spawns("mine") was called twice`)
	h := &minefield{}
	q := h.protocol()
	q.Spawns(&h.body, foretick.SpawnConfig{ClientOnly: true})
	require.ErrorContains(t, q.Err(), "a ClientOnly entity gets no input")
}

// listener stores the packets that a client receives.
type listener struct {
	transport.Endpoint
	in *[][]byte
}

func (r listener) Recv(ev []transport.Event) int {
	n := r.Endpoint.Recv(ev)
	for i := range ev[:n] {
		if ev[i].Kind == transport.Data {
			*r.in = append(*r.in, append([]byte{}, ev[i].Data...))
		}
	}
	return n
}

// Only the owner learns which entity spawned another. Two matches that differ only in
// the entities that one player sees send the other player the same bytes, although the
// spawn ids differ.
func TestOriginsStayPrivate(t *testing.T) {
	gifts := 0
	play := func(decoy bool) (in [2][][]byte, spawns uint64) {
		m := simtest.New(8)
		truth := newArtillery()
		p := truth.protocol()
		var d ecs.Entity // shown to player 1 before its guns, so that these get other wire ids
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.SetVisible(player, d, decoy && player == 1) })
		p.Server("gift", func(f *foretick.ServerFrame, rows ecs.Rows) { // rockets of player 1 are transferred to player 2
			if f.Tick%10 == 0 && rows.Owner() == 1 {
				gifts++
				require.NoError(t, f.World.Transfer(rows.Entity(0), 2))
			}
		}, ecs.Read(&truth.flight, &truth.shrapnel), ecs.Structural())
		srv, err := m.Serve(server.Config{Protocol: p, SendRate: 200_000})
		require.NoError(t, err)
		d = srv.Frame().Spawn(&truth.gun, ecs.Nobody)
		var clients []*client.Client
		link := sim.Link{Latency: 30 * time.Millisecond}
		for n := range 2 {
			g, s := newArtillery(), gunner{every: 9, until: 6 * time.Second}
			c, err := m.Join(client.Config{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(v client.View) trigger { return s.sample(m, v) })},
				simtest.Seat{Up: link, Down: link, Wrap: func(e transport.Endpoint) transport.Endpoint { return listener{e, &in[n]} }})
			require.NoError(t, err)
			clients = append(clients, c)
		}
		m.Run(8 * time.Second)
		if clients[0].View().Player != 1 { // orders both by player
			in[0], in[1], clients[0] = in[1], in[0], clients[1]
		}
		return in, clients[0].Stats().SpawnsMatched
	}
	with, n := play(true)
	without, _ := play(false)
	require.NotZero(t, n)
	require.NotZero(t, gifts)
	require.NotEqual(t, with[0], without[0], "the one sees the decoy, and has other wire ids by it")
	require.Equal(t, len(with[1]), len(without[1]))
	for i := range with[1] {
		require.Equal(t, with[1][i], without[1][i], "packet %d", i)
	}
}

// SyncTest replays ticks that spawn and destroy, and finds no fault. If a system's state outside
// of components decides what is spawned, it names the prefab.
func TestSyncTestSpawns(t *testing.T) {
	for _, planted := range []bool{false, true} {
		faults, err := simtest.FindDesyncs(func() simtest.Player {
			g := newArtillery()
			g.pieces = 2
			p := g.protocol()
			calls := 0
			p.Shared("planted", func(f *foretick.Frame, rows ecs.Rows) {
				if calls++; planted && calls%5 == 0 {
					g.launch(f, rows.Entity(0), &g.fragment, 3, 3, 9)
				}
			}, ecs.Read(&g.turret), ecs.Create(&g.flight))
			return simtest.Player{Protocol: p, Sample: client.Sample(&g.cmd, func(v client.View) trigger {
				return trigger{Rockets: v.Tick%8 < 4, Bullets: v.Tick%8 > 4}
			})}
		}, simtest.SyncConfig{Ticks: 45})
		require.NoError(t, err)
		if !planted {
			require.Empty(t, faults)
			continue
		}
		require.Contains(t, strings.Join(faults, "\n"), "fragment")
		require.Contains(t, strings.Join(faults, "\n"), `"planted"`)
	}
}

// In a world with far too many changes for the byte budget, a player's spawns are confirmed as
// soon as in an empty world: its own entities are never postponed for others.
func TestOwnSpawnsAreNeverPutOff(t *testing.T) {
	play := func(crowd int) (waited foretick.Tick, st stats.Client, postponed bool) {
		m := simtest.New(13)
		truth := newArtillery()
		p := truth.protocol()
		p.Server("swarm", func(f *foretick.ServerFrame, rows ecs.Rows) {
			at := truth.flight.Slice(rows)
			for i := range at {
				if rows.Owner() == ecs.Nobody { // these entities move back and forth forever
					at[i].Fuse, at[i].VX = 100, float32(f.Rand(uint64(i))%60)-30
				}
			}
		}, ecs.Write(&truth.flight), ecs.Before("fly"))
		srv, err := m.Serve(server.Config{Protocol: p, SendRate: 16_000})
		require.NoError(t, err)
		for range crowd {
			srv.Frame().Spawn(&truth.fragment, ecs.Nobody)
		}
		g, s := newArtillery(), gunner{every: 12, until: 10 * time.Second}
		g.volley, truth.volley = 2, 2
		var cl *client.Client
		at := map[ecs.Entity]foretick.Tick{}
		g.onPredicted = func(f *foretick.Frame, e ecs.Entity) { at[e] = f.Tick }
		g.onConfirmed = func(f *foretick.Frame, e ecs.Entity) { waited = max(waited, cl.View().Tick-at[e]) }
		link := sim.Link{Latency: 40 * time.Millisecond}
		cl, err = m.Join(client.Config{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(v client.View) trigger { return s.sample(m, v) })},
			simtest.Seat{Up: link, Down: link, After: func(v client.View) {
				shown := probe.OfClient(cl).ScreenHash()
				postponed = postponed || shown.Tick > 0 && shown.Fields == 0
			}})
		require.NoError(t, err)
		m.Run(12 * time.Second)
		return waited, cl.Stats(), postponed
	}
	empty, st, postponed := play(0)
	require.False(t, postponed)
	require.Greater(t, st.SpawnsMatched, uint64(50))
	busy, again, postponed := play(600)
	require.True(t, postponed, "others are put off")
	require.Equal(t, st.SpawnsMatched, again.SpawnsMatched)
	require.Zero(t, again.SpawnsCancelled)
	require.LessOrEqual(t, busy, empty+1)
}

// Volleys of late inputs are spawned in their own tick: the server's rockets match those that
// the client predicted, once each, in every run of a tick.
func TestLateInputsSpawn(t *testing.T) {
	for _, world := range []bool{false, true} {
		until := 12 * time.Second
		b := newBattery(t, 4, 4, sim.LTE, func(g *artillery) { g.late, g.world = 200*time.Millisecond, world }, gunner{every: 2, until: until})
		b.m.Run(until + 5*time.Second)
		b.rest(t)
		st := b.srv.Stats()
		t.Logf("whole world %t: %v", world, st)
		require.Greater(t, st.InputsRerun+st.InputsHindsight, uint64(3))
		require.Greater(t, st.InputsRerun, uint64(1))
		for _, c := range b.clients {
			cs := c.Stats()
			require.Zero(t, cs.ByCause.Of(prediction.Code))
			require.Greater(t, cs.SpawnsMatched, uint64(100))
		}
	}
}
