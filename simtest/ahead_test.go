package simtest_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type (
	// orbit is a place on a circle, and how far round.
	orbit struct {
		X, Y float32 `net:"min=-64,max=64,step=0.01,lerp"`
		A    float32 `net:"angle,bits=14"`
	}
	// girth is what nothing is interpolated of: it changes every few ticks.
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
	// gear is what the driver pressed last.
	gear struct{ Go bool }
)

// carousel is a game of targets that go in circles, which everybody foresees: players',
// nobody's, and some that are drawn in the past beside them.
type carousel struct {
	at      ecs.Component[orbit]
	girth   ecs.Component[girth]
	plate   ecs.Component[plate]
	gear    ecs.Component[gear]
	cmd     ecs.Component[tug]
	car     ecs.Kind
	ball    ecs.Kind // of the island
	kite    ecs.Kind // drawn in the past
	shot    foretick.Event[lagcomp.Ray]
	targets *ecs.Query

	rate     int
	blind    bool // nothing is foreseen
	mainland bool // nothing is everybody's
	armoured bool // the plates count, and grow
	fired    func(f *foretick.Frame, who ecs.Owner)
	script   func(f *foretick.Frame)
	leap     func(f *foretick.Frame, e ecs.Entity, at *orbit, how *girth) // what all foresee
}

func (g *carousel) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("carousel", 1)
	p.TickRate(max(g.rate, 30))
	p.Component(&g.at, foretick.Predicted, foretick.Exact)
	p.Component(&g.girth, foretick.Predicted, foretick.Exact)
	p.Component(&g.gear, foretick.Predicted, foretick.Exact)
	p.Component(&g.plate)
	p.Command(&g.cmd)
	p.Kind(&g.car, "car", &g.at, &g.girth, &g.plate, &g.gear, &g.cmd)
	p.Kind(&g.ball, "ball", &g.at, &g.girth, &g.plate)
	p.Kind(&g.kite, "kite", &g.at, &g.girth, &g.plate)
	foretick.Volumes(p, func(b *foretick.Body) {
		at, how, plate := foretick.From(b, &g.at), foretick.From(b, &g.girth), foretick.From(b, &g.plate)
		if !how.Down {
			b.Add(lagcomp.SphereVolume(lagcomp.Sphere{X: at.X, Y: at.Y, R: 0.3 + 0.02*float32(how.Size) + 0.5*float32(plate.Thick)}))
		}
	}, &g.at, &g.girth, &g.plate)
	foretick.Epoch(p, &g.girth, func(how *girth) uint32 { return uint32(how.Life) })
	foretick.Remember(p, &g.girth)
	foretick.Remember(p, &g.at)
	p.Join(func(f *foretick.Frame, who ecs.Owner) {
		g.put(f, &g.car, who, uint8(who), float32(who)*2)
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
	p.Server("plates", func(f *foretick.Frame, rows ecs.Rows) {
		plate := g.plate.Slice(rows)
		for i := range plate {
			if plate[i].Thick = 0; g.armoured {
				plate[i].Thick = uint8(f.Tick / 8 % 4)
			}
		}
	}, ecs.Write(&g.plate))
	p.Server("script", func(f *foretick.Frame, _ ecs.Rows) {
		if g.script != nil {
			defer f.World.Guard(f.World.Guard(false))
			g.script(f)
		}
	}, ecs.Once(), ecs.WriteOther(&g.at, &g.girth, &g.plate), ecs.After("go"))
	foretick.OnServer(p, &g.shot, func(f *foretick.Frame, who ecs.Owner, _ lagcomp.Ray) {
		if g.fired != nil {
			g.fired(f, who)
		}
	}, ecs.ReadOther(&g.at, &g.girth, &g.plate))
	foretick.OnPredicted(p, &g.shot, func(f *foretick.Frame, by ecs.Entity, _ lagcomp.Ray) {
		if g.fired != nil {
			g.fired(f, f.World.Owner(by))
		}
	})
	if !g.blind {
		foretick.Foresee(p, &g.cmd, func(f *foretick.Frame, e ecs.Entity, _ int, cmd *tug) {
			cmd.Go = g.gear.Get(f.World, e).Go
		})
	}
	g.targets = ecs.NewQuery(p.Types(), ecs.With(&g.at, &g.plate))
	return p
}

func (g *carousel) put(f *foretick.Frame, k *ecs.Kind, who ecs.Owner, number uint8, angle float32) ecs.Entity {
	e := f.Spawn(k, who)
	*g.at.Get(f.World, e) = orbit{X: float32(number%8)*2 - 8, Y: float32(number % 5), A: float32(math.Remainder(float64(angle), 2*math.Pi))}
	g.plate.Get(f.World, e).Number = number
	return e
}

// turn goes on round the circle, at 6 m/s.
func (g *carousel) turn(f *foretick.Frame, at *orbit, how *girth) {
	at.A = float32(math.Remainder(float64(at.A+1.5*f.DT), 2*math.Pi))
	sin, cos := math.Sincos(float64(at.A))
	at.X += float32(cos) * 6 * f.DT
	at.Y += float32(sin) * 6 * f.DT
	how.Size = uint8((at.A + math.Pi) / (2 * math.Pi) * 15.99)
}

// sighted is where a target was in somebody's view.
type sighted struct {
	ball lagcomp.Sphere
	hit  bool // by a ray straight at it
	at   orbit
	how  girth
	has  bool // At answered
	kind string
}

// sightings are those of one end, by tick and the target's number.
type sightings map[foretick.Tick]map[uint8]sighted

// take notes every target in a view.
func (l sightings) take(g *carousel, f *foretick.Frame, who ecs.Owner) {
	l.takeFrom(g, f, who, f.Seen(who))
}

func (l sightings) takeFrom(g *carousel, f *foretick.Frame, who ecs.Owner, seen foretick.Seen) {
	out := map[uint8]sighted{}
	for _, rows := range g.targets.All(f.World) {
		for i, plate := range g.plate.Slice(rows) {
			e := rows.Entity(i)
			v, ok := seen.Volume(e, 0)
			if !ok || rows.Owner() == who {
				continue
			}
			s := sighted{ball: v.Bound(), kind: "ball"}
			at := lagcomp.Vec{X: s.ball.X, Y: s.ball.Y}
			ray := lagcomp.RayTo(lagcomp.Vec{X: at.X, Y: at.Y, Z: 20}, at)
			ray.Range = 40
			h, ok := seen.Only(e).Raycast(ray)
			s.hit = ok && h.Entity == e
			s.how, s.has = foretick.At(seen, &g.girth, e)
			s.at, _ = foretick.At(seen, &g.at, e)
			switch {
			case g.gear.Find(f.World, e) != nil:
				s.kind = "car"
			case rows.Owner() != ecs.Nobody && rows.Owner() != ecs.Island:
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
	worst   float64
	first   string
}

// compare holds what a client saw against what was judged, by kind.
func (l sightings) compare(server sightings, from foretick.Tick, skip func(t foretick.Tick, number uint8) bool) map[string]*agreement {
	out := map[string]*agreement{"car": {}, "ball": {}, "kite": {}}
	for t, here := range l {
		there, judged := server[t]
		if !judged || t < from {
			continue
		}
		for number, a := range here {
			if skip != nil && skip(t, number) {
				continue
			}
			b := there[number]
			g := out[a.kind]
			g.n++
			d := math.Hypot(float64(a.ball.X-b.ball.X), float64(a.ball.Y-b.ball.Y))
			g.worst = max(g.worst, d)
			within := 0.003
			if a.kind == "kite" {
				within = 0.02 // where claims are cut by the path's bad luck
			}
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

// fair is a match of one who shoots, and others who are shot at.
type fair struct {
	m       *simtest.Match
	srv     *foretick.Server
	g       *carousel
	ends    []*carousel
	clients []*foretick.Client
	server  sightings // of the first player's shots
	client  sightings
}

type fairConfig struct {
	seed    uint64
	server  foretick.ServerConfig
	client  foretick.ClientConfig // the shooter's
	seat    simtest.Seat          // the shooter's
	each    func(g *carousel)
	presses func(now time.Duration) bool // of the targets
}

func newFair(t *testing.T, cfg fairConfig) *fair {
	t.Helper()
	s := &fair{m: simtest.New(cfg.seed + 1), server: sightings{}, client: sightings{}}
	end := func() *carousel {
		g := &carousel{}
		if cfg.each != nil {
			cfg.each(g)
		}
		return g
	}
	s.g = end()
	cfg.server.Protocol = s.g.protocol()
	s.g.fired = func(f *foretick.Frame, who ecs.Owner) {
		if who == 1 {
			s.server.take(s.g, f, who)
		}
	}
	var err error
	s.srv, err = s.m.Serve(cfg.server)
	require.NoError(t, err)
	for n := range 2 {
		g, c, seat := end(), foretick.ClientConfig{}, both(sim.Link{Latency: 20 * time.Millisecond})
		if n == 0 {
			c, seat = cfg.client, cfg.seat
			g.fired = func(f *foretick.Frame, who ecs.Owner) {
				if who == 1 {
					s.client.take(g, f, who)
				}
			}
		}
		c.Protocol = g.protocol()
		c.Sample = foretick.Sample(&g.cmd, func(v foretick.View) tug {
			switch now := s.m.Net.Now(); {
			case v.Me == 1:
				return tug{Fire: v.Tick%2 == 0}
			case cfg.presses != nil:
				return tug{Go: cfg.presses(now)}
			default:
				return tug{Go: now > time.Second}
			}
		})
		cl, err := s.m.Join(c, seat)
		require.NoError(t, err)
		s.ends, s.clients = append(s.ends, g), append(s.clients, cl)
		for cl.View().Me == 0 { // in this order
			s.m.Run(s.m.Net.Now() + 50*time.Millisecond)
			require.Less(t, s.m.Net.Now(), 5*time.Second)
		}
		require.EqualValues(t, n+1, cl.View().Me)
	}
	s.m.Run(s.m.Net.Now() + 200*time.Millisecond)
	for n := range uint8(3) {
		s.g.put(s.srv.Frame(), &s.g.ball, ecs.Nobody, 10+n, float32(n))
		s.g.put(s.srv.Frame(), &s.g.kite, 2, 20+n, float32(n)+0.5)
	}
	return s
}

// What is hit on an honest screen is confirmed at the same point, whatever the path,
// the rate of pictures and that of snapshots: others' avatars and what is everybody's,
// which are shown ahead, and what is drawn in the past beside them.
func TestSeenAheadIsJudgedThere(t *testing.T) {
	links := []sim.Link{
		{},
		{Latency: 25 * time.Millisecond, Jitter: 8 * time.Millisecond},
		{Latency: 75 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.05},
		{Latency: 150 * time.Millisecond},
		{Latency: 150 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05},
	}
	for _, rate := range []int{30, 60} {
		for i, link := range links {
			for _, pictures := range []int{30, 60, 144} {
				cfg := fairConfig{seed: uint64(i), seat: both(link), each: func(g *carousel) { g.rate = rate }}
				cfg.seat.Pictures = pictures
				if rate == 60 {
					cfg.server.SnapshotRate = 20
				}
				s := newFair(t, cfg)
				s.m.Run(14 * time.Second)
				require.NoError(t, s.m.Err())
				got := s.client.compare(s.server, foretick.Tick(6*rate), nil)
				for kind, a := range got {
					name := fmt.Sprintf("%d Hz, %v, jitter %v, loss %v, %d pictures, %s", rate, 2*link.Latency, link.Jitter, link.Loss, pictures, kind)
					t.Logf("%s: %d of %d, worst %.4f m", name, a.same, a.n, a.worst)
					least := 1.0
					if kind == "kite" { // what is lost, or late, makes the past another one
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
