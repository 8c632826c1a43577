package shottest

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
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

type (
	// orbit is a position on a circle, with its angle.
	orbit struct {
		X, Y float32 `net:"min=-64,max=64,step=0.01,lerp"`
		A    float32 `net:"angle,bits=14"`
	}
	// girth has only fields that are not interpolated. It changes every few ticks.
	girth struct {
		Size uint8 `net:"max=15"`
		Life uint8
		Down bool
	}
	// plate is not predicted, and changes now and then.
	plate struct {
		Number uint8 `net:"max=63"`
		Thick  uint8 `net:"max=15"`
	}
	tug struct {
		Go   bool
		Fire bool `net:"oneshot"`
	}
	// gear is the driver's last input.
	gear struct{ Go bool }
)

// carousel is a game of targets that move in circles and that all clients predict:
// players' targets, common ones, and some that are drawn in the past.
type carousel struct {
	at      ecs.Component[orbit]
	girth   ecs.Component[girth]
	plate   ecs.Component[plate]
	gear    ecs.Component[gear]
	cmd     ecs.Component[tug]
	car     ecs.Prefab
	ball    ecs.Prefab // an unowned entity that all clients predict
	kite    ecs.Prefab // an entity that is drawn in the past
	shot    foretick.Event[lagcomp.Ray]
	targets *ecs.Query

	rate     int
	blind    bool // clients predict nothing
	mainland bool // no entity is common
	armoured bool // the hitboxes depend on the plates, which grow
	fired    func(f *foretick.Frame, player foretick.PlayerID)
	script   func(f *foretick.ServerFrame)
	leap     func(f *foretick.Frame, e ecs.Entity, at *orbit, how *girth) // a change that all clients predict
}

func (g *carousel) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("carousel", 1)
	p.SetTickRate(max(g.rate, 30))
	p.Component(&g.at, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.girth, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.gear, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.plate)
	p.Command(&g.cmd)
	p.Prefab(&g.car, "car", &g.at, &g.girth, &g.plate, &g.gear, &g.cmd)
	p.Prefab(&g.ball, "ball", &g.at, &g.girth, &g.plate)
	p.Prefab(&g.kite, "kite", &g.at, &g.girth, &g.plate)
	foretick.Hitboxes(p, func(b *foretick.HitboxBuilder) {
		at, how, plate := foretick.HitboxField(b, &g.at), foretick.HitboxField(b, &g.girth), foretick.HitboxField(b, &g.plate)
		if !how.Down {
			b.Add(lagcomp.SphereHitbox(lagcomp.Sphere{X: at.X, Y: at.Y, R: 0.3 + 0.02*float32(how.Size) + 0.5*float32(plate.Thick)}))
		}
	}, &g.at, &g.girth, &g.plate)
	foretick.LifeID(p, &g.girth, func(how *girth) uint32 { return uint32(how.Life) })
	foretick.TrackHistory(p, &g.girth)
	foretick.TrackHistory(p, &g.at)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.put(f, &g.car, player, uint8(player), float32(player)*2)
	})
	p.Shared("press", func(_ *foretick.Frame, rows ecs.Rows) {
		gears, cmd := g.gear.Slice(rows), g.cmd.Slice(rows)
		for i := range gears {
			gears[i].Go = cmd[i].Go
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.gear))
	p.Shared("go", func(f *foretick.Frame, rows ecs.Rows) {
		at, how := g.at.Slice(rows), g.girth.Slice(rows)
		for i := range at {
			if !rows.Has(g.gear.ID()) || g.gear.Slice(rows)[i].Go {
				g.turn(f, &at[i], &how[i])
			}
			if g.leap != nil {
				g.leap(f, rows.Entity(i), &at[i], &how[i])
			}
		}
	}, ecs.Write(&g.at, &g.girth), ecs.Optional(&g.gear), ecs.After("press"))
	if !g.mainland {
		p.Shared("touch", func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&g.cmd), ecs.WriteOther(&g.at, &g.girth), ecs.After("go"))
	}
	p.Shared("fire", func(f *foretick.Frame, rows ecs.Rows) {
		at, cmd := g.at.Slice(rows), g.cmd.Slice(rows)
		for i := range cmd {
			if cmd[i].Fire {
				g.shot.Raise(f, rows.Entity(i), lagcomp.Ray{X: at[i].X, Y: at[i].Y, DY: 1, Range: 60})
			}
		}
	}, ecs.Read(&g.cmd, &g.at), ecs.After("go"))
	p.Server("plates", func(f *foretick.ServerFrame, rows ecs.Rows) {
		plate := g.plate.Slice(rows)
		for i := range plate {
			if plate[i].Thick = 0; g.armoured {
				plate[i].Thick = uint8(f.Tick / 8 % 4)
			}
		}
	}, ecs.Write(&g.plate))
	p.Server("script", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if g.script != nil {
			defer f.World.Guard(f.World.Guard(false))
			g.script(f)
		}
	}, ecs.Once(), ecs.WriteOther(&g.at, &g.girth, &g.plate), ecs.After("go"))
	g.shot.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, _ lagcomp.Ray) {
		if g.fired != nil {
			g.fired(f.Frame, by.Player)
		}
	}, ecs.ReadOther(&g.at, &g.girth, &g.plate, &g.gear))
	g.shot.OnPredicted(p, func(f *foretick.Frame, by foretick.By, _ lagcomp.Ray) {
		if g.fired != nil {
			g.fired(f, by.Player)
		}
	})
	if !g.blind {
		foretick.PredictRemote(p, &g.cmd, func(f *foretick.Frame, e ecs.Entity, _ int, cmd *tug) {
			cmd.Go = g.gear.Get(f.World, e).Go
		}, foretick.RemoteConfig{})
	}
	g.targets = p.Query(ecs.With(&g.at, &g.plate))
	return p
}

func (g *carousel) put(f *foretick.ServerFrame, k *ecs.Prefab, player foretick.PlayerID, number uint8, angle float32) ecs.Entity {
	e := f.Spawn(k, player)
	*g.at.Get(f.World, e) = orbit{X: float32(number%8)*2 - 8, Y: float32(number % 5), A: float32(math.Remainder(float64(angle), 2*math.Pi))}
	g.plate.Get(f.World, e).Number = number
	return e
}

// turn moves a target along its circle, at 6 m/s.
func (g *carousel) turn(f *foretick.Frame, at *orbit, how *girth) {
	at.A = float32(math.Remainder(float64(at.A+1.5*f.DT), 2*math.Pi))
	sin, cos := math.Sincos(float64(at.A))
	at.X += float32(cos) * 6 * f.DT
	at.Y += float32(sin) * 6 * f.DT
	how.Size = uint8((at.A + math.Pi) / (2 * math.Pi) * 15.99)
}

// standing is the position and the girth of a target.
type standing struct {
	at  orbit
	how girth
}

// places returns the standing of all targets, by number.
func (g *carousel) places(w *ecs.World) map[uint8]standing {
	out := map[uint8]standing{}
	for _, rows := range g.targets.All(w) {
		at, how := g.at.Slice(rows), g.girth.Slice(rows)
		for i, plate := range g.plate.Slice(rows) {
			out[plate.Number] = standing{at[i], how[i]}
		}
	}
	return out
}

// sighted is a target's position in a player's view.
type sighted struct {
	ball lagcomp.Sphere
	hit  bool // a ray straight at the target hits it
	at   orbit
	how  girth
	has  bool // ComponentAt returned the girth
	kind string
}

// sightings are the sighted targets of one end, by tick and the target's number.
type sightings map[foretick.Tick]map[uint8]sighted

// take records every target in a player's view.
func (l sightings) take(g *carousel, f *foretick.Frame, player foretick.PlayerID) {
	l.takeFrom(g, f, player, f.Rewind(player))
}

func (l sightings) takeFrom(g *carousel, f *foretick.Frame, player foretick.PlayerID, seen foretick.HitView) {
	out := map[uint8]sighted{}
	for _, rows := range g.targets.All(f.World) {
		for i, plate := range g.plate.Slice(rows) {
			e := rows.Entity(i)
			v, ok := seen.Hitbox(e, 0)
			if !ok || rows.Owner() == player {
				continue
			}
			s := sighted{ball: v.Bound(), kind: "ball"}
			at := lagcomp.Vec{X: s.ball.X, Y: s.ball.Y}
			ray := lagcomp.RayTo(lagcomp.Vec{X: at.X, Y: at.Y, Z: 20}, at)
			ray.Range = 40
			h, ok := seen.Only(e).Raycast(ray)
			s.hit = ok && h.Entity == e
			s.how, s.has = foretick.ComponentAt(seen, &g.girth, e)
			s.at, _ = foretick.ComponentAt(seen, &g.at, e)
			switch {
			case g.gear.Find(f.World, e) != nil:
				s.kind = "car"
			case rows.Owner() != ecs.Nobody && rows.Owner() != ecs.Common:
				s.kind = "kite"
			}
			out[plate.Number] = s
		}
	}
	l[f.Tick] = out
}

// agreement is how many targets were judged where they were shown.
type agreement struct {
	n, same int
	unseen  int // targets that the server had, and that the screen did not show
	worst   float64
	first   string
}

// compare compares what a client saw with what was judged, by prefab, from a tick on.
// It skips expected differences.
func (l sightings) compare(srv sightings, from foretick.Tick, within float64, skip func(t foretick.Tick, number uint8, a, b sighted) bool) map[string]*agreement {
	out := map[string]*agreement{"car": {}, "ball": {}, "kite": {}}
	for t, here := range l {
		there, judged := srv[t]
		if !judged || t < from {
			continue
		}
		for number, b := range there {
			if a, shown := here[number]; !shown && (skip == nil || !skip(t, number, a, b)) {
				out[b.kind].unseen++
			}
		}
		for number, a := range here {
			b := there[number]
			if skip != nil && skip(t, number, a, b) {
				continue
			}
			g, within := out[a.kind], within
			if a.kind == "kite" {
				within = max(within, 0.02) // the server clamps some claims because of random delays
			}
			g.n++
			d := math.Hypot(float64(a.ball.X-b.ball.X), float64(a.ball.Y-b.ball.Y))
			g.worst = max(g.worst, d)
			if d < within && math.Abs(float64(a.ball.R-b.ball.R)) < 1e-4 && a.hit && b.hit && a.has && b.has && a.how == b.how &&
				math.Hypot(float64(a.at.X-b.at.X), float64(a.at.Y-b.at.Y)) < within {
				g.same++
			} else if g.first == "" {
				g.first = fmt.Sprintf("tick %d, target %d:\n%+v\n%+v", t, number, a, b)
			}
		}
	}
	return out
}

// fair is a match of one shooter and several targets.
type fair struct {
	m       *simtest.Match
	srv     *server.Server
	g       *carousel
	ends    []*carousel
	clients []*client.Client
	server  sightings // views of the first player's shots
	client  sightings
	was     map[foretick.Tick]map[uint8]standing // targets on the server after each tick
}

type fairConfig struct {
	seed   uint64
	server server.Config
	client client.Config // configuration of the shooter's client
	seat   simtest.Seat  // the shooter's seat
	each   func(g *carousel)
	judged func(s *fair, f *foretick.Frame, seen foretick.HitView)
}

func newFair(t *testing.T, cfg fairConfig) *fair {
	t.Helper()
	s := &fair{m: simtest.New(cfg.seed + 1), server: sightings{}, client: sightings{}, was: map[foretick.Tick]map[uint8]standing{}}
	end := func() *carousel {
		g := &carousel{}
		if cfg.each != nil {
			cfg.each(g)
		}
		return g
	}
	s.g = end()
	cfg.server.Protocol = s.g.protocol()
	s.g.fired = func(f *foretick.Frame, player foretick.PlayerID) {
		if player == 1 {
			seen := f.Rewind(player)
			s.server.takeFrom(s.g, f, player, seen)
			if cfg.judged != nil {
				cfg.judged(s, f, seen)
			}
		}
	}
	cfg.server.OnTick = func(f *foretick.ServerFrame) { s.was[f.Tick] = s.g.places(f.World) }
	var err error
	s.srv, err = s.m.Serve(cfg.server)
	require.NoError(t, err)
	for n := range 2 {
		g, c, seat := end(), client.Config{}, both(sim.Link{Latency: 20 * time.Millisecond})
		if n == 0 {
			c, seat = cfg.client, cfg.seat
			g.fired = func(f *foretick.Frame, player foretick.PlayerID) {
				if player == 1 {
					s.client.take(g, f, player)
				}
			}
		}
		c.Protocol = g.protocol()
		c.Sample = client.Sample(&g.cmd, func(v client.View) tug {
			if v.Player == 1 {
				return tug{Fire: v.Tick/2%2 == 0} // frames of two ticks must not miss the press
			}
			return tug{Go: s.m.Net.Now() > time.Second}
		})
		cl, err := s.m.Join(c, seat)
		require.NoError(t, err)
		s.ends, s.clients = append(s.ends, g), append(s.clients, cl)
		for cl.View().Player == 0 { // so that the players get their numbers in this order
			s.m.Run(s.m.Net.Now() + 50*time.Millisecond)
			require.Less(t, s.m.Net.Now(), 5*time.Second)
		}
		require.EqualValues(t, n+1, cl.View().Player)
	}
	s.m.Run(s.m.Net.Now() + 200*time.Millisecond)
	for n := range uint8(3) {
		s.g.put(s.srv.Frame(), &s.g.ball, ecs.Nobody, 10+n, float32(n))
		s.g.put(s.srv.Frame(), &s.g.kite, 2, 20+n, float32(n)+0.5)
	}
	return s
}

func both(l sim.Link) simtest.Seat { return simtest.Seat{Up: l, Down: l} }

// A hit on an honest screen is confirmed at the same point, for any path, frame rate
// and snapshot rate: others' avatars and common entities, which are shown ahead, and
// entities drawn in the past.
func TestHitViewAheadIsJudgedThere(t *testing.T) {
	links := []sim.Link{
		{},
		{Latency: 25 * time.Millisecond, Jitter: 8 * time.Millisecond},
		{Latency: 75 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.05},
		{Latency: 150 * time.Millisecond},
		{Latency: 150 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05},
	}
	for _, rate := range []int{30, 60} {
		for i, link := range links {
			for _, frames := range []int{30, 60, 144} {
				if small && (i != 2 || frames != 60) {
					continue
				}
				cfg := fairConfig{seed: uint64(i), seat: both(link), each: func(g *carousel) { g.rate = rate }}
				cfg.seat.FrameRate = frames
				if rate == 60 {
					cfg.server.SnapshotRate = 20
				}
				s := newFair(t, cfg)
				s.m.Run(14 * time.Second)
				require.NoError(t, s.m.Err())
				got := s.client.compare(s.server, foretick.Tick(6*rate), 0.003, nil)
				for kind, a := range got {
					name := fmt.Sprintf("%d Hz, %v, jitter %v, loss %v, %d frames, %s", rate, 2*link.Latency, link.Jitter, link.Loss, frames, kind)
					t.Logf("%s: %d of %d, worst %.4f m", name, a.same, a.n, a.worst)
					least := 1.0
					if kind == "kite" { // loss and delay change which past is shown
						if least = 0.99; link.Loss > 0 {
							least = 0.95
						}
					}
					require.Greater(t, a.n, 80, name)
					require.GreaterOrEqual(t, float64(a.same), float64(a.n)*least, "%s: %s", name, a.first)
				}
			}
		}
	}
}

// Input delay covers a round trip beyond the reach of prediction: then a command is
// many ticks ahead of the frame in which it was made.
func TestHitViewAheadOfDelayedInput(t *testing.T) {
	for _, rate := range []int{30, 60} {
		for i, latency := range []time.Duration{150, 250, 350} {
			if small && (i == 1) != (rate == 60) {
				continue
			}
			link := sim.Link{Latency: latency * time.Millisecond, Jitter: 5 * time.Millisecond}
			cfg := fairConfig{seed: 5, seat: both(link), each: func(g *carousel) { g.rate = rate }}
			cfg.client.MaxRTT, cfg.client.History = 50*time.Millisecond, 50*rate/1000+rate*7/20+5
			s := newFair(t, cfg)
			s.m.Run(14 * time.Second)
			require.NoError(t, s.m.Err())
			got := s.client.compare(s.server, foretick.Tick(6*rate), 6.0/float64(rate)*3/32+0.001, nil)
			for kind, a := range got {
				t.Logf("%d Hz, %v, %s: %d of %d, worst %.4f m", rate, 2*link.Latency, kind, a.same, a.n, a.worst)
				if kind != "kite" {
					require.Greater(t, a.n, 80)
					require.GreaterOrEqual(t, float64(a.same), float64(a.n)*0.99, a.first)
				}
			}
		}
	}
}

// With a budget so small that snapshots postpone entities, targets shown ahead are
// still judged where they are shown.
func TestHitViewAheadOnASmallBudget(t *testing.T) {
	s := crowded(t, 2500, 30, func(g *carousel) (*ecs.Prefab, foretick.PlayerID) { return &g.kite, 2 })
	st := s.clients[0].Stats()
	require.Less(t, st.RemotePredicted, st.Compared/2, "most snapshots say nothing of the other's car")
	require.Positive(t, st.RemotePredicted)
	for kind, a := range s.client.compare(s.server, 300, 0.003, nil) {
		t.Logf("%s: %d of %d, worst %.4f m", kind, a.same, a.n, a.worst)
		if kind != "kite" {
			require.Greater(t, a.n, 100)
			require.GreaterOrEqual(t, float64(a.same), float64(a.n)*0.99, a.first)
		}
	}
}

// Even if all push many balls, the other's car is shown and can be hit.
func TestHitViewAheadAmongManyBalls(t *testing.T) {
	s := crowded(t, 3000, 20, func(g *carousel) (*ecs.Prefab, foretick.PlayerID) { return &g.ball, ecs.Nobody })
	for kind, a := range s.client.compare(s.server, 300, 0.003, nil) {
		require.Greater(t, a.n, 100, kind)
		require.GreaterOrEqual(t, float64(a.same), float64(a.n)*0.99, "%s: %v", kind, a.first)
	}
}

// crowded plays a match with a byte rate that is too small for everything that moves.
func crowded(t *testing.T, rate int, more uint8, what func(g *carousel) (*ecs.Prefab, foretick.PlayerID)) *fair {
	cfg := fairConfig{seed: 7, seat: both(sim.Link{Latency: 60 * time.Millisecond, Jitter: 10 * time.Millisecond})}
	cfg.client.ReceiveRate = rate + trailRate
	s := newFair(t, cfg)
	k, player := what(s.g)
	for n := range more {
		s.g.put(s.srv.Frame(), k, player, 30+n, float32(n))
	}
	s.m.Run(20 * time.Second)
	require.NoError(t, s.m.Err())
	return s
}

// Predicted changes of a target cause no wrong hits: it teleports, respawns, lies down and
// stands up, and is hit as drawn in each of these ticks, unless it has another life
// by now.
func TestHitViewAheadAcrossLives(t *testing.T) {
	for _, cut := range []bool{false, true} {
		cfg := fairConfig{seed: 9, seat: both(sim.Link{Latency: 60 * time.Millisecond, Jitter: 5 * time.Millisecond}), each: func(g *carousel) {
			g.leap = func(f *foretick.Frame, e ecs.Entity, at *orbit, how *girth) {
				was, down := at.A-1.5*f.DT, how.Down
				if how.Down = at.A > 2 && at.A < 2.4; down && !how.Down {
					how.Life++ // stands up
				}
				for _, edge := range []float32{-2, -1, 0, 1} {
					if at.A > edge && was <= edge && at.A != 0 {
						at.X += float32(math.Copysign(3, float64(-at.X)))
						if cut {
							f.Teleport(e)
						} else {
							how.Life++
						}
					}
				}
			}
		}}
		s := newFair(t, cfg)
		s.m.Run(20 * time.Second)
		require.NoError(t, s.m.Err())
		all, lost := 0, 0
		got := s.client.compare(s.server, 180, 0.003, func(tick foretick.Tick, number uint8, a, b sighted) bool {
			all++
			leapt := false // it leapt since the frame, or in the tick of the shot
			for k := tick - 4; k <= tick; k++ {
				x, y := s.was[k-1][number], s.was[k][number]
				leapt = leapt || x.how.Down != y.how.Down || math.Abs(float64(x.at.X-y.at.X)) > 1
			}
			if leapt && b == (sighted{}) {
				lost++
				return true
			}
			return false
		})
		for kind, a := range got {
			t.Logf("cut %v, %s: %d of %d and %d unseen, worst %.4f m", cut, kind, a.same, a.n, a.unseen, a.worst)
			if kind != "kite" {
				require.Greater(t, a.n, 100)
				require.Equal(t, a.n, a.same, a.first)
				require.Zero(t, a.unseen)
			}
		}
		t.Logf("%d of %d were of another life by then", lost, all)
		require.Less(t, lost, all/8)
	}
}

// when returns how many ticks before now a target was at a point, in the server's
// history. It returns false if it was not there recently.
func (s *fair) when(number uint8, at lagcomp.Sphere, now foretick.Tick) (float64, bool) {
	for k := now - 1; k > now-40; k-- {
		a, b := s.was[k-1][number].at, s.was[k][number].at
		dx, dy := float64(b.X-a.X), float64(b.Y-a.Y)
		px, py := float64(at.X-a.X), float64(at.Y-a.Y)
		f := (px*dx + py*dy) / (dx*dx + dy*dy)
		if f >= -1e-3 && f <= 1.001 && math.Hypot(px-f*dx, py-f*dy) < 0.003 {
			return float64(now-k) + 1 - f, true
		}
	}
	return 0, false
}

// For any offset that a liar claims, targets shown ahead are judged no earlier than the
// time granted for others, and no later than the present. For targets drawn in the past
// the offset changes nothing.
func TestHitViewAheadOfALiar(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i, lie := range []func(c *netcode.Command){
		func(c *netcode.Command) { c.Offset = uint8(rng.UintN(256)) },
		func(c *netcode.Command) { c.Offset = 255 },
		func(c *netcode.Command) { c.Offset = 1 },
		func(c *netcode.Command) { c.Offset = 0 },
		func(c *netcode.Command) { c.Offset, c.Render = 255, c.Render-300 },
		func(c *netcode.Command) { c.Offset, c.Render = 1, c.Tick+300 },
	} {
		n, least, most, later := 0, math.Inf(1), math.Inf(-1), 0.0
		var s *fair
		cfg := fairConfig{seed: 11, seat: both(sim.Link{Latency: 75 * time.Millisecond, Jitter: 5 * time.Millisecond})}
		cfg.seat.Wrap = func(e transport.Endpoint) transport.Endpoint {
			return &liar{Endpoint: e, fields: fieldsOf[tug](), now: func() time.Duration { return 0 }, claim: func(_ time.Duration, c *netcode.Command) { lie(c) }}
		}
		cfg.judged = func(s *fair, f *foretick.Frame, seen foretick.HitView) {
			if f.Tick < 120 {
				return
			}
			for number, x := range s.server[f.Tick] {
				back, ok := s.when(number, x.ball, f.Tick)
				require.True(t, ok, "%d %+v", number, x)
				if x.kind == "kite" {
					if i < 4 { // otherwise the client's newest frame is another limit
						require.InDelta(t, seen.Behind(), back, 0.05)
					}
					continue
				}
				n++
				least, most = min(least, back), max(most, back)
				later = max(later, back-float64(seen.Behind()))
			}
		}
		s = newFair(t, cfg)
		s.m.Run(14 * time.Second)
		require.NoError(t, s.m.Err())
		t.Logf("%d judged from %.2f to %.2f ticks back, %.3f beyond the claim", n, least, most, later)
		require.Greater(t, n, 300)
		require.GreaterOrEqual(t, least, 0.99, "the tick before is the newest that is complete")
		require.LessOrEqual(t, later, 0.01)
	}
}

// In a game in which nothing is shown ahead, a claimed offset has no effect.
func TestOffsetOfNothingAhead(t *testing.T) {
	var first sightings
	for _, lies := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(1, 2))
		cfg := fairConfig{seed: 13, seat: both(sim.Link{Latency: 75 * time.Millisecond, Jitter: 5 * time.Millisecond, Loss: 0.02}), each: func(g *carousel) {
			g.blind, g.mainland = true, true
		}}
		told := 0
		cfg.seat.Wrap = func(e transport.Endpoint) transport.Endpoint {
			return &liar{Endpoint: e, fields: fieldsOf[tug](), now: func() time.Duration { return 0 }, claim: func(_ time.Duration, c *netcode.Command) {
				require.Zero(t, c.Offset, "an honest client names none")
				if told++; lies {
					c.Offset = uint8(rng.UintN(256))
				}
			}}
		}
		s := newFair(t, cfg)
		s.m.Run(14 * time.Second)
		require.NoError(t, s.m.Err())
		require.Greater(t, told, 100)
		require.Greater(t, len(s.server), 100)
		if lies {
			require.Equal(t, first, s.server)
		}
		first = s.server
	}
}

// Without lag compensation all targets are hit where they are now.
func TestHitViewAheadWithoutCompensation(t *testing.T) {
	n := 0
	cfg := fairConfig{seed: 15, seat: both(sim.Link{Latency: 75 * time.Millisecond})}
	cfg.server.NoLagCompensation = true
	cfg.judged = func(s *fair, f *foretick.Frame, seen foretick.HitView) {
		for number, x := range s.server[f.Tick] {
			if f.Tick > 100 {
				n++
				is := s.was[f.Tick-1][number]
				require.InDelta(t, is.at.X, x.ball.X, 0.006, x.kind)
				require.InDelta(t, is.at.Y, x.ball.Y, 0.006, x.kind)
				require.Equal(t, is.how, x.how)
			}
		}
	}
	s := newFair(t, cfg)
	s.m.Run(8 * time.Second)
	require.NoError(t, s.m.Err())
	require.Greater(t, n, 300)
}

// The explanation of a shot contains the targets shown ahead where its shooter claimed
// to see them.
func TestHitViewAheadExplained(t *testing.T) {
	for _, without := range []bool{false, true} {
		type open struct {
			tick   foretick.Tick
			number uint8
			body   lagcomp.ExplainedBody
		}
		var opened []open
		cfg := fairConfig{seed: 17, seat: both(sim.Link{Latency: 75 * time.Millisecond, Jitter: 5 * time.Millisecond})}
		cfg.server.NoLagCompensation = without
		cfg.judged = func(s *fair, f *foretick.Frame, seen foretick.HitView) {
			if f.Tick < 150 {
				return
			}
			for _, rows := range s.g.targets.All(f.World) {
				for i, plate := range s.g.plate.Slice(rows) {
					ball := s.server[f.Tick][plate.Number].ball
					ray := lagcomp.RayTo(lagcomp.Vec{X: ball.X, Y: ball.Y, Z: 20}, lagcomp.Vec{X: ball.X, Y: ball.Y})
					ray.Range = 40
					x := seen.Explain(ray, 0.5)
					for _, b := range x.Bodies {
						if b.ID == uint64(rows.Entity(i)) {
							opened = append(opened, open{f.Tick, plate.Number, b})
						}
					}
				}
			}
		}
		s := newFair(t, cfg)
		s.m.Run(10 * time.Second)
		require.NoError(t, s.m.Err())
		n := map[string]int{}
		for _, o := range opened {
			a, shown := s.client[o.tick][o.number]
			if !shown {
				continue
			}
			n[a.kind]++
			require.Len(t, o.body.Claimed, 1)
			require.Len(t, o.body.Used, 1)
			require.Len(t, o.body.Present, 1)
			ball, within := o.body.Claimed[0].Bound(), 0.005
			if a.kind == "kite" {
				within = 0.03
			}
			require.InDelta(t, a.ball.X, ball.X, within, "%s in tick %d", a.kind, o.tick)
			require.InDelta(t, a.ball.Y, ball.Y, within, "%s in tick %d", a.kind, o.tick)
			if !without {
				used := o.body.Used[0].Bound()
				require.InDelta(t, a.ball.X, used.X, within)
			}
		}
		t.Logf("laid open: %v", n)
		require.Greater(t, n["car"], 50)
		require.Greater(t, n["ball"], 150)
		require.Greater(t, n["kite"], 150)
	}
}

// Changes of a target in the meantime: it appears, disappears, is hidden and shown
// again, or changes its owner between Common, the shooter and the other player.
// Nothing hidden is hit, and both ends agree except in the ticks in which the news is
// in transit.
func TestHitViewAheadOfWhatComesAndGoes(t *testing.T) {
	const trip = 12 // ticks until both ends know of a change
	changed := map[uint8]foretick.Tick{}
	hidden := map[foretick.Tick]bool{}
	changes := map[uint8][]foretick.Tick{}
	change := func(f *foretick.Frame, number uint8) {
		changed[number] = f.Tick
		changes[number] = append(changes[number], f.Tick)
	}
	var s *fair
	cfg := fairConfig{seed: 19, seat: both(sim.Link{Latency: 75 * time.Millisecond, Jitter: 5 * time.Millisecond})}
	s = newFair(t, cfg)
	find := func(f *foretick.Frame, number uint8) ecs.Entity {
		for _, rows := range s.g.targets.All(f.World) {
			for i, plate := range s.g.plate.Slice(rows) {
				if plate.Number == number {
					return rows.Entity(i)
				}
			}
		}
		return ecs.None
	}
	unseen := false
	s.g.script = func(f *foretick.ServerFrame) {
		if f.Tick < 120 {
			return
		}
		if f.Tick%45 == 0 { // the other player's car is hidden for a while
			unseen = !unseen
			require.True(t, f.SetVisible(1, find(f.Frame, 2), !unseen))
			change(f.Frame, 2)
		}
		hidden[f.Tick] = unseen
		if f.Tick%50 == 10 { // a ball, a kite and a further car of the other come and go
			for i, k := range []*ecs.Prefab{&s.g.ball, &s.g.kite, &s.g.car} {
				number := 40 + uint8(i)
				if e := find(f.Frame, number); e != ecs.None {
					f.Destroy(e)
				} else {
					e = s.g.put(f, k, foretick.PlayerID([]int{0, 2, 2}[i]), number, float32(f.Tick%7))
					if gear := s.g.gear.Find(f.World, e); gear != nil {
						gear.Go = true // the value that the driver's input will give
					}
				}
				change(f.Frame, number)
			}
		}
		if f.Tick%40 == 0 { // some entities change their owners
			for number, owners := range map[uint8][]foretick.PlayerID{10: {2, 1, ecs.Nobody}, 11: {1, ecs.Nobody}, 20: {ecs.Nobody, 2}} {
				require.NoError(t, f.World.Transfer(find(f.Frame, number), owners[int(f.Tick/40)%len(owners)]))
				change(f.Frame, number)
			}
		}
	}
	s.m.Run(30 * time.Second)
	require.NoError(t, s.m.Err())
	for tick, there := range s.server {
		if _, shown := there[2]; hidden[tick-1] && hidden[tick] {
			require.False(t, shown, "what is hidden is nobody's target")
		}
	}
	news := func(tick foretick.Tick, number uint8, _, _ sighted) bool {
		return slices.ContainsFunc(changes[number], func(k foretick.Tick) bool { return k <= tick && tick-k < trip })
	}
	// A ball that changes hands slides between the past and the present. On its curve it is judged near the
	// place where it was shown, with what else it has at that moment.
	slides := func(tick foretick.Tick, number uint8, _, _ sighted) bool {
		return (number == 10 || number == 11 || number == 20) && slices.ContainsFunc(changes[number], func(k foretick.Tick) bool { return k+trip <= tick && tick-k < 32 })
	}
	slid := s.client.compare(s.server, 150, 0.4, func(tick foretick.Tick, number uint8, a, b sighted) bool { return !slides(tick, number, a, b) })["ball"]
	t.Logf("sliding: %d of %d, worst %.4f m", slid.same, slid.n, slid.worst)
	require.Greater(t, slid.n, 100)
	require.GreaterOrEqual(t, float64(slid.same), float64(slid.n)*0.8, slid.first) // the others have the size of another moment
	require.Less(t, slid.worst, 0.4)
	either := func(tick foretick.Tick, number uint8, a, b sighted) bool {
		return news(tick, number, a, b) || slides(tick, number, a, b)
	}
	for kind, a := range s.client.compare(s.server, 150, 0.003, either) {
		t.Logf("%s: %d of %d, %d judged that were not shown, worst %.4f m", kind, a.same, a.n, a.unseen, a.worst)
		require.Greater(t, a.n, 200)
		require.GreaterOrEqual(t, float64(a.same), float64(a.n)*0.99, a.first)
		require.LessOrEqual(t, a.unseen, a.n/100)
	}
	all, wrong := 0, 0
	for _, a := range s.client.compare(s.server, 150, 0.003, func(tick foretick.Tick, number uint8, a, b sighted) bool { return !news(tick, number, a, b) }) {
		all, wrong = all+a.n, wrong+a.n-a.same+a.unseen
	}
	t.Logf("while the news was on its way: %d of %d otherwise", wrong, all)
	passed, apart := 0, 0 // sightings of a target that changes between past and present; those that differ
	for tick, here := range s.client {
		x, shown := here[20]
		if y, judged := s.server[tick][20]; shown && judged && news(tick, 20, x, y) {
			if passed++; math.Hypot(float64(x.ball.X-y.ball.X), float64(x.ball.Y-y.ball.Y)) > 0.3 {
				apart++ // the change arrived between the frame and the command
			}
		}
	}
	t.Logf("from hand to hand: %d of %d elsewhere", apart, passed)
	require.Greater(t, passed, 40)
	require.Less(t, apart, passed/4)
}

// A projectile that keeps its shooter's delay meets targets shown ahead where they
// were on the screen in each tick of its flight, which is the present. A projectile
// that is caught up is tested against them as they were seen.
func TestFlightThroughWhatIsAhead(t *testing.T) {
	caught, flown := 0, 0
	cfg := fairConfig{seed: 21, seat: both(sim.Link{Latency: 100 * time.Millisecond, Jitter: 5 * time.Millisecond})}
	behind := float32(0)
	cfg.judged = func(s *fair, f *foretick.Frame, seen foretick.HitView) {
		if f.Tick < 150 {
			return
		}
		if behind == 0 {
			behind = seen.Behind()
		}
		require.Greater(t, seen.Behind(), float32(6))
		late := f.RewindBehind(1, behind)
		for _, rows := range s.g.targets.All(f.World) {
			for i, plate := range s.g.plate.Slice(rows) {
				e := rows.Entity(i)
				now, ok := seen.Hitbox(e, 0)
				if !ok {
					continue
				}
				then, ok := late.Hitbox(e, 0)
				require.True(t, ok)
				x, y := now.Bound(), then.Bound()
				if rows.Owner() != ecs.Nobody && !rows.Has(s.g.gear.ID()) {
					require.InDelta(t, behind, must(s.when(plate.Number, y, f.Tick)), 0.2)
					soon, ok := f.RewindBehind(1, seen.Behind()-3).Hitbox(e, 0)
					require.True(t, ok)
					ball := soon.Bound()
					mine := lagcomp.Projectile{Position: lagcomp.Vec{X: ball.X, Y: ball.Y, Z: ball.R}, Velocity: lagcomp.Vec{Z: 1e-3}, Radius: 0.005}
					back, _, ok := seen.Only(e).CatchUp(&mine)
					require.True(t, ok, "it comes by in the past")
					require.LessOrEqual(t, back, seen.Behind())
					continue
				}
				flown++
				require.InDelta(t, x.X, y.X, 0.02, "as it is seen in this tick")
				require.InDelta(t, x.Y, y.Y, 0.02)
				h, ok := late.Only(e).Nearest(lagcomp.Vec{X: x.X, Y: x.Y}, 0.1)
				require.True(t, ok)
				require.Equal(t, e, h.Entity)
				shot := lagcomp.Projectile{Position: lagcomp.Vec{X: x.X, Y: x.Y, Z: -3}, Velocity: lagcomp.Vec{Z: 30}, Radius: 0.02}
				back, hit, ok := seen.Only(e).CatchUp(&shot)
				require.True(t, ok)
				require.Equal(t, e, hit.Entity)
				require.InDelta(t, 2.98-y.R, hit.Distance, 0.01, "the whole way")
				require.Less(t, back, seen.Behind())
				caught++
				miss := lagcomp.Projectile{Position: lagcomp.Vec{X: x.X + 30, Z: 0}, Velocity: lagcomp.Vec{X: 30}}
				back, _, ok = seen.CatchUp(&miss)
				require.False(t, ok)
				require.GreaterOrEqual(t, back, float32(1))
				require.Less(t, back, float32(2))
				require.InDelta(t, x.X+30+seen.Behind()-back, miss.Position.X, 0.01)
			}
		}
		_, ok := f.RewindBehind(1, 0).Nearest(lagcomp.Vec{}, 1e4)
		require.True(t, ok)
	}
	s := newFair(t, cfg)
	s.m.Run(10 * time.Second)
	require.NoError(t, s.m.Err())
	require.Greater(t, flown, 200)
	require.Equal(t, flown, caught)
}

func must(back float64, _ bool) float64 { return back }

// Unpredicted fields of a target have their last known values on both ends, except for
// changes between the frame and the command.
func TestUnpredictedOfWhatIsAhead(t *testing.T) {
	cfg := fairConfig{seed: 23, seat: both(sim.Link{Latency: 100 * time.Millisecond}), each: func(g *carousel) { g.armoured = true }}
	cfg.seat.FrameRate = 144
	s := newFair(t, cfg)
	s.m.Run(14 * time.Second)
	require.NoError(t, s.m.Err())
	for kind, a := range s.client.compare(s.server, 180, 0.003, nil) {
		t.Logf("%s: %d of %d, worst %.4f m", kind, a.same, a.n, a.worst)
		require.Greater(t, a.n, 80)
		require.GreaterOrEqual(t, float64(a.same), float64(a.n)*0.9, a.first)
	}
}

// Judging targets shown ahead allocates nothing once the match runs evenly.
func TestHitViewAheadAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	var memory runtime.MemStats
	var mallocs uint64
	cfg := fairConfig{seed: 25, seat: both(sim.Link{Latency: 60 * time.Millisecond, Jitter: 5 * time.Millisecond})}
	n := 0
	cfg.judged = func(_ *fair, f *foretick.Frame, _ foretick.HitView) {
		runtime.ReadMemStats(&memory)
		before := memory.Mallocs
		seen := f.Rewind(1)
		_, _ = seen.Raycast(lagcomp.Ray{DX: 1, Range: 30})
		late := f.RewindBehind(1, seen.Behind())
		_, _ = late.Nearest(lagcomp.Vec{}, 100)
		shot := lagcomp.Projectile{Velocity: lagcomp.Vec{X: 3}}
		_, _, _ = seen.CatchUp(&shot)
		runtime.ReadMemStats(&memory)
		if n++; n > 60 {
			mallocs += memory.Mallocs - before
		}
	}
	s := newFair(t, cfg)
	s.m.Run(14 * time.Second)
	require.NoError(t, s.m.Err())
	require.Greater(t, n, 150)
	require.Less(t, mallocs, uint64(20))
}
