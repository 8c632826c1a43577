package simtest_test

import (
	"fmt"
	"slices"
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
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// scrum is a game in which everything depends on who was where in each tick: bodies push one
// another, grabs raise events that spawn coins and take from others, coins go to the nearest
// body, and messages tell of all that.
type scrum struct {
	pos   ecs.Component[footing]
	purse ecs.Component[scrumPurse]
	coin  ecs.Component[scrumCoin]
	final ecs.Component[scrumFinal]
	cmd   ecs.Component[lunge]
	body  ecs.Prefab
	money ecs.Prefab
	grab  foretick.Event[foretick.Tick]
	wish  foretick.Request[scrumWish]
	told  foretick.Message[scrumTold]

	bodies, coins *ecs.Query

	last   map[foretick.PlayerID]map[foretick.Tick]lunge // commands of the server's last run of each tick
	asked  map[foretick.Tick][]scrumAsked
	script bool // requests come from asked
	undone int  // runs of a tick with another result than the run before
	sums   map[foretick.Tick]float32
	heard  []string // messages that a client received
	wrong  prediction.ByCause
}

type (
	scrumPurse struct {
		Gold  int32
		Shown uint8
	}
	scrumCoin struct {
		X   float32 `net:"min=-100,max=100,step=0.01"`
		Age uint8
	}
	scrumFinal struct{ Grabs uint32 } // grabs that are final; only the server has it
	scrumWish  struct{ Gold uint16 }
	scrumTold  struct {
		Sum  float32
		Gold int32
	}
	scrumAsked struct {
		by   foretick.PlayerID
		gold uint16
	}
)

const scrumFrom, scrumUntil, scrumEnd = 90, 1500, 1560

func (g *scrum) protocol() *foretick.Protocol {
	g.last, g.asked, g.sums = map[foretick.PlayerID]map[foretick.Tick]lunge{}, map[foretick.Tick][]scrumAsked{}, map[foretick.Tick]float32{}
	p := foretick.NewProtocol("scrum", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.purse)
	p.Component(&g.coin)
	p.LocalComponent(&g.final)
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.purse, &g.cmd, &g.final)
	p.Prefab(&g.money, "coin", &g.coin)
	g.bodies = p.Query(ecs.With(&g.pos))
	g.coins = p.Query(ecs.With(&g.coin))
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.pos.Get(f.World, f.Spawn(&g.body, player)).X = float32(player) * 2
	})
	p.Server("script", func(f *foretick.ServerFrame, _ ecs.Rows) {
		for _, a := range g.asked[f.Tick] {
			if g.script {
				g.give(f.Frame, a)
			}
		}
	}, ecs.Once(), ecs.WriteOther(&g.purse))
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		if f.Tick < scrumFrom {
			return
		}
		for i := range pos {
			if f.IsServer() {
				g.note(rows.Owner(), f.Tick, cmd[i])
			}
			pos[i].X = min(max(pos[i].X+cmd[i].Move*0.2, -20), 20)
			if cmd[i].Fire {
				g.grab.Raise(f, rows.Entity(i), f.Tick)
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	p.Server("push", g.push, ecs.Once(), ecs.WriteOther(&g.pos))
	p.Server("roll", g.roll, ecs.Once(), ecs.Structural(), ecs.ReadOther(&g.pos), ecs.WriteOther(&g.coin, &g.purse))
	g.grab.OnServer(p, g.grabbed, ecs.ReadOther(&g.pos), ecs.WriteOther(&g.purse, &g.coin), ecs.Create(&g.coin))
	g.grab.OnFinal(p, func(f *foretick.ServerFrame, by foretick.By, _ foretick.Tick) {
		for _, rows := range g.bodies.Owned(f.World, by.Player) {
			g.final.Slice(rows)[0].Grabs++
		}
	}, ecs.WriteOther(&g.final))
	p.Server("tell", g.tell, ecs.Once(), ecs.ReadOther(&g.pos, &g.purse, &g.coin))
	g.wish.Handle(p, func(f *foretick.ServerFrame, player foretick.PlayerID, w scrumWish) {
		if f.Tick < scrumFrom || f.Tick >= scrumUntil {
			return
		}
		a := scrumAsked{player, w.Gold}
		if !f.Replay {
			g.asked[f.Tick] = append(g.asked[f.Tick], a)
		}
		g.give(f.Frame, a)
	})
	g.told.OnClient(p, func(_ *foretick.Frame, t foretick.Tick, v scrumTold) {
		if t >= scrumFrom {
			g.heard = append(g.heard, fmt.Sprint(t, " ", v))
		}
	})
	return p
}

func (g *scrum) note(by foretick.PlayerID, t foretick.Tick, c lunge) {
	if g.last[by] == nil {
		g.last[by] = map[foretick.Tick]lunge{}
	}
	g.last[by][t] = c
}

func (g *scrum) give(f *foretick.Frame, a scrumAsked) {
	for _, rows := range g.bodies.Owned(f.World, a.by) {
		g.purse.Slice(rows)[0].Gold += int32(a.gold)
	}
}

// each calls fn for the bodies of each player.
func (g *scrum) each(f *foretick.Frame, fn func(player foretick.PlayerID, rows ecs.Rows)) {
	for player := range foretick.PlayerID(8) {
		for _, rows := range g.bodies.Owned(f.World, player) {
			if rows.Len() > 0 {
				fn(player, rows)
			}
		}
	}
}

// push moves bodies apart.
func (g *scrum) push(f *foretick.ServerFrame, _ ecs.Rows) {
	if f.Tick < scrumFrom {
		return
	}
	g.each(f.Frame, func(a foretick.PlayerID, ra ecs.Rows) {
		g.each(f.Frame, func(b foretick.PlayerID, rb ecs.Rows) {
			x, y := &g.pos.Slice(ra)[0].X, &g.pos.Slice(rb)[0].X
			if d := *y - *x; a < b && d < 1 && d > -1 {
				if d >= 0 {
					*x, *y = *x-0.1, *y+0.1
				} else {
					*x, *y = *x+0.1, *y-0.1
				}
			}
		})
	})
}

// roll lets coins age, and gives them to the nearest body.
func (g *scrum) roll(f *foretick.ServerFrame, _ ecs.Rows) {
	for _, rows := range g.coins.All(f.World) {
		for i, coins := 0, g.coin.Slice(rows); i < len(coins); i++ {
			if coins[i].Age++; coins[i].Age < 12 {
				continue
			}
			var best *scrumPurse
			near := float32(3)
			g.each(f.Frame, func(_ foretick.PlayerID, r ecs.Rows) {
				if d := max(g.pos.Slice(r)[0].X-coins[i].X, coins[i].X-g.pos.Slice(r)[0].X); d < near {
					near, best = d, &g.purse.Slice(r)[0]
				}
			})
			if best != nil {
				best.Gold += 3
			}
			f.Destroy(rows.Entity(i))
		}
	}
}

// grabbed takes from everybody near, and drops a coin that half of the players see.
func (g *scrum) grabbed(f *foretick.ServerFrame, by foretick.By, _ foretick.Tick) {
	var at float32
	for _, rows := range g.bodies.Owned(f.World, by.Player) {
		at = g.pos.Slice(rows)[0].X
	}
	g.each(f.Frame, func(player foretick.PlayerID, rows ecs.Rows) {
		if d := g.pos.Slice(rows)[0].X - at; player != by.Player && d < 4 && d > -4 {
			g.purse.Slice(rows)[0].Gold--
		}
	})
	e := f.Spawn(&g.money, ecs.Nobody)
	*g.coin.Get(f.World, e) = scrumCoin{X: at}
	for player := range foretick.PlayerID(8) {
		if (foretick.Tick(player)+f.Tick)%2 == 0 {
			f.SetVisible(player, e, false)
		}
	}
}

// tell sends each player what the world looks like.
func (g *scrum) tell(f *foretick.ServerFrame, _ ecs.Rows) {
	if f.Tick < scrumFrom || f.Tick >= scrumUntil {
		return
	}
	var v scrumTold
	g.each(f.Frame, func(_ foretick.PlayerID, rows ecs.Rows) {
		v.Sum, v.Gold = v.Sum*0.5+g.pos.Slice(rows)[0].X, v.Gold*3+g.purse.Slice(rows)[0].Gold
	})
	for _, rows := range g.coins.All(f.World) {
		v.Gold += int32(rows.Len()) << 16
	}
	if was, ran := g.sums[f.Tick]; ran && was != v.Sum {
		g.undone++
	}
	g.sums[f.Tick] = v.Sum
	if f.Tick%3 == 0 {
		g.told.Broadcast(f, v)
	} else {
		_ = g.told.Send(f, foretick.PlayerID(1+f.Tick%4), v)
	}
}

// state lists all values of the world.
func (g *scrum) state(w *ecs.World) (all []string) {
	for _, rows := range g.bodies.All(w) {
		for i := range rows.Len() {
			all = append(all, fmt.Sprint("body of ", rows.Owner(), " ", g.pos.Slice(rows)[i], g.purse.Slice(rows)[i], g.final.Slice(rows)[i]))
		}
	}
	for _, rows := range g.coins.All(w) {
		for i := range rows.Len() {
			all = append(all, fmt.Sprint("coin ", g.coin.Slice(rows)[i]))
		}
	}
	slices.Sort(all)
	return all
}

// play plays a match of scrum. Each client's input for a tick is sample's.
func (g *scrum) play(t *testing.T, seed uint64, cfg server.Config, links []sim.Link, sample func(player foretick.PlayerID, t foretick.Tick) lunge) (srv *server.Server, games []*scrum) {
	m := simtest.New(seed)
	cfg.Protocol = g.protocol()
	srv, err := m.Serve(cfg)
	require.NoError(t, err)
	var clients []*client.Client
	for _, link := range links {
		c := &scrum{}
		cl, err := m.Join(client.Config{Protocol: c.protocol(), Sample: client.Sample(&c.cmd, func(v client.View) lunge { return sample(v.Player, v.Tick+1) })}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		clients, games = append(clients, cl), append(games, c)
		m.Run(m.Net.Now() + 200*time.Millisecond)
	}
	for n := 0; srv.Tick() < scrumEnd; n++ {
		m.Run(m.Net.Now() + time.Second/30)
		if c := clients[n%len(clients)]; n%7 == 0 {
			_ = games[n%len(clients)].wish.Send(c, scrumWish{uint16(n % 5)})
		}
	}
	for _, c := range clients {
		g.wrong.Add(c.Stats().ByCause)
	}
	return srv, games
}

// A server with Late.World ends with what it would have had if every command had been in time: the
// same world, messages with the same ticks, and the same final events.
func TestLateWorldIsAsIfAllCameInTime(t *testing.T) {
	wrong := uint64(0)
	for seed := range uint64(costtest.Count(1, 4)) {
		jittery := sim.Link{Latency: 50 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.05}
		g, late := &scrum{}, server.Config{Late: server.Late{Window: lateWindow, World: true, Share: 0.1}}
		srv, games := g.play(t, seed+1, late, []sim.Link{jittery, sim.WiFi, sim.LTE, jittery}, func(player foretick.PlayerID, t foretick.Tick) lunge {
			if t >= scrumUntil {
				return lunge{}
			}
			return wave(int(player)*5+int(seed), client.View{Tick: t})
		})
		want := &scrum{}
		lan := sim.Link{Latency: time.Millisecond}
		again, gamesAgain := want.playScript(t, g, []sim.Link{lan, lan, lan, lan})
		st, calm := srv.Stats(), again.Stats()
		t.Logf("seed %d: %d inputs missing, %d of them run late, %d refused for hindsight; %d results were undone; %d messages; corrections: %v", seed+1, st.InputsMissing, st.InputsRerun, st.InputsHindsight, g.undone, len(games[0].heard), g.wrong)
		require.Zero(t, calm.InputsMissing)
		require.Greater(t, st.InputsRerun, uint64(50))
		require.Greater(t, g.undone, 50)
		require.Zero(t, g.wrong.Of(prediction.Code))
		wrong += g.wrong.Of(prediction.LateInput)
		require.Equal(t, want.state(again.World()), g.state(srv.World()))
		for i := range games {
			require.Greater(t, len(games[i].heard), 500)
			require.Equal(t, gamesAgain[i].heard, games[i].heard)
		}
	}
	require.NotZero(t, wrong, "others are corrected, and told why")
}

// playScript plays the final commands and requests of another match, with everything in time.
func (g *scrum) playScript(t *testing.T, of *scrum, links []sim.Link) (*server.Server, []*scrum) {
	g.script = true
	m := simtest.New(1)
	p := g.protocol()
	g.asked = of.asked
	srv, err := m.Serve(server.Config{Protocol: p})
	require.NoError(t, err)
	var games []*scrum
	for _, link := range links {
		c := &scrum{}
		_, err := m.Join(client.Config{Protocol: c.protocol(), Sample: client.Sample(&c.cmd, func(v client.View) lunge { return of.last[v.Player][v.Tick+1] })}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		games = append(games, c)
		m.Run(m.Net.Now() + 200*time.Millisecond)
	}
	for srv.Tick() < scrumEnd {
		m.Run(m.Net.Now() + time.Second/30)
	}
	return srv, games
}

// A late shot undoes the death of its shooter by a later shot. No screen shows that death: the
// message and the flag that announce a death wait until the tick is final. A flag that the
// shot's handler sets at once does show, to all but the player itself.
func TestUndoneDeathNeverShows(t *testing.T) {
	near, far := sim.Link{Latency: 10 * time.Millisecond, Jitter: 3 * time.Millisecond}, sim.Link{Latency: 100 * time.Millisecond, Jitter: 15 * time.Millisecond}
	undone, early := 0, 0
	for seed := range uint64(*lateSeeds) {
		const at = 210
		m, g := simtest.New(seed+1), &fencers{done: map[deed]bool{}}
		told := map[foretick.PlayerID]int{}
		declare := func(g *fencers) *foretick.Protocol {
			g.mourns = true
			p := g.protocol()
			g.fallen.OnFinal(p, func(f *foretick.ServerFrame, _ foretick.By, who foretick.PlayerID) {
				for _, rows := range g.bodies.Owned(f.World, who) {
					g.fate.Slice(rows)[0].Gone = true
				}
				g.dead.Broadcast(f, fallenOne{uint16(who)})
			}, ecs.WriteOther(&g.fate))
			g.dead.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, v fallenOne) { told[foretick.PlayerID(v.Who)]++ })
			return p
		}
		fell := map[foretick.PlayerID]bool{}
		g.downed = func(f *foretick.Frame, who foretick.PlayerID) {
			fell[who] = true
			g.fallen.Raise(f, ecs.None, who)
		}
		_, err := m.Serve(server.Config{Protocol: declare(g), Late: server.Late{Window: lateWindow, World: true}})
		require.NoError(t, err)
		var clients []*client.Client
		var downs [3][3]int // frames with the flag Down, by the screen's player and the body's player
		var gone [3][3]int  // frames with the flag Gone of fate, by the same two players
		for n, link := range []sim.Link{near, far} {
			c := &fencers{}
			look := func(v client.View) {
				for _, rows := range c.bodies.All(v.World) {
					if c.vitals.Slice(rows)[0].Down {
						downs[v.Player][rows.Owner()]++
					}
					if c.fate.Slice(rows)[0].Gone {
						gone[v.Player][rows.Owner()]++
					}
				}
			}
			cl, err := m.Join(client.Config{Protocol: declare(c), Sample: client.Sample(&c.cmd, func(v client.View) lunge {
				return lunge{Fire: v.Tick == at-1-foretick.Tick(n)} // the far player fires a tick earlier
			})}, simtest.Seat{Up: link, Down: link, After: look})
			require.NoError(t, err)
			clients = append(clients, cl)
		}
		for clients[1].View().Tick < at-3 {
			m.Run(m.Net.Now() + time.Second/120)
		}
		slow := far
		slow.Latency += 150 * time.Millisecond
		m.Link(clients[1], slow, far)
		m.Run(m.Net.Now() + 150*time.Millisecond)
		m.Link(clients[1], far, far)
		m.Run(m.Net.Now() + 2*time.Second)
		if fell[2] {
			undone++
		}
		if downs[1][2] > 0 {
			early++
		}
		for screen := 1; screen <= 2; screen++ {
			require.Greater(t, gone[screen][1], 10, "seed %d: the first one's death, on each screen", seed+1)
			require.Zero(t, gone[screen][2], "seed %d: the second one's, on none", seed+1)
		}
		require.Zero(t, downs[2][2], "seed %d: the second one is never told that it is down", seed+1)
		require.True(t, fell[1])
		require.Equal(t, map[foretick.PlayerID]int{1: 2}, told, "seed %d: the first one's death, on both screens, once", seed+1)
		require.Equal(t, [3]bool{1: true}, rise(t, m, g), "seed %d", seed+1)
	}
	t.Logf("in %d of %d duels the second one was down until its shot came; in %d the first one's screen showed the flag that is set at once", undone, *lateSeeds, early)
	require.Greater(t, early, 0)
	require.Greater(t, undone, *lateSeeds*9/10)
}

// With Late.World server systems run again, too. State in their Go variables is found.
func TestSyncTestOfTheWholeWorld(t *testing.T) {
	whole := simtest.SyncConfig{Late: server.Late{Window: lateWindow, World: true}}
	faults, err := simtest.FindDesyncs(func() simtest.Player {
		return (&planted{}).End(func(g *planted, p *foretick.Protocol) {
			p.Server("planted", func(_ *foretick.ServerFrame, rows ecs.Rows) {
				for i, pos := 0, g.Pos.Slice(rows); i < len(pos); i++ {
					g.Count++
					pos[i].X = float32(g.Count % 7)
				}
			}, ecs.Write(&g.Pos))
		})
	}, whole)
	require.NoError(t, err)
	found := ""
	for _, f := range faults {
		if len(f) > 15 && f[:15] == "on the server: " {
			found = f
		}
	}
	require.Contains(t, found, "position.X")
	require.Contains(t, found, "planted")
	whole.Ticks = 500
	simtest.SyncTest(t, func() simtest.Player { return (&planted{}).End(nil) }, whole)
	simtest.SyncTest(t, func() simtest.Player { return simtest.Player{Protocol: newCannon().protocol()} }, whole)

	var traces [][32]byte
	for _, back := range []int{0, 6} {
		g := &fencers{still: true}
		m := simtest.New(3)
		srv, err := m.Serve(server.Config{Protocol: g.protocol(), Late: server.Late{Window: lateWindow, World: true}})
		require.NoError(t, err)
		require.NoError(t, campaign.SyncTestServer(srv, back, func(d simtest.Desync) { require.Fail(t, d.String()) }))
		for n := range 3 {
			c := &fencers{}
			_, err := m.Join(client.Config{Protocol: c.protocol(), Sample: client.Sample(&c.cmd, func(v client.View) lunge { return wave(n, v) })}, simtest.Seat{Up: sim.LTE, Down: sim.LTE})
			require.NoError(t, err)
		}
		m.Run(60 * time.Second)
		require.Greater(t, srv.Stats().InputsRerun, uint64(10))
		traces = append(traces, m.Trace())
	}
	require.Equal(t, traces[0], traces[1], "the test changes nothing in the match")
}

// Players push crates, and cars that they predict, while inputs come late. The server sends shared
// physics objects and others' bodies together with the player's own, when no command is missing,
// so the ends agree.
func TestLateWorldWithWhatBodiesPush(t *testing.T) {
	late := server.Config{Late: server.Late{Window: lateWindow, World: true, Share: 0.05}}
	jittery := sim.Link{Latency: 40 * time.Millisecond, Jitter: 25 * time.Millisecond, Loss: 0.04}
	links := []sim.Link{jittery, sim.WiFi, sim.LTE}
	dir := func(v client.View) (x, y float32) {
		if v.Tick > 900 {
			return 0, 0
		}
		x = float32(int(v.Tick*5+uint32(v.Player)*3)%16) / 16 // another input in each tick
		if (v.Tick/45+uint32(v.Player))%2 == 0 {
			x = -x
		}
		return x, float32(int(v.Tick*5)%16-8) / 16
	}
	finish := func(t *testing.T, m *simtest.Match, clients []*client.Client) {
		m.Run(38 * time.Second)
		st := m.Server().Stats()
		require.Greater(t, st.InputsRerun, uint64(20))
		all := uint64(0)
		for _, c := range clients {
			require.Zero(t, c.Stats().ByCause.Of(prediction.Code))
			a := m.Audit(c)
			require.Zero(t, a.Differences, a.First)
			all += c.Stats().ByCause.Of(prediction.LateInput)
		}
		t.Logf("%d inputs missing, %d run late, %d refused for hindsight; %d corrections by others' late inputs, those of the first client: %v", st.InputsMissing, st.InputsRerun, st.InputsHindsight, all, clients[0].Stats().ByCause)
	}
	t.Run("shared physics", func(t *testing.T) {
		m, g := simtest.New(4), &crates{}
		cfg := late
		cfg.Protocol = g.protocol()
		srv, err := m.Serve(cfg)
		require.NoError(t, err)
		for i := range 6 {
			g.pos.Get(srv.World(), srv.Frame().Spawn(&g.crate, ecs.Nobody)).X = float32(i) - 3
		}
		var clients []*client.Client
		for _, link := range links {
			c := &crates{}
			cl, err := m.Join(client.Config{Protocol: c.protocol(), Sample: client.Sample(&c.cmd, func(v client.View) move {
				x, y := dir(v)
				return move{X: x, Y: y}
			})}, simtest.Seat{Up: link, Down: link})
			require.NoError(t, err)
			clients = append(clients, cl)
		}
		finish(t, m, clients)
	})
}

// Messages that wait for their tick to be final still arrive once and in order if meanwhile a
// level begins, a player is kicked, or the server shuts down.
func TestLateWorldSendsWhatWaits(t *testing.T) {
	for name, end := range map[string]func(srv *server.Server){
		"a level":    func(srv *server.Server) { _ = srv.NextLevel(nil, nil) },
		"a kick":     func(srv *server.Server) { srv.Frame().Kick(2, transport.Kicked, "") },
		"a shutdown": func(srv *server.Server) { _ = srv.Shutdown("", 2*time.Second) },
		"nothing":    func(*server.Server) {},
	} {
		t.Run(name, func(t *testing.T) {
			m, g := simtest.New(3), &scrum{}
			srv, err := m.Serve(server.Config{Protocol: g.protocol(), Late: server.Late{Window: lateWindow, World: true}})
			require.NoError(t, err)
			link := sim.Link{Latency: 20 * time.Millisecond}
			h := &holder{}
			var games []*scrum
			for n := range 2 {
				c := &scrum{}
				seat := simtest.Seat{Up: link, Down: link}
				if n == 1 {
					seat.Wrap = func(e transport.Endpoint) transport.Endpoint { h.Endpoint = e; return h }
				}
				_, err := m.Join(client.Config{Protocol: c.protocol(), Sample: client.Sample(&c.cmd, func(v client.View) lunge { return wave(n, v) })}, seat)
				require.NoError(t, err)
				games = append(games, c)
				m.Run(m.Net.Now() + 300*time.Millisecond)
			}
			m.Run(5 * time.Second)
			before := len(games[0].heard)
			h.holds = true // from here on the second player's commands are missing
			m.Run(m.Net.Now() + 190*time.Millisecond)
			require.LessOrEqual(t, len(games[0].heard)-before, 2, "they wait")
			last := srv.Tick()
			end(srv)
			m.Run(m.Net.Now() + 400*time.Millisecond)
			h.holds = false
			m.Run(m.Net.Now() + time.Second)
			var got []foretick.Tick
			for _, line := range games[0].heard {
				var at foretick.Tick
				_, err := fmt.Sscan(line, &at)
				require.NoError(t, err)
				if at <= last {
					got = append(got, at)
				}
			}
			var want []foretick.Tick
			for at := foretick.Tick(scrumFrom); at <= last; at++ {
				if at%3 == 0 || 1+at%4 == 1 {
					want = append(want, at)
				}
			}
			require.Equal(t, want, got)
		})
	}
}
