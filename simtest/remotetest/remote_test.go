package remotetest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

type chassis struct {
	X, Y   float32 `net:"min=-64,max=64,step=0.01,lerp"`
	VX, VY float32 `net:"min=-32,max=32,step=0.01"`
}

// pedals are the driver's last input, which remote prediction continues.
type pedals struct {
	X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
}

// load is a car's load; only its driver receives its value.
type load struct {
	Boxes uint8 `net:"max=9"`
	Worth uint8 `net:"max=200,owner"`
}

type ride struct {
	X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
	Fire bool    `net:"oneshot"`
	Jump bool    `net:"oneshot"`
}

// bumpers is a game of cars that push one another.
type bumpers struct {
	body   ecs.Component[chassis]
	pedal  ecs.Component[pedals]
	load   ecs.Component[load]
	cmd    ecs.Component[ride]
	car    ecs.Prefab
	puff   ecs.Prefab // a car leaves it behind; drawn in the past
	ball   ecs.Prefab // an unowned entity that all clients predict
	shell  ecs.Prefab // a car fires it; predicted with the car
	all    *ecs.Query
	balls  *ecs.Query
	shot   foretick.Event[lagcomp.Ray]
	bumped foretick.Event[foretick.Tick]

	me     foretick.PlayerID
	blind  bool // the game does not use PredictRemote
	eager  bool // the guess is that others fire and jump all the time
	hits   func(f *foretick.Frame, player foretick.PlayerID, hit foretick.Hit, ok bool)
	bumps  func(f *foretick.Frame, player foretick.PlayerID)
	traded func(f *foretick.Frame, player foretick.PlayerID)
	guess  func(f *foretick.Frame, e ecs.Entity, ahead int, cmd *ride) // guess of remote input, instead of the pedals
	honks  bool                                                        // the command raises honks instead of shots
	heard  func(what string, t foretick.Tick)
	spawn  func(f *foretick.ServerFrame, player foretick.PlayerID)
}

func (g *bumpers) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("bumpers", 1)
	how := []foretick.ComponentOption{foretick.Predicted(), foretick.FullPrecision()}
	if g.blind {
		how = how[:1]
	}
	p.Component(&g.body, how...)
	p.Component(&g.pedal, how...)
	p.Component(&g.load, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.car, "car", &g.body, &g.pedal, &g.load, &g.cmd)
	foretick.Default(p, &g.car, &g.load, load{Worth: 7}) // others do not receive this field
	p.Prefab(&g.puff, "puff", &g.body)
	p.Prefab(&g.ball, "ball", &g.body)
	p.Prefab(&g.shell, "shell", &g.body)
	p.Spawns(&g.shell, foretick.SpawnConfig{})
	foretick.Hitbox(p, &g.body, func(b *chassis) lagcomp.Sphere { return lagcomp.Sphere{X: b.X, Y: b.Y, R: 0.5} })
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		if g.spawn != nil {
			g.spawn(f, player)
			return
		}
		e := f.Spawn(&g.car, player)
		g.body.Get(f.World, e).X = -8 + 16*float32(player-1)
		g.load.Get(f.World, e).Worth = uint8(player)
	})
	p.Shared("press", func(_ *foretick.Frame, rows ecs.Rows) {
		pedal, cmd := g.pedal.Slice(rows), g.cmd.Slice(rows)
		for i := range pedal {
			pedal[i] = pedals{cmd[i].X, cmd[i].Y}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pedal))
	p.Shared("drive", func(f *foretick.Frame, rows ecs.Rows) {
		body, pedal := g.body.Slice(rows), g.pedal.Slice(rows)
		for i := range body {
			b := &body[i]
			b.VX += (pedal[i].X*8 - b.VX) * f.DT
			b.VY += (pedal[i].Y*8 - b.VY) * f.DT
			b.X += b.VX * f.DT
			b.Y += b.VY * f.DT
		}
	}, ecs.Read(&g.pedal), ecs.Write(&g.body))
	p.Shared("bump", g.bump, ecs.Read(&g.cmd), ecs.Write(&g.body), ecs.ReadOther(&g.body), ecs.WriteOther(&g.body), ecs.After("drive"))
	p.Shared("trade", func(f *foretick.Frame, rows ecs.Rows) {
		load := g.load.Slice(rows)
		if g.traded != nil {
			g.traded(f, rows.Owner())
		}
		for i := range load {
			if load[i].Worth > 100 { // clients do not know the value of others
				load[i].Boxes = 1
			}
		}
	}, ecs.Write(&g.load))
	p.Shared("fire", func(f *foretick.Frame, rows ecs.Rows) {
		body, cmd := g.body.Slice(rows), g.cmd.Slice(rows)
		for i := range body {
			if cmd[i].Fire && g.honks {
				g.bumped.Raise(f, rows.Entity(i), f.Tick)
			} else if cmd[i].Fire {
				g.shot.Raise(f, rows.Entity(i), lagcomp.Ray{X: body[i].X, Y: body[i].Y, DX: 1, Range: 60})
			}
			if cmd[i].Jump {
				if e := f.SpawnBy(rows.Entity(i), &g.shell); e != ecs.None {
					*g.body.Get(f.World, e) = chassis{X: body[i].X, Y: body[i].Y, VY: 8}
				}
			}
		}
	}, ecs.Read(&g.cmd, &g.body), ecs.Create(&g.body))
	p.Shared("fly", func(f *foretick.Frame, rows ecs.Rows) {
		body := g.body.Slice(rows)
		for i := range body {
			body[i].Y += body[i].VY * f.DT
			if body[i].Y > 20 {
				f.Destroy(rows.Entity(i))
			}
		}
	}, ecs.Write(&g.body), ecs.Without(&g.pedal), ecs.Structural(), ecs.After("fire"))
	g.shot.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, r lagcomp.Ray) {
		hit, ok := f.Rewind(by.Player).Raycast(r)
		if g.hits != nil {
			g.hits(f.Frame, by.Player, hit, ok)
		}
	}, ecs.ReadOther(&g.body, &g.pedal))
	g.shot.OnPredicted(p, func(f *foretick.Frame, by foretick.By, r lagcomp.Ray) {
		hit, ok := f.Rewind(by.Player).Raycast(r)
		if g.hits != nil {
			g.hits(f, by.Player, hit, ok)
		}
	})
	hear := func(what string) func(*foretick.Frame, foretick.By, foretick.Tick) {
		return func(_ *foretick.Frame, _ foretick.By, t foretick.Tick) {
			if g.heard != nil {
				g.heard(what, t)
			}
		}
	}
	g.bumped.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, t foretick.Tick) {
		hear(fmt.Sprint("server ", by.Player))(f.Frame, by, t)
	})
	g.bumped.OnPredicted(p, hear("predicted"))
	g.bumped.OnConfirmed(p, hear("confirmed"))
	g.bumped.OnCancelled(p, hear("cancelled"))
	if !g.blind {
		foretick.PredictRemote(p, &g.cmd, func(f *foretick.Frame, e ecs.Entity, ahead int, cmd *ride) {
			if g.guess != nil {
				g.guess(f, e, ahead, cmd)
				return
			}
			at := g.pedal.Get(f.World, e)
			*cmd = ride{at.X, at.Y, g.eager, g.eager}
		}, foretick.RemoteConfig{Skip: []string{"trade"}, Also: []*ecs.Prefab{&g.shell}})
	}
	g.all = p.Query(ecs.With(&g.body, &g.pedal))
	g.balls = p.Query(ecs.With(&g.body), ecs.Without(&g.pedal))
	return p
}

// bump pushes each car away from those that it touches, and balls away from each car.
func (g *bumpers) bump(f *foretick.Frame, rows ecs.Rows) {
	body := g.body.Slice(rows)
	for i := range body {
		me := rows.Entity(i)
		for _, others := range g.all.All(f.World) {
			for k, e := range others.Entities() {
				if o := &g.body.Slice(others)[k]; e != me {
					if push(&body[i], o) && g.bumps != nil {
						g.bumps(f, rows.Owner())
					} else if g.heard != nil && touch(&body[i], o) {
						g.bumped.Raise(f, me, f.Tick)
					}
				}
			}
		}
		for _, balls := range g.balls.All(f.World) {
			if balls.Owner() != ecs.Nobody && balls.Owner() != ecs.Common {
				continue
			}
			for k := range balls.Len() {
				o := &g.body.Slice(balls)[k]
				from := *o
				if push(&from, &body[i]) {
					o.VX, o.VY = from.VX, from.VY
				}
			}
		}
	}
}

func touch(b, o *chassis) bool { return math.Hypot(float64(b.X-o.X), float64(b.Y-o.Y)) < 1 }

// push changes the velocity of a car that touches another.
func push(b, o *chassis) bool {
	dx, dy := b.X-o.X, b.Y-o.Y
	d := float32(math.Sqrt(float64(dx*dx + dy*dy)))
	if d >= 1 || d == 0 {
		return false
	}
	b.VX += dx / d * 4 * (1 - d)
	b.VY += dy / d * 4 * (1 - d)
	return true
}

// derby is a match of cars.
type derby struct {
	m       *simtest.Match
	srv     *server.Server
	g       *bumpers
	cars    []*bumpers
	clients []*client.Client
	was     map[foretick.Tick]map[foretick.PlayerID]chassis // cars on the server after each tick
}

func newDerby(t *testing.T, seed uint64, n int, seat simtest.Seat, each func(g *bumpers), pads func(m *simtest.Match, player foretick.PlayerID, v client.View, at chassis) ride, after func(d *derby, n int, v client.View), more ...func(c *client.Config)) *derby {
	t.Helper()
	d := &derby{m: simtest.New(seed), was: map[foretick.Tick]map[foretick.PlayerID]chassis{}}
	end := func() *bumpers {
		g := &bumpers{}
		if each != nil {
			each(g)
		}
		return g
	}
	t.Cleanup(func() { require.NoError(t, d.m.Err()) })
	d.g = end()
	srv, err := d.m.Serve(server.Config{Protocol: d.g.protocol(), OnTick: func(f *foretick.ServerFrame) {
		d.was[f.Tick] = d.g.places(f.World)
	}})
	require.NoError(t, err)
	d.srv = srv
	for i := range n {
		g := end()
		if after != nil {
			seat.After = func(v client.View) { after(d, i, v) }
		}
		cfg := client.Config{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(v client.View) ride {
			return pads(d.m, v.Player, v, g.places(v.World)[v.Player])
		})}
		for _, set := range more {
			set(&cfg)
		}
		c, err := d.m.Join(cfg, seat)
		require.NoError(t, err)
		d.cars, d.clients = append(d.cars, g), append(d.clients, c)
	}
	return d
}

func both(l sim.Link) simtest.Seat { return simtest.Seat{Up: l, Down: l} }

// places returns the car of each player.
func (g *bumpers) places(w *ecs.World) map[foretick.PlayerID]chassis {
	at := map[foretick.PlayerID]chassis{}
	for _, rows := range g.all.All(w) {
		for _, b := range g.body.Slice(rows) {
			at[rows.Owner()] = b
		}
	}
	return at
}

// Two players that drive at each other crash on both screens when they crash on the server,
// without a misprediction, although the round trip is 150 ms. Without remote prediction each
// crashes into the place where the other was.
func TestRemotePredictedCrash(t *testing.T) {
	for _, blind := range []bool{false, true} {
		bumps := []map[foretick.Tick]bool{{}, {}, {}}
		ends := 0
		d := newDerby(t, 3, 2, both(sim.Link{Latency: 75 * time.Millisecond}), func(g *bumpers) {
			g.blind = blind
			n := ends
			ends++
			g.bumps = func(f *foretick.Frame, _ foretick.PlayerID) {
				if !f.Replay {
					bumps[n][f.Tick] = true
				}
			}
		}, func(m *simtest.Match, player foretick.PlayerID, _ client.View, _ chassis) ride {
			if m.Net.Now() < 2*time.Second {
				return ride{}
			}
			return ride{X: float32(3 - 2*int(player))}
		}, nil)
		d.m.Run(12 * time.Second)
		wrong, missed := uint64(0), 0
		for n, c := range d.clients {
			st := c.Stats()
			wrong += st.Mispredictions
			require.Zero(t, st.ByCause.Of(prediction.Code))
			for k := range bumps[0] {
				if !bumps[n+1][k] {
					missed++
				}
			}
			if !blind {
				require.Positive(t, st.RemotePredicted)
				require.Zero(t, st.ByCause.Of(prediction.Untracked))
				require.Less(t, st.RemoteMispredicted, uint64(20), "each end of a pedal's way is a surprise, and nothing else")
			}
		}
		t.Logf("blind %v: %d crashing ticks on the server, %d of them missed on screens, %d mispredictions", blind, len(bumps[0]), missed, wrong)
		require.Greater(t, len(bumps[0]), 20, "they crashed")
		if blind {
			require.Greater(t, wrong, uint64(20))
		} else {
			require.Zero(t, wrong)
			require.Zero(t, missed)
		}
	}
}

// wild returns an input that changes now and then, and that is zero from until on.
func wild(until time.Duration) func(m *simtest.Match, player foretick.PlayerID, v client.View, at chassis) ride {
	return func(m *simtest.Match, player foretick.PlayerID, v client.View, at chassis) ride {
		if now := m.Net.Now(); now > until || now < time.Second {
			return ride{}
		}
		r := (uint64(v.Tick)/11 + uint64(player)*977) * 0x9E3779B97F4A7C15
		r ^= r >> 31
		return ride{X: float32(r%5)/2 - 1, Y: float32(r/5%5)/2 - 1, Fire: v.Tick%7 == 0, Jump: v.Tick%23 == 0}
	}
}

// brawl returns an input that changes four times a second, mostly towards the middle.
func brawl(until time.Duration) func(m *simtest.Match, player foretick.PlayerID, v client.View, at chassis) ride {
	pad := wild(until)
	type plan struct {
		since foretick.Tick
		press ride
	}
	plans := map[foretick.PlayerID]plan{}
	return func(m *simtest.Match, player foretick.PlayerID, v client.View, at chassis) ride {
		r := pad(m, player, v, at)
		if now := m.Net.Now(); now > until || now < time.Second {
			return r
		}
		turn := (v.Tick + foretick.Tick(player)*3) / 8
		if p := plans[player]; p.since == turn {
			return p.press
		}
		r.X, r.Y = max(-1, min(1, r.X/2-at.X/2)), max(-1, min(1, r.Y/2-at.Y/2))
		r.Fire, r.Jump = false, false
		plans[player] = plan{turn, r}
		return r
	}
}

// The input of a remote player that turns all the time is mispredicted all the time. Its car is
// still shown much closer to its true position than without remote prediction, the corrections
// have their own cause, and at rest both ends agree.
func TestRemotePredictedTurns(t *testing.T) {
	for _, link := range []sim.Link{
		{Latency: 30 * time.Millisecond},
		{Latency: 75 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05},
		{Latency: 150 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.1},
	} {
		if small && link.Loss != 0.05 {
			continue
		}
		var off [2]float64 // sum of the distances between others' shown and true positions
		for blind := range 2 {
			n, entities := 0, 0
			type sight struct {
				tick   foretick.Tick
				player foretick.PlayerID
				at     chassis
			}
			var sights []sight
			d := newDerby(t, 11, 4, both(link), func(g *bumpers) { g.blind = blind == 1 }, wild(20*time.Second), func(d *derby, i int, v client.View) {
				if v.State != client.Playing || d.m.Net.Now() < 3*time.Second || d.m.Net.Now() > 20*time.Second {
					return
				}
				for player, at := range d.cars[i].places(v.World) {
					if player != v.Player {
						sights = append(sights, sight{v.Tick, player, at})
					}
				}
			})
			d.m.Run(2 * time.Second)
			f := d.srv.Frame()
			f.Spawn(&d.g.ball, ecs.Nobody)
			for player := range foretick.PlayerID(4) { // spawns entities that are drawn in the past, next to predicted ones
				f.Spawn(&d.g.puff, player+1)
			}
			d.m.Run(36 * time.Second)
			for _, s := range sights {
				if is, ok := d.was[s.tick][s.player]; ok {
					off[blind] += math.Hypot(float64(s.at.X-is.X), float64(s.at.Y-is.Y))
					n++
				}
			}
			off[blind] /= float64(max(n, 1))
			var all stats.Client
			for _, c := range d.clients {
				a := d.m.Audit(c)
				require.Zero(t, a.Differences, a.First)
				entities += a.Entities
				st := c.Stats()
				all.Add(&st)
			}
			require.Equal(t, 4*(4+4+1), entities, "the shells are gone")
			require.Zero(t, all.ByCause.Of(prediction.Code), "%v", all.ByCause)
			if blind == 0 {
				require.Zero(t, all.ByCause.Of(prediction.Untracked), "%v", all.ByCause)
				require.Positive(t, all.RemoteMispredicted)
				require.Less(t, all.RemoteMispredicted, all.RemotePredicted*9/10)
			}
			t.Logf("%v, blind %d: off by %.3f m; %d of %d predicted ticks mispredicted, by cause %v; %d of %d foreseen wrongly",
				link, blind, off[blind], all.Mispredictions, all.PredictedTicks, all.ByCause, all.RemoteMispredicted, all.RemotePredicted)
		}
		require.Less(t, off[0], off[1]*0.6)
	}
}

// Events and spawns of a predicted remote player are dropped: no handler is called, and no
// spawned entity stays.
func TestRemotePredictedRaisesNothing(t *testing.T) {
	ends := 0
	var own, others int
	d := newDerby(t, 9, 2, both(sim.Link{Latency: 40 * time.Millisecond, Loss: 0.02}), func(g *bumpers) {
		g.eager = true
		if ends++; ends > 1 {
			me := foretick.PlayerID(ends - 1)
			g.hits = func(_ *foretick.Frame, player foretick.PlayerID, _ foretick.Hit, _ bool) {
				if player == me {
					own++
				} else {
					others++
				}
			}
		}
	}, wild(6*time.Second), nil)
	d.m.Run(15 * time.Second)
	require.Greater(t, own, 20)
	require.Zero(t, others)
	for _, c := range d.clients {
		a := d.m.Audit(c)
		require.Zero(t, a.Differences, a.First)
		require.Equal(t, 2, a.Entities)
		require.Equal(t, 2, c.View().World.Len())
		require.Zero(t, c.Stats().SpawnsCancelled)
		require.Greater(t, c.Stats().SpawnsMatched, uint64(3))
	}
}

// Systems that RemoteConfig.Skip names do not run for remote players, and all others do.
func TestRemotePredictedWithoutSomeSystems(t *testing.T) {
	ends := 0
	seen := map[foretick.PlayerID]int{}
	d := newDerby(t, 9, 2, both(sim.Link{Latency: 40 * time.Millisecond}), func(g *bumpers) {
		if ends++; ends == 2 {
			g.traded = func(_ *foretick.Frame, player foretick.PlayerID) { seen[player]++ }
		}
	}, wild(3*time.Second), nil)
	d.m.Run(4 * time.Second)
	require.Greater(t, seen[1], 80)
	require.Zero(t, seen[2])
	require.Positive(t, d.clients[0].Stats().RemotePredicted)
}

// A guess is rounded like a sent command. So inputs are predicted exactly even if the guess is
// between two steps of a field.
func TestGuessIsRounded(t *testing.T) {
	press := ride{X: 0.3, Y: -0.7}
	d := newDerby(t, 9, 2, both(sim.Link{Latency: 40 * time.Millisecond}), func(g *bumpers) {
		g.guess = func(_ *foretick.Frame, _ ecs.Entity, _ int, cmd *ride) { *cmd = press }
	}, func(_ *simtest.Match, _ foretick.PlayerID, _ client.View, _ chassis) ride { return press }, nil)
	d.m.Run(2 * time.Second)
	before := d.clients[0].Stats()
	d.m.Run(6 * time.Second)
	st := d.clients[0].Stats()
	require.Greater(t, st.RemotePredicted-before.RemotePredicted, uint64(100))
	require.Equal(t, before.RemoteMispredicted, st.RemoteMispredicted)
}

// If a client predicts a crash into a mispredicted car, its event is cancelled. The confirmed
// events are the server's.
func TestRemotePredictedEvents(t *testing.T) {
	for _, link := range []sim.Link{{Latency: 75 * time.Millisecond}, {Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.1}} {
		ends := 0
		heard := map[string]map[foretick.Tick]int{"server 1": {}, "server 2": {}, "server 3": {}, "predicted": {}, "confirmed": {}, "cancelled": {}}
		d := newDerby(t, 17, 3, both(link), func(g *bumpers) {
			if ends++; ends > 2 {
				return
			}
			g.heard = func(what string, at foretick.Tick) { heard[what][at]++ }
			g.spawn = func(f *foretick.ServerFrame, player foretick.PlayerID) {
				g.body.Get(f.World, f.Spawn(&g.car, player)).X = 2 * float32(player)
			}
		}, brawl(30*time.Second), nil)
		d.m.Run(44 * time.Second)
		unpredicted, srv := 0, heard[fmt.Sprint("server ", d.clients[0].View().Player)]
		for at, n := range heard["predicted"] {
			require.Equal(t, n, heard["confirmed"][at]+heard["cancelled"][at], "each has one outcome")
			unpredicted += heard["cancelled"][at]
		}
		wrong, all := 0, 0
		for at, n := range heard["confirmed"] {
			all += n
			if srv[at] < n {
				wrong++
			}
		}
		t.Logf("%d predicted ticks with a crash, %d crashes confirmed, %d ticks of them not the server's; %d cancelled; %d ticks on the server", len(heard["predicted"]), all, wrong, unpredicted, len(srv))
		require.Greater(t, all, 20)
		require.Positive(t, unpredicted)
		require.Zero(t, wrong)
	}
}

// A player that has lost its car still predicts honks until it knows. The server has none of these
// events, so they are cancelled.
func TestRemotePredictedEventsOfALostCar(t *testing.T) {
	for _, rate := range []int{0, 2000} { // at a rate of 2000 the change of its car is postponed
		lostCar(t, rate)
	}
}

func lostCar(t *testing.T, rate int) {
	ends := 0
	heard := map[string]map[foretick.Tick]int{"server 1": {}, "server 2": {}, "predicted": {}, "confirmed": {}, "cancelled": {}}
	d := newDerby(t, 17, 2, both(sim.Link{Latency: 60 * time.Millisecond}), func(g *bumpers) {
		g.honks = true
		if ends++; ends < 3 {
			g.heard = func(what string, at foretick.Tick) { heard[what][at]++ }
		}
	}, func(m *simtest.Match, player foretick.PlayerID, _ client.View, _ chassis) ride {
		return ride{Fire: player == 1 && m.Net.Now() > time.Second}
	}, nil, func(c *client.Config) {
		if rate > 0 {
			c.ReceiveRate = rate + trailRate
		}
	})
	d.m.Run(2 * time.Second)
	for n := range 40 * min(rate, 1) {
		f := d.srv.Frame()
		*d.g.body.Get(f.World, f.Spawn(&d.g.puff, 2)) = chassis{X: float32(n), Y: -60, VY: 3 + float32(n)/9}
	}
	d.m.Run(4 * time.Second)
	lost := d.srv.Tick()
	require.Equal(t, foretick.PlayerID(1), d.clients[0].View().Player)
	for _, rows := range d.g.all.Owned(d.srv.World(), 1) {
		require.NoError(t, d.srv.World().Transfer(rows.Entity(0), 2))
	}
	d.m.Run(7 * time.Second)
	require.Greater(t, len(heard["confirmed"]), 50)
	vain := 0
	for at := range heard["predicted"] {
		require.Equal(t, 1, heard["confirmed"][at]+heard["cancelled"][at], "tick %d", at)
		if at <= lost+16 { // later the postponed change may arrive without a note about the events
			require.Equal(t, heard["server 1"][at], heard["confirmed"][at], "tick %d", at)
		}
		if at > lost {
			vain++
		}
	}
	require.Greater(t, vain, 3, "he honked on until he knew")
}

// Mispredicted turns of remote players do not count as mispredicted ticks of the player's own.
func TestRemotePredictedIsNotShownWrong(t *testing.T) {
	d := newDerby(t, 9, 2, both(sim.Link{Latency: 60 * time.Millisecond}), func(g *bumpers) {
		g.spawn = func(f *foretick.ServerFrame, player foretick.PlayerID) {
			g.body.Get(f.World, f.Spawn(&g.car, player)).X = 60 * float32(player-1)
		}
	}, wild(8*time.Second), nil)
	d.m.Run(9 * time.Second)
	st := d.clients[0].Stats()
	require.Greater(t, st.RemoteMispredicted, uint64(20))
	require.Greater(t, st.Resimulated, uint64(100))
	require.Zero(t, st.MispredictedTicks)
	require.Zero(t, st.Mispredictions)
}

// A shot at a predicted remote player or at a common entity is judged where its shooter saw the
// target, which is ahead of the server: as long as no input is mispredicted, both ends hit the
// same point. Entities drawn in the past are judged in the past.
func TestRemotePredictedIsShotAhead(t *testing.T) {
	type shot struct {
		tick foretick.Tick
		hit  bool
		kind string
		at   float32
	}
	for _, frames := range []int{20, 30, 60, 144} {
		var srv, cl []shot
		ends := 0
		seat := both(sim.Link{Latency: 75 * time.Millisecond, Jitter: 5 * time.Millisecond})
		seat.FrameRate = frames
		d := newDerby(t, 5, 2, seat, func(g *bumpers) {
			to := &srv
			if ends > 0 {
				to = &cl
			}
			ends++
			g.spawn = func(f *foretick.ServerFrame, player foretick.PlayerID) {
				e := f.Spawn(&g.car, player)
				*g.body.Get(f.World, e) = chassis{X: -30 + 60*float32(player-1)}
			}
			g.hits = func(f *foretick.Frame, player foretick.PlayerID, h foretick.Hit, ok bool) {
				if player != 1 {
					return
				}
				s := shot{tick: f.Tick, hit: ok, at: h.Distance}
				if b := g.body.Find(f.World, h.Entity); b != nil {
					switch s.kind = "puff"; {
					case g.pedal.Find(f.World, h.Entity) != nil:
						s.kind = "car"
					case f.World.Owner(h.Entity) == ecs.Nobody || f.World.Owner(h.Entity) == ecs.Common:
						s.kind = "ball"
					}
				}
				*to = append(*to, s)
			}
		}, func(m *simtest.Match, player foretick.PlayerID, v client.View, at chassis) ride {
			now := m.Net.Now()
			switch {
			case now < 2*time.Second || now > 22*time.Second:
				return ride{}
			case player == 2: // drives up and down past the other's muzzle
				return ride{Y: 0.5 - float32(now/(3*time.Second)%2)}
			}
			return ride{Fire: true}
		}, nil)
		d.m.Run(2 * time.Second)
		f := d.srv.Frame()
		*d.g.body.Get(f.World, f.Spawn(&d.g.ball, ecs.Nobody)) = chassis{X: 10, Y: -9, VY: 0.75}
		for n := range 4 {
			d.m.Run(time.Duration(4+4*n) * time.Second)
			*d.g.body.Get(f.World, f.Spawn(&d.g.puff, 2)) = chassis{X: -10, Y: -3, VY: 2}
		}
		d.m.Run(24 * time.Second)
		hits, agreed := map[string]int{}, map[string]int{}
		by := map[foretick.Tick]shot{}
		for _, s := range srv {
			by[s.tick] = s
		}
		for _, s := range cl {
			is, ok := by[s.tick]
			if !ok || !s.hit && !is.hit || s.tick < 100 || s.tick%90 < 15 { // skips ticks in which the change of input is not known yet
				continue
			}
			hits[s.kind]++
			if s.hit && is.hit && s.kind == is.kind && math.Abs(float64(s.at-is.at)) < 0.002 {
				agreed[s.kind]++
			} else {
				t.Log(s, is)
			}
		}
		require.Greater(t, hits["car"], 20)
		require.Greater(t, hits["ball"], 15)
		require.Greater(t, hits["puff"], 35)
		require.Equal(t, hits["car"], agreed["car"])
		require.Equal(t, hits["ball"], agreed["ball"])
		require.GreaterOrEqual(t, agreed["puff"], hits["puff"]-1)
		t.Logf("%d frames a second: hits %v, of which met at the same point %v", frames, hits, agreed)
	}
}

// SyncTest also replays remote prediction, with guesses that depend on how far ahead of the
// newest snapshot they are. It still finds results that differ because of a fault in the game.
func TestRemotePredictedIsSyncTested(t *testing.T) {
	for _, fault := range []string{"", "a guess by a counter"} {
		n := 0
		faults, err := simtest.FindDesyncs(func() simtest.Player {
			g := &bumpers{}
			g.guess = func(f *foretick.Frame, e ecs.Entity, ahead int, cmd *ride) {
				at := g.pedal.Get(f.World, e)
				cmd.X, cmd.Y = at.X/float32(ahead), at.Y/float32(ahead)
				if n++; fault != "" {
					cmd.X = float32(n%5) / 4
				}
			}
			return simtest.Player{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(v client.View) ride {
				return ride{X: float32(v.Tick/9%3) - 1, Jump: v.Tick%31 == 0}
			})}
		}, simtest.SyncConfig{})
		require.NoError(t, err)
		if fault == "" {
			require.Empty(t, faults)
		} else {
			require.NotEmpty(t, faults, fault)
			require.Contains(t, faults[0], "ran again with another outcome")
		}
	}
}
