package simtest_test

import (
	"flag"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

var lateSeeds = flag.Int("late.seeds", costtest.Count(6, 40), "how many duels TestDuelOfLateInputs plays; 1000 before a release")

// fencers fire at one another along a line. A shared system moves them and raises the
// shots, whose handler looks where the shooter saw the other.
type fencers struct {
	pos    ecs.Component[footing]
	vitals ecs.Component[vitals]
	scored ecs.Component[scored]
	cmd    ecs.Component[lunge]
	body   ecs.Prefab
	shot   foretick.Event[foretick.Tick]
	bodies *ecs.Query

	fired  map[foretick.PlayerID]foretick.Tick // the tick of the first shot, as its client predicted it
	hits   int
	shots  int
	downed func(f *foretick.Frame, who foretick.PlayerID) // unless nil, called for each hit
	fallen foretick.Event[foretick.PlayerID]
	dead   foretick.Message[fallenOne]
	fate   ecs.Component[fate]
	done   map[deed]bool                                                      // deeds counted in hits and shots, so that ticks that run again do not count twice
	still  bool                                                               // shots hurt nobody
	went   func(f *foretick.Frame, player foretick.PlayerID, x float32)       // called after each body's move, unless nil
	mourns bool                                                               // bodies have the component fate
	strict bool                                                               // a late shot of a player that has fallen since does not count
	aimed  func(f *foretick.Frame, player foretick.PlayerID, t foretick.Tick) // called for each shot on either end, unless nil
}

// fallenOne is a message to all players about one that has fallen.
type fallenOne struct{ Who uint16 }

// deed is a shot, or a hit by one.
type deed struct {
	by  foretick.PlayerID
	at  foretick.Tick
	hit ecs.Entity // None for a shot
}

// first reports whether a deed happens for the first time, and not because its tick runs again.
func (g *fencers) first(d deed) bool {
	if g.done == nil {
		return true
	}
	was := g.done[d]
	g.done[d] = true
	return !was
}

type (
	footing struct {
		X       float32 `net:"min=-100,max=100,step=0.01,lerp"`
		Guarded bool    // no shot hurts the body in this tick
	}
	vitals struct {
		Down  bool
		Given uint16 `net:"max=60000"` // a server system adds 1 every fourth tick
	}
	scored struct { // only the server writes it
		Seen uint32
		Fell bool
	}
	fate  struct{ Gone bool } // the death that screens show
	lunge struct {
		Move  float32 `net:"min=-1,max=1,step=0.0078125"`
		Fire  bool    `net:"oneshot"`
		Guard bool
	}
)

func (g *fencers) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("fencers", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.vitals, foretick.Predicted())
	p.LocalComponent(&g.scored)
	p.Command(&g.cmd)
	if g.mourns {
		p.Component(&g.fate)
		p.Prefab(&g.body, "fencer", &g.pos, &g.vitals, &g.cmd, &g.scored, &g.fate)
	} else {
		p.Prefab(&g.body, "fencer", &g.pos, &g.vitals, &g.cmd, &g.scored)
	}
	g.bodies = p.Query(ecs.With(&g.scored))
	foretick.Hitboxes(p, func(b *foretick.HitboxBuilder) {
		if at := foretick.HitboxField(b, &g.pos); !foretick.HitboxField(b, &g.vitals).Down {
			b.Add(lagcomp.SphereHitbox(lagcomp.Sphere{X: at.X, R: 0.5}))
		}
	}, &g.pos, &g.vitals)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		e := f.Spawn(&g.body, player)
		g.pos.Get(f.World, e).X = float32(player) * 10
	})
	p.Shared("lunge", func(f *foretick.Frame, rows ecs.Rows) {
		pos, v, cmd := g.pos.Slice(rows), g.vitals.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			if v[i].Down {
				continue
			}
			pos[i].X += cmd[i].Move * 0.2
			pos[i].Guarded = cmd[i].Guard
			if g.went != nil {
				g.went(f, rows.Owner(), pos[i].X)
			}
			if cmd[i].Fire {
				if !f.IsServer() && g.fired != nil && !f.Replay {
					g.fired[rows.Owner()] = f.Tick
				}
				g.shot.Raise(f, rows.Entity(i), f.Tick)
			}
		}
	}, ecs.Read(&g.cmd, &g.vitals), ecs.Write(&g.pos))
	p.Server("give", func(f *foretick.ServerFrame, rows ecs.Rows) {
		v, n := g.vitals.Slice(rows), g.scored.Slice(rows)
		for i := range v {
			if n[i].Seen++; n[i].Seen%4 == 0 {
				v[i].Given++
			}
		}
	}, ecs.Write(&g.vitals, &g.scored))
	g.shot.OnPredicted(p, func(f *foretick.Frame, by foretick.By, at foretick.Tick) {
		if g.aimed != nil {
			g.aimed(f, by.Player, at)
		}
	})
	g.shot.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, at foretick.Tick) {
		if g.first(deed{by.Player, at, ecs.None}) {
			g.shots++
		}
		if g.aimed != nil {
			g.aimed(f.Frame, by.Player, at)
		}
		if g.strict && at != f.Tick && g.fell(f.Frame, by.Player) {
			return
		}
		for _, dir := range []float32{1, -1} {
			hit, ok := f.Rewind(by.Player).Raycast(lagcomp.Ray{X: float32(by.Player) * 10, DX: dir, Range: 50})
			if ok && !g.still && !g.pos.Get(f.World, hit.Entity).Guarded {
				if g.first(deed{by.Player, at, hit.Entity}) {
					g.hits++
				}
				g.vitals.Get(f.World, hit.Entity).Down = true
				g.scored.Get(f.World, hit.Entity).Fell = true
				if g.downed != nil {
					g.downed(f.Frame, f.World.Owner(hit.Entity))
				}
			}
		}
	}, ecs.ReadOther(&g.pos), ecs.WriteOther(&g.vitals, &g.scored))
	return p
}

// fell reports whether a player has fallen by now. Components that clients do not predict have
// their newest value, even while an earlier tick runs again.
func (g *fencers) fell(f *foretick.Frame, player foretick.PlayerID) bool {
	for _, rows := range g.bodies.Owned(f.World, player) {
		return g.scored.Slice(rows)[0].Fell
	}
	return false
}

// fence begins a match of players, whose samplers sample gives.
func fence(t testing.TB, seed uint64, cfg server.Config, links []sim.Link, still bool, sample func(n int, v client.View) lunge) (*simtest.Match, *fencers, []*client.Client, []*fencers) {
	m, g := simtest.New(seed), &fencers{still: still}
	cfg.Protocol = g.protocol()
	if cfg.Late.World {
		g.done = map[deed]bool{}
	}
	_, err := m.Serve(cfg)
	require.NoError(t, err)
	var clients []*client.Client
	var games []*fencers
	for n, link := range links {
		c := &fencers{fired: map[foretick.PlayerID]foretick.Tick{}}
		p := c.protocol()
		cl, err := m.Join(client.Config{Protocol: p, Sample: client.Sample(&c.cmd, func(v client.View) lunge { return sample(n, v) })}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		clients, games = append(clients, cl), append(games, c)
	}
	return m, g, clients, games
}

// lateMode says what a server does with late inputs.
type lateMode struct {
	name   string
	window time.Duration
	world  bool
}

var lateModes = []lateMode{{"without Late", 0, false}, {"own part", lateWindow, false}, {"whole world", lateWindow, true}}

// wave is an input that changes all the time.
func wave(n int, v client.View) lunge {
	return lunge{Move: float32(int(v.Tick*7+uint32(n)*13)%64-32) / 32, Fire: v.Tick%10 == 0}
}

// With Late, inputs that a burst delays run in their own tick, and cause no correction.
// Without it they cause some. The server's changes to the player meanwhile are neither lost nor
// made twice, and neither is a shot.
func TestLateInputsRunInTheirTick(t *testing.T) {
	link := sim.WiFi
	for _, window := range []time.Duration{0, 200 * time.Millisecond} {
		fired := map[foretick.Tick]bool{}
		m, g, clients, _ := fence(t, 10, server.Config{Late: server.Late{Window: window}}, []sim.Link{link, link}, true, func(n int, v client.View) lunge {
			c := wave(n, v)
			if v.Tick > 2700 {
				c = lunge{}
			}
			if c.Fire && n == 1 {
				fired[v.Tick] = true
			}
			return c
		})
		m.Run(90 * time.Second)
		for _, c := range clients {
			m.Link(c, sim.LAN, sim.LAN)
		}
		m.Run(93 * time.Second)
		me := clients[1].View().Player
		st, _ := m.Server().PlayerStats(m.Server().Player(me))
		wrong := clients[1].Stats().ByCause.Of(prediction.Input)
		t.Logf("window %v: %d missing, %d of them run late, %d corrections by an input", window, st.InputsMissing, st.InputsRerun, wrong)
		require.Greater(t, st.InputsMissing, uint64(10))
		require.Zero(t, clients[1].Stats().ByCause.Of(prediction.Code))
		if window == 0 {
			require.Greater(t, wrong, uint64(3))
			require.Zero(t, st.InputsRerun)
			continue
		}
		require.Zero(t, wrong, "no correction by an input")
		require.Equal(t, st.InputsMissing, st.InputsRerun)
		w := m.Server().World()
		v, n := g.vitals.Find(w, only(t, w, g, me)), g.scored.Find(w, only(t, w, g, me))
		require.EqualValues(t, n.Seen/4, v.Given, "what a server system gave")
		require.InDelta(t, 2*len(fired), g.shots, 4, "each shot once")
	}
}

// only returns a player's body on the server.
func only(t testing.TB, w *ecs.World, g *fencers, owner ecs.Owner) ecs.Entity {
	for _, rows := range ecs.NewQuery(w.Types(), ecs.With(&g.vitals)).Owned(w, owner) {
		return rows.Entity(0)
	}
	require.Fail(t, "no body")
	return 0
}

// With LateShare, which lets a share of inputs be late, clients predict less far ahead, and are
// not corrected more often: late inputs run in their own tick.
func TestLateShare(t *testing.T) {
	links := []sim.Link{{Latency: 50 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.05}, sim.WiFi, sim.LTE}
	var before [3]time.Duration
	for _, share := range []float64{0, 0.05, netcode.MaxLateShare} {
		m, _, clients, _ := fence(t, 10, server.Config{Late: server.Late{Window: 200 * time.Millisecond, Share: share}}, links, true, wave)
		var lead [3]time.Duration
		const from, to = 15, 75
		for s := range time.Duration(to) {
			m.Run((s + 1) * time.Second)
			for i, c := range clients {
				if s >= from {
					lead[i] += c.Stats().Clock.Lead / (to - from)
				}
			}
		}
		for i, c := range clients {
			st, _ := m.Server().PlayerStats(m.Server().Player(c.View().Player))
			late := float64(st.InputsMissing) / float64(st.InputsMissing+st.InputsTaken)
			t.Logf("share %v, link %d: lead %v, %.2f %% of inputs late, %d of %d run in their own tick, %d over budget, %d corrections by an input", share, i, lead[i].Round(time.Millisecond), 100*late, st.InputsRerun, st.InputsMissing, st.InputsOverBudget, c.Stats().ByCause.Of(prediction.Input))
			require.LessOrEqual(t, late, share+0.01)
			require.Zero(t, st.InputsOverBudget)
			if st.InputsRerun == st.InputsMissing {
				require.Zero(t, c.Stats().ByCause.Of(prediction.Input))
			}
			if share > 0 {
				require.Less(t, lead[i], before[i]-time.Millisecond*4)
			}
		}
		st, _ := m.Server().PlayerStats(m.Server().Player(clients[0].View().Player))
		require.Equal(t, st.InputsMissing, st.InputsRerun)
		require.Equal(t, share == 0, m.Server().SetLateInputs(m.Server().Player(1), false))
		if share == 0 {
			before = lead
		}
	}
}

// Two players, with round trips of 20 and 200 ms, fire at each other in the same tick. A spike
// of latency delays the second one's shot. With Late both are down. Without it the second
// player mostly dies before its shot is fired.
func TestDuelOfLateInputs(t *testing.T) {
	near, far := sim.Link{Latency: 10 * time.Millisecond, Jitter: 3 * time.Millisecond}, sim.Link{Latency: 100 * time.Millisecond, Jitter: 15 * time.Millisecond}
	for _, mode := range lateModes {
		window := mode.window
		both, same := 0, 0
		for seed := range uint64(*lateSeeds) {
			const at = 210
			m, g, clients, games := fence(t, seed+1, server.Config{Late: server.Late{Window: window, World: mode.world}}, []sim.Link{near, far}, false, func(_ int, v client.View) lunge {
				return lunge{Fire: v.Tick == at-1}
			})
			for clients[1].View().Tick < at-2 {
				m.Run(m.Net.Now() + time.Second/120)
			}
			slow := far
			slow.Latency += 120 * time.Millisecond
			m.Link(clients[1], slow, far)
			m.Run(m.Net.Now() + 100*time.Millisecond)
			m.Link(clients[1], far, far)
			m.Run(m.Net.Now() + 2*time.Second)
			if len(games[0].fired) == 1 && len(games[1].fired) == 1 && games[0].fired[1] == games[1].fired[2] {
				same++
			}
			if g.hits == 2 {
				both++
			}
		}
		t.Logf("%s: both down in %d of %d duels, %d of them with both shots in one tick", mode.name, both, *lateSeeds, same)
		require.Equal(t, *lateSeeds, same)
		if window > 0 {
			require.Equal(t, *lateSeeds, both)
		} else {
			require.Less(t, both, *lateSeeds/2)
		}
	}
}

// After a second of silence a client sends everything at once, and another command for each
// tick in each packet, to a server with Late. In any window of time no more commands
// become final than the window has ticks, plus three. Every tick has one final command.
func TestSpeedHackWithLateInputs(t *testing.T) {
	for _, mode := range lateModes[1:] {
		t.Run(mode.name, func(t *testing.T) { speedHack(t, mode) })
	}
}

func speedHack(t *testing.T, mode lateMode) {
	net := sim.NewNetwork(3)
	listen := net.Listen()
	g := &mill{}
	type settled struct {
		begun, ran time.Duration // times of the tick's first run, and of the run with its own command
		cmd        lever         // command of its newest run; Raw is the command's number, 0 for a replacement
	}
	ticks := map[foretick.Tick]*settled{}
	var final foretick.Tick
	late, own, again := 0, 0, 0
	g.ran = func(f *foretick.Frame, cmd lever) {
		at := ticks[f.Tick]
		if at == nil {
			at = &settled{begun: net.Now()}
			ticks[f.Tick] = at
		} else if at.cmd.Raw != 0 || int32(f.Tick-final) <= 0 {
			again++
			require.Equal(t, at.cmd, cmd, "tick %d settles on one command", f.Tick)
		}
		if cmd.Raw != 0 && at.cmd.Raw == 0 {
			own++
			at.ran = net.Now()
			if f.Replay {
				late++
			}
		}
		at.cmd = cmd
	}
	p := g.protocol()
	srv, err := server.New(server.Config{Protocol: p, Transport: listen, RepeatInput: -1, Late: server.Late{Window: mode.window, World: mode.world}})
	require.NoError(t, err)
	link := sim.Link{Latency: 60 * time.Millisecond}
	raw := &rawClient{endpoint: net.Dial(listen, link, link), hash: p.Hash()}
	pack, err := schema.Compile(reflect.TypeFor[lever](), schema.Options{})
	require.NoError(t, err)
	number := float32(0)
	body := func(from, to netcode.Tick) []byte {
		s := netcode.NewCommandSender(raw.size, netcode.CommandConfig{Fields: pack.PackedFields(), Redundancy: 64})
		for k := from; k != to; k++ {
			number++
			v := lever{Pull: 1, Fire: true, Raw: number}
			s.Push(netcode.Command{Tick: k, Render: srv.Tick(), Data: pack.Pack(unsafe.Pointer(&v), nil)})
		}
		return s.Append(nil, 1000)
	}
	const every = 8 * time.Millisecond
	for now := time.Duration(0); now < 20*time.Second; now += every {
		net.Run(now)
		srv.Step(simtest.Epoch.Add(now))
		tick := srv.Tick()
		final = srv.Frame().Final()
		var b []byte
		if tick > 60 && now/time.Second%2 == 1 {
			switch now / every % 20 {
			case 0, 1:
				b = body(tick+3, tick+6) // these commands are in time, and those before are missing until later
			case 8, 9, 17:
				b = body(tick-4, tick+2)
			case 12, 13:
				b = body(tick-40, tick+3)
			case 4, 14:
				b = body(tick+100, tick+140)
			case 15:
				b = body(tick+1000, tick+1030)
			}
		}
		require.NoError(t, raw.step(now, b))
	}
	var begun, ran []time.Duration
	for _, at := range ticks {
		if at.cmd.Raw != 0 {
			begun, ran = append(begun, at.begun), append(ran, at.ran)
		}
	}
	require.Greater(t, len(ran), 200)
	require.Len(t, ran, own, "no command is replaced by none")
	slices.Sort(begun)
	slices.Sort(ran)
	window := int((mode.window*30 + time.Second - 1) / time.Second)
	for i := range ran {
		for j := i; j < len(ran); j++ {
			require.LessOrEqual(t, float64(j-i+1), 30*(begun[j]-begun[i]).Seconds()+3, "settled for the ticks of a window")
			require.LessOrEqual(t, float64(j-i+1), 30*(ran[j]-ran[i]).Seconds()+3+float64(window), "run in a window")
		}
	}
	st, ok := srv.PlayerStats(srv.Player(1))
	require.True(t, ok)
	t.Logf("%s: %d of %.0f commands ran, %d of them late; %d times a settled tick ran again", mode.name, own, number, late, again)
	require.Greater(t, again, 10)
	require.Greater(t, late, 20)
	require.EqualValues(t, late, st.InputsRerun)
	require.LessOrEqual(t, late, int(srv.Tick())/5+2*window, "the budget")
	require.Greater(t, st.InputsMissing, uint64(80), "the silent seconds are not made up for")
	eng := 0.0
	for _, rows := range ecs.NewQuery(srv.World().Types(), ecs.With(&g.eng)).All(srv.World()) {
		eng = float64(g.eng.Slice(rows)[0].Sum)
	}
	require.InDelta(t, own, eng, 0.5, "each ran once in the end")
}

// If a client withholds its inputs, no more of them run late than the configured window allows,
// however short the window is.
func TestLimitsOfLateInputs(t *testing.T) {
	for _, mode := range lateModes[1:] {
		link := sim.Link{Latency: 100 * time.Millisecond}
		m, _, _, _ := fence(t, 4, server.Config{Late: server.Late{Window: 100 * time.Millisecond, World: mode.world}}, []sim.Link{link}, true, wave)
		m.Watch(&simtest.Limits{})
		m.Run(time.Second)
		c, now := newCheat(t, m, link), m.Net.Now()
		for n := range 900 {
			now += time.Second / 30
			m.Run(now)
			tick := m.Server().Tick()
			c.make(tick+5, tick, func(t netcode.Tick) lunge { return lunge{Move: float32(t%64)/64 - 0.5} })
			c.step(t, now, n < 60 || n%30 > 14)
		}
		require.NoError(t, m.Err())
		st, ok := m.Server().PlayerStats(m.Server().Player(2))
		require.True(t, ok)
		t.Logf("%s: %d inputs were missing, %d ran late", mode.name, st.InputsMissing, st.InputsRerun)
		require.Greater(t, st.InputsRerun, uint64(40))
	}
}

// A flag changes its owner while inputs come late. A snapshot with that change, but without the
// player's own entities, does not set these back.
func TestLateInputsWhileOwnersChange(t *testing.T) {
	var wrong, late, predicted, passed, lost int
	for seed := range uint64(2) {
		m := simtest.New(seed + 1)
		type game struct {
			fencers
			flag ecs.Prefab
		}
		declare := func(g *game) *foretick.Protocol {
			g.still = true
			p := g.protocol()
			p.Prefab(&g.flag, "flag", &g.pos, &g.cmd)
			return p
		}
		srv := &game{}
		p := declare(srv)
		flags := p.Query(ecs.With(&srv.pos), ecs.Without(&srv.vitals))
		p.Server("pass", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if f.Tick%20 != 0 || f.Tick < 60 || f.Tick > 1800 {
				return
			}
			for _, rows := range flags.All(f.World) {
				require.NoError(t, f.World.Transfer(rows.Entity(0), 3-rows.Owner()))
				passed++
				return
			}
			f.Spawn(&srv.flag, 1)
		}, ecs.Once(), ecs.Structural(), ecs.Create(&srv.pos, &srv.cmd))
		_, err := m.Serve(server.Config{Protocol: p, Late: server.Late{Window: 200 * time.Millisecond}})
		require.NoError(t, err)
		var ran [3]map[foretick.Tick]float32 // by player, the final position of its body in each tick
		for n := range ran {
			ran[n] = map[foretick.Tick]float32{}
		}
		srv.went = func(f *foretick.Frame, player foretick.PlayerID, x float32) { ran[player][f.Tick] = x }
		link := sim.Link{Latency: 30 * time.Millisecond}
		held := &holder{} // holds the packets that the first client sends
		var clients []*client.Client
		var ats []map[foretick.Tick][]float32
		for n := range 2 {
			g := &game{}
			p := declare(g)
			p.Server("pass", func(*foretick.ServerFrame, ecs.Rows) {}, ecs.Once(), ecs.Structural(), ecs.Create(&g.pos, &g.cmd))
			at := map[foretick.Tick][]float32{} // positions of its body in all runs of a tick
			g.went = func(f *foretick.Frame, _ foretick.PlayerID, x float32) { at[f.Tick] = append(at[f.Tick], x) }
			ats = append(ats, at)
			c, err := m.Join(client.Config{
				Protocol: p, Sample: client.Sample(&g.cmd, func(v client.View) lunge {
					if v.Tick > 1900 {
						return lunge{}
					}
					return lunge{Move: wave(n, v).Move}
				}),
			}, simtest.Seat{Up: link, Down: link, Wrap: func(e transport.Endpoint) transport.Endpoint {
				if n > 0 {
					return e
				}
				held.Endpoint = e
				return held
			}})
			require.NoError(t, err)
			clients = append(clients, c)
		}
		const tick = time.Second / 30
		for m.Net.Now() < 62*time.Second {
			m.Run(m.Net.Now() + 2*time.Second)
			for m.Server().Tick()%20 != 0 {
				m.Run(m.Net.Now() + tick/8)
			}
			passes := m.Net.Now() + 20*tick
			early := clients[0].View().Lead - 2*link.Latency // how long its inputs wait on the server
			m.Run(passes - early - link.Latency + tick)
			held.holds = true // the tick that passes the flag has its input, and the next ticks have none
			m.Run(passes - tick/2)
			m.Link(clients[0], link, sim.Link{Loss: 1}) // it does not learn of the pass at once
			m.Run(passes + tick*3/2)
			m.Link(clients[0], link, link)
			m.Run(passes + 4*tick)
			held.release(t)
		}
		m.Run(70 * time.Second)
		for i, c := range clients {
			me := c.View().Player
			st, _ := m.Server().PlayerStats(m.Server().Player(me))
			late += int(st.InputsRerun)
			t.Log(seed, st.InputsMissing, st.InputsRerun, c.Stats().ByCause)
			if st.InputsMissing != st.InputsRerun {
				lost++ // some inputs came too late, and cause corrections
				continue
			}
			for tick, xs := range ats[i] {
				for _, x := range xs {
					if was, ok := ran[me][tick]; ok && tick > 60 && math.Abs(float64(x-was)) > 0.02 {
						wrong++
					}
					predicted++
				}
			}
		}
	}
	t.Logf("%d times the flag was passed, %d inputs run late; of %d predicted ticks %d were wrong", passed, late, predicted, wrong)
	require.Greater(t, passed, 150)
	require.Greater(t, late, 50)
	require.LessOrEqual(t, lost, 1)
	require.Zero(t, wrong)
}
