package simtest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type sprintPlace struct {
	X, Y float32 `net:"min=-500,max=500,step=0.01,lerp"`
}

type sprintBody struct {
	Rise  float32 `net:"min=-50,max=50,step=0.01"`
	Shots uint16
	Ticks uint16
}

type sprintMove struct {
	X    float32 `net:"min=-1,max=1,step=0.0078125"`
	Turn float32 `net:"min=-8,max=8,step=0.01,sum"`
	Jump bool    `net:"oneshot"`
	Fire bool    `net:"oneshot"`
	Drop bool    `net:"oneshot"`
}

type sprintShot struct{ N uint16 }

// sprint is a game whose players walk, jump, fire and drop what they hold: systems that
// can run for a part of a tick, next to one that cannot.
type sprint struct {
	place        ecs.Component[sprintPlace]
	body         ecs.Component[sprintBody]
	cmd          ecs.Component[sprintMove]
	runner, ball ecs.Prefab
	flag         ecs.Prefab
	shot         foretick.Event[sprintShot]
	news         foretick.Message[sprintShot]
	balls        *ecs.Query
	runners      *ecs.Query

	whole     bool // no system is declared with ecs.Partial
	meddles   bool // the walk writes the place of another player, which is a fault
	pushed    int  // ticks in which the server pushed
	events    int  // events on a client
	told      int
	cancelled int
	kept      int // flags that could not be destroyed
}

const sprintSpeed = 5

func (g *sprint) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("sprint", 1)
	p.Component(&g.place, foretick.Predicted())
	p.Component(&g.body, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.runner, "runner", &g.place, &g.body, &g.cmd)
	p.Prefab(&g.ball, "ball", &g.place)
	p.Prefab(&g.flag, "flag", &g.place)
	p.Spawns(&g.ball, foretick.SpawnConfig{OnPredicted: func(*foretick.Frame, ecs.Entity) { g.told++ }, OnCancelled: func(*foretick.Frame, ecs.Entity) { g.cancelled++ }})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		*g.place.Get(f.World, f.Spawn(&g.runner, player)) = sprintPlace{Y: float32(player)}
		for i := range 3 {
			*g.place.Get(f.World, f.Spawn(&g.flag, player)) = sprintPlace{X: float32(i), Y: 300}
		}
	})
	part := []ecs.Access{ecs.Partial()}
	if g.whole {
		part = nil
	}
	p.Shared("walk", g.walk, append(part, ecs.Read(&g.cmd), ecs.Write(&g.place, &g.body))...)
	p.Shared("act", g.act, append(part, ecs.Read(&g.cmd, &g.place), ecs.Write(&g.body), ecs.Create(&g.place), ecs.Structural(), ecs.After("walk"))...)
	p.Shared("fly", func(f *foretick.Frame, rows ecs.Rows) {
		place := g.place.Slice(rows)
		for i := range place {
			if place[i].Y < 250 { // flags have a higher Y, and stay where they are
				if place[i].X += 20 * f.DT; place[i].X > 60 {
					f.Destroy(rows.Entity(i))
				}
			}
		}
	}, ecs.Write(&g.place), ecs.Without(&g.body), ecs.Structural())
	p.Server("push", func(f *foretick.ServerFrame, rows ecs.Rows) {
		if g.pushed > 0 && int(f.Tick)%g.pushed == 0 {
			for i := range g.place.Slice(rows) {
				g.place.Slice(rows)[i].Y += 0.5
			}
		}
	}, ecs.Write(&g.place), ecs.With(&g.body))
	g.shot.OnPredicted(p, func(*foretick.Frame, foretick.By, sprintShot) { g.events++ })
	g.shot.OnServer(p, func(f *foretick.ServerFrame, _ foretick.By, s sprintShot) { g.news.Broadcast(f, s) })
	g.news.OnClient(p, func(*foretick.Frame, foretick.Tick, sprintShot) {})
	g.balls = p.Query(ecs.With(&g.place), ecs.Without(&g.body))
	g.runners = p.Query(ecs.With(&g.place, &g.body))
	return p
}

func (g *sprint) walk(f *foretick.Frame, rows ecs.Rows) {
	place, body, cmd := g.place.Slice(rows), g.body.Slice(rows), g.cmd.Slice(rows)
	for i := range place {
		place[i].X += float32(cmd[i].X * sprintSpeed * f.DT)
		place[i].X += cmd[i].Turn
		if cmd[i].Jump {
			body[i].Rise = 8
		}
		place[i].Y += float32(body[i].Rise * f.DT)
		body[i].Rise = max(0, body[i].Rise-float32(20*f.DT))
		body[i].Ticks++
	}
	if g.meddles && !f.IsServer() {
		defer f.World.Guard(f.World.Guard(false)) // debug builds would report the undeclared write
		for _, other := range g.balls.All(f.World) {
			if other.Owner() != rows.Owner() {
				for k := range g.place.Slice(other) {
					g.place.Slice(other)[k].X = 77
				}
			}
		}
	}
}

func (g *sprint) act(f *foretick.Frame, rows ecs.Rows) {
	for i := range rows.Len() {
		e, cmd, body := rows.Entity(i), g.cmd.Slice(rows)[i], &g.body.Slice(rows)[i]
		at := g.place.Slice(rows)[i]
		if cmd.Fire {
			body.Shots++
			ball := f.SpawnBy(e, &g.ball)
			*g.place.Get(f.World, ball) = sprintPlace{X: at.X, Y: at.Y}
			g.shot.Raise(f, e, sprintShot{body.Shots})
		}
		if cmd.Drop {
			for _, own := range g.balls.Owned(f.World, rows.Owner()) {
				for k, at := range g.place.Slice(own) {
					if at.Y > 250 {
						if !f.Destroy(own.Entity(k)) {
							g.kept++
						}
						return
					}
				}
			}
		}
	}
}

// own returns the drawn place of a client's own runner.
func (g *sprint) own(v client.View) (sprintPlace, bool) {
	for _, rows := range g.runners.All(v.World) {
		if rows.Owner() == v.Player && rows.Len() > 0 {
			return g.place.Slice(rows)[0], true
		}
	}
	return sprintPlace{}, false
}

// A press shows in the first frame that reads it. At 144 frames and 30 ticks a second, half of
// all presses show within one frame.
func TestPressToPicture(t *testing.T) {
	const rate = 144
	frame := time.Second / rate
	var frames, times [2][]float64
	for i, partial := range []bool{false, true} {
		m := simtest.New(5)
		var g sprint
		_, err := m.Serve(server.Config{Protocol: g.protocol()})
		require.NoError(t, err)
		cg, hold := &sprint{}, float32(0)
		link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.01}
		var pressed time.Duration
		var before sprintPlace
		waited, waiting := 0, false
		c, err := m.Join(client.Config{
			Protocol: cg.protocol(), PartialTicks: partial,
			Sample: client.Sample(&cg.cmd, func(client.View) sprintMove { return sprintMove{X: hold} }),
		}, simtest.Seat{Up: link, Down: link, FrameRate: rate, After: func(v client.View) {
			at, ok := cg.own(v)
			if !ok {
				return
			}
			if waiting {
				if waited++; at.X != before.X {
					waiting = false
					frames[i] = append(frames[i], float64(waited))
					times[i] = append(times[i], float64(m.Net.Now()-pressed)/float64(frame))
				}
			}
			before = at
		}})
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(1, 2))
		for n := range 400 {
			m.Net.At(3*time.Second+time.Duration(n)*150*time.Millisecond+time.Duration(r.IntN(100))*time.Millisecond/2, func() {
				if hold != 0 { // the runner stops, and nothing is measured
					hold = 0
					return
				}
				hold, pressed, waiting, waited = 1, m.Net.Now(), true, 0
				if n%4 == 0 {
					hold = -1
				}
			})
		}
		m.Run(64 * time.Second)
		require.Equal(t, client.Playing, c.View().State)
		slices.Sort(frames[i])
		slices.Sort(times[i])
		require.Greater(t, len(frames[i]), 190)
		n := len(frames[i])
		t.Logf("partial ticks %v: %d presses, in the frame (1: the first that could) p50 %v, p99 %v, most %v; after, in frames of %v, p50 %.2f, p99 %.2f",
			partial, n, frames[i][n/2], frames[i][n*99/100], frames[i][n-1], frame, times[i][n/2], times[i][n*99/100])
	}
	for _, list := range [][]float64{frames[1], times[1]} {
		require.LessOrEqual(t, list[len(list)/2], 1.0)
		require.LessOrEqual(t, list[len(list)*99/100], 1.0)
	}
	require.Greater(t, frames[0][len(frames[0])/2], 1.0, "by whole ticks")
}

// sprinted is the result of a match of sprinters, apart from how their own bodies were drawn.
type sprinted struct {
	stats    []string
	server   uint64 // digest of the server's state in every tick
	others   uint64 // digest of other players and of flying balls in each frame
	told     []int
	moved    int // frames that show the own player
	balls    int
	packets  uint64
	compared uint64
	wrong    uint64
}

func fold(h, v uint64) uint64 { return (h ^ v) * 0x9E3779B97F4A7C15 }

// sprintOn plays a match of two sprinters who do everything, over a bad network.
func sprintOn(t *testing.T, seed uint64, partial, whole, meddles bool) sprinted {
	t.Helper()
	m := simtest.New(seed)
	var out sprinted
	g := &sprint{whole: whole, pushed: 41}
	var srv *server.Server
	srv, err := m.Serve(server.Config{Protocol: g.protocol(), OnTick: func(*foretick.ServerFrame) {
		out.server = fold(out.server, probe.OfServer(srv).Hash())
	}})
	require.NoError(t, err)
	var clients []*client.Client
	var games []*sprint
	link := sim.Link{Latency: 60 * time.Millisecond, Jitter: 15 * time.Millisecond, Loss: 0.03, Duplicate: 0.01}
	for n := range 2 {
		cg := &sprint{whole: whole, meddles: meddles}
		r, pressed := rand.New(rand.NewPCG(seed, uint64(n))), foretick.Tick(0)
		cfg := client.Config{Protocol: cg.protocol(), PartialTicks: partial, Sample: client.Sample(&cg.cmd, func(v client.View) sprintMove {
			cmd := sprintMove{X: float32(v.Tick/7*2654435761>>28)/8 - 1, Turn: float32(r.IntN(3)-1) / 50}
			if v.Tick != pressed && r.IntN(8) == 0 {
				pressed = v.Tick
				cmd.Jump, cmd.Fire, cmd.Drop = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(20) == 0
			}
			return cmd
		})}
		c, err := m.Join(cfg, simtest.Seat{Up: link, Down: link, FrameRate: 90, After: func(v client.View) {
			if _, ok := cg.own(v); ok {
				out.moved++
			}
			for _, rows := range cg.runners.All(v.World) {
				if rows.Owner() != v.Player {
					out.others = foldPlaces(out.others, cg.place.Slice(rows))
				}
			}
			for _, rows := range cg.balls.All(v.World) {
				if places := cg.place.Slice(rows); !meddles || rows.Owner() != v.Player {
					out.others = foldPlaces(out.others, places)
					out.balls += len(places)
				}
			}
		}})
		require.NoError(t, err)
		clients, games = append(clients, c), append(games, cg)
	}
	m.Run(12 * time.Second)
	for i, c := range clients {
		st := c.Stats()
		out.stats = append(out.stats, fmt.Sprintln(st.PredictedTicks, st.Compared, st.Mispredictions, st.SoftCorrections, st.MispredictedTicks, st.Resimulated, st.SpawnsPredicted, st.SpawnsCancelled, st.HardResets, st.ByCause))
		require.Zero(t, games[i].kept)
		out.told = append(out.told, games[i].events, games[i].told, games[i].cancelled)
		out.compared, out.wrong = out.compared+st.Compared, out.wrong+st.Mispredictions
		require.Equal(t, client.Playing, c.View().State)
	}
	out.packets = srv.Stats().PacketsIn
	return out
}

func foldPlaces(h uint64, places []sprintPlace) uint64 {
	for _, at := range places {
		h = fold(fold(h, uint64(math.Float32bits(at.X))), uint64(math.Float32bits(at.Y)))
	}
	return h
}

// With partial ticks and without, clients predict the same ticks and mispredict the same ones, and
// the server computes the same state in every tick. In every frame everything except the own body
// is drawn the same. Spawns, destructions and events in parts of ticks have no effect.
func TestPartialTicksChangeNothing(t *testing.T) {
	seeds := 20
	if small {
		seeds = 2
	}
	var wrong, compared uint64
	for seed := range uint64(seeds) {
		without, with := sprintOn(t, seed, false, false, false), sprintOn(t, seed, true, false, false)
		require.Equal(t, without, with, "seed %d", seed)
		require.Greater(t, with.balls, 500)
		require.Greater(t, with.told[0]+with.told[3], 10)
		require.Greater(t, with.moved, 1500)
		wrong, compared = wrong+with.wrong, compared+with.compared
	}
	t.Logf("%d seeds: %d of %d predictions wrong, with partial ticks and without", seeds, wrong, compared)
	require.Greater(t, wrong, uint64(10*seeds), "else nothing was at stake")
}

// A part of a tick that writes other entities changes no frame.
func TestPartialTicksWriteNoOthers(t *testing.T) {
	without, with := sprintOn(t, 3, false, false, true), sprintOn(t, 3, true, false, true)
	require.Equal(t, without, with)
	require.Greater(t, with.balls, 300)
}

// A body that moves evenly is drawn moving evenly, across ticks too. A correction of half a metre
// fades as it does with whole ticks.
func TestPartialTicksAreSmooth(t *testing.T) {
	const rate = 144
	m := simtest.New(2)
	g := &sprint{pushed: 60}
	_, err := m.Serve(server.Config{Protocol: g.protocol()})
	require.NoError(t, err)
	cg := &sprint{}
	link := sim.Link{Latency: 50 * time.Millisecond}
	var last sprintPlace
	var steps []float64
	jump, rise := 0., 0.
	c, err := m.Join(client.Config{
		Protocol: cg.protocol(), PartialTicks: true,
		Sample: client.Sample(&cg.cmd, func(client.View) sprintMove { return sprintMove{X: 1} }),
	}, simtest.Seat{Up: link, Down: link, FrameRate: rate, After: func(v client.View) {
		at, ok := cg.own(v)
		if ok && m.Net.Now() > 3*time.Second {
			require.True(t, v.Fraction >= 1 && v.Fraction <= 2, v.Fraction)
			steps = append(steps, float64(at.X-last.X)*rate/sprintSpeed)
			jump, rise = max(jump, math.Abs(float64(at.Y-last.Y))), rise+float64(at.Y-last.Y)
		}
		last = at
	}})
	require.NoError(t, err)
	m.Run(23 * time.Second)
	slices.Sort(steps)
	n := len(steps)
	t.Logf("%d frames: speed on the screen %.3f to %.3f of the body's, p1 %.3f, p99 %.3f; pushed by %.1f m in all, by %.3f m in a frame at most", n, steps[0], steps[n-1], steps[n/100], steps[n*99/100], rise, jump)
	require.Greater(t, steps[n/100], 0.9)
	require.Less(t, steps[n*99/100], 1.1)
	require.Greater(t, steps[0], 0.6)
	require.Less(t, steps[n-1], 1.4)
	require.Greater(t, rise, 4.)
	require.Less(t, jump, 0.1)
	require.Greater(t, c.Stats().Mispredictions, uint64(8))
}

// A frame with a part of a tick allocates nothing.
func TestPartialTickAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	n := sim.NewNetwork(3)
	listen := n.Listen()
	g, cg := &sprint{pushed: 61}, &sprint{}
	srv, err := server.New(server.Config{Protocol: g.protocol(), Transport: listen})
	require.NoError(t, err)
	link := sim.Link{Latency: 60 * time.Millisecond}
	frame := 0
	c, err := client.New(client.Config{Protocol: cg.protocol(), Transport: n.Dial(listen, link, link), PartialTicks: true, Sample: client.Sample(&cg.cmd, func(client.View) sprintMove {
		return sprintMove{X: float32(frame/100%3) - 1, Fire: frame%31 == 0, Jump: frame%53 == 0}
	})})
	require.NoError(t, err)
	var memory runtime.MemStats
	var mallocs, steps uint64
	for now := time.Duration(0); now < 30*time.Second; now += time.Second / 144 {
		n.Run(now)
		srv.Step(simtest.Epoch.Add(now))
		runtime.ReadMemStats(&memory)
		had := memory.Mallocs
		c.Step(simtest.Epoch.Add(now))
		frame++
		if runtime.ReadMemStats(&memory); now > 20*time.Second {
			mallocs, steps = mallocs+memory.Mallocs-had, steps+1
		}
	}
	require.Greater(t, c.Stats().SpawnsPredicted, uint64(100))
	t.Logf("%d allocations in %d frames", mallocs, steps)
	// The runtime itself allocates now and then while the counters are read.
	require.Less(t, float64(mallocs)/float64(steps), 0.02)
}

// If no part of a tick can be drawn, New returns an error that names the reason.
func TestPartialTicksAreRefused(t *testing.T) {
	end := sim.NewNetwork(1)
	listen := end.Listen()
	for want, cfg := range map[string]func(*client.Config, *sprint, *foretick.Protocol){
		"declare those that move the player with ecs.Partial": nil,
		"only predicted ticks have parts":                     func(c *client.Config, _ *sprint, _ *foretick.Protocol) { c.NoPrediction = true },
		"an observer predicts nothing":                        func(c *client.Config, _ *sprint, _ *foretick.Protocol) { c.Observe = &client.Observe{} },
		"or let Server systems move these objects": func(_ *client.Config, g *sprint, p *foretick.Protocol) {
			p.Shared("kick", func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&g.cmd), ecs.WriteOther(&g.place))
		},
		`shared system "count" writes a singleton`: func(_ *client.Config, g *sprint, p *foretick.Protocol) {
			score := new(ecs.Singleton[sprintShot])
			p.Singleton(score, foretick.Predicted())
			p.Shared("count", func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&g.cmd), ecs.Write(score))
		},
		"or leave out PredictRemote": func(_ *client.Config, g *sprint, p *foretick.Protocol) {
			foretick.PredictRemote(p, &g.cmd, func(*foretick.Frame, ecs.Entity, int, *sprintMove) {}, foretick.RemoteConfig{})
		},
		`system "look" is declared with ecs.Partial`: func(_ *client.Config, g *sprint, p *foretick.Protocol) {
			p.Render("look", func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&g.place), ecs.Partial())
		},
		`system "rule" is declared with ecs.Partial`: func(_ *client.Config, g *sprint, p *foretick.Protocol) {
			p.Server("rule", func(*foretick.ServerFrame, ecs.Rows) {}, ecs.Read(&g.place), ecs.Partial())
		},
		`system "once" is declared with ecs.Partial`: func(_ *client.Config, _ *sprint, p *foretick.Protocol) {
			p.Shared("once", func(*foretick.Frame, ecs.Rows) {}, ecs.Once(), ecs.Partial())
		},
	} {
		g := &sprint{whole: cfg == nil}
		c := client.Config{Protocol: g.protocol(), Transport: end.Dial(listen, sim.Link{}, sim.Link{}), PartialTicks: true}
		if cfg != nil {
			cfg(&c, g, c.Protocol)
		}
		_, err := client.New(c)
		require.ErrorContains(t, err, want)
	}
}
