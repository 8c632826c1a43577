package shottest

import (
	"fmt"
	"math"
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
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// Kites move in circles. They use every kind of interpolation between two snapshots.
type (
	kite struct {
		X    float32    `net:"min=-64,max=64,step=0.01,hermite"`
		Y    float32    `net:"min=-64,max=64,step=0.01,hermite=VY"`
		Line float32    `net:"min=-64,max=64,step=0.01,lerp"` // the same as X
		VY   float32    `net:"min=-64,max=64,step=0.01"`
		Aim  float32    `net:"angle,bits=14,hermite"`
		Turn [4]float32 `net:"quat,bits=12,slerp"`
		N    uint8
	}
	whistle struct {
		Blow bool `net:"oneshot"`
	}
	look struct{ Tick uint32 }
)

type kites struct {
	kite   ecs.Component[kite]
	cmd    ecs.Component[whistle]
	prefab ecs.Prefab
	player ecs.Prefab
	look   foretick.Event[look]
	all    *ecs.Query
	seen   func(f *foretick.Frame, by foretick.PlayerID)
	drawn  func(f *foretick.Frame)
	leaps  bool
	own    bool // the game's own function interpolates
}

const kiteCount = 8

// where returns a kite's state after s seconds. Some kites rest now and then. With leaps each
// leaps to the other side every few seconds.
func where(n int, s float64, leaps bool) (k kite) {
	if n%4 == 3 {
		s = math.Floor(s) + max(0, math.Mod(s, 1)*2-1) // rests half of each second
	}
	w := 4 + float64(n%kiteCount)/2
	k.X = float32(8 * math.Sin(w*s))
	k.Y, k.VY = float32(5*math.Cos(w*s)), float32(-5*w*math.Sin(w*s))
	if leaps && int(s+float64(n)/kiteCount)%3 == 0 {
		k.X, k.Y = k.X+20, k.Y-20
	}
	k.Line, k.N = k.X, uint8(n)
	k.Aim = float32(math.Remainder(w*s, 2*math.Pi))
	sin, cos := math.Sincos(w * s / 2)
	k.Turn = [4]float32{0, float32(sin), 0, float32(cos)}
	return k
}

func (g *kites) protocol(rate int) *foretick.Protocol {
	p := foretick.NewProtocol("kites", 1)
	p.SetTickRate(rate)
	p.Component(&g.kite)
	if g.own {
		foretick.Interpolate(p, &g.kite, hop)
	}
	p.Command(&g.cmd)
	p.Prefab(&g.prefab, "kite", &g.kite)
	p.Prefab(&g.player, "player", &g.cmd)
	foretick.Hitboxes(p, func(b *foretick.HitboxBuilder) {
		k := foretick.HitboxField(b, &g.kite)
		sin, cos := math.Sincos(float64(k.Aim))
		b.Add(lagcomp.SphereHitbox(lagcomp.Sphere{X: k.X, Y: k.Y, Z: 2, R: 0.2}))
		b.Add(lagcomp.SphereHitbox(lagcomp.Sphere{X: k.Line + float32(cos), Y: float32(sin), Z: 2, R: 0.2}))
		b.Add(lagcomp.SphereHitbox(lagcomp.Sphere{X: k.Turn[0], Y: k.Turn[1], Z: k.Turn[3], R: 0.2}))
	}, &g.kite)
	foretick.TrackHistory(p, &g.kite)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.player, player) })
	p.Shared("blow", func(f *foretick.Frame, rows ecs.Rows) {
		for i, c := range g.cmd.Slice(rows) {
			if c.Blow {
				g.look.Raise(f, rows.Entity(i), look{f.Tick})
			}
		}
	}, ecs.Read(&g.cmd))
	p.Server("fly", func(f *foretick.ServerFrame, rows ecs.Rows) {
		at := g.kite.Slice(rows)
		for i := range at {
			was := at[i]
			at[i] = where(int(was.N), float64(f.Tick)/float64(rate), g.leaps)
			if math.Abs(float64(at[i].X-was.X)) > 10 {
				f.Teleport(rows.Entity(i))
			}
		}
	}, ecs.Write(&g.kite))
	g.look.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, _ look) {
		if g.seen != nil {
			g.seen(f.Frame, by.Player)
		}
	}, ecs.ReadOther(&g.kite))
	g.look.OnPredicted(p, func(f *foretick.Frame, _ foretick.By, _ look) {
		if g.drawn != nil {
			g.drawn(f)
		}
	})
	g.all = p.Query(ecs.With(&g.kite))
	return p
}

// pictured is a kite in the view of one end: its hitboxes, and its recorded component.
type pictured struct {
	hitboxes [3]lagcomp.Vec
	kite     kite
	held     bool
}

// frame queries a view for every kite of the world.
func (g *kites) frame(w *ecs.World, s foretick.HitView) map[uint8]pictured {
	out := map[uint8]pictured{}
	for _, rows := range g.all.All(w) {
		for i := range rows.Len() {
			var p pictured
			var ok bool
			if p.kite, ok = foretick.ComponentAt(s, &g.kite, rows.Entity(i)); !ok {
				continue
			}
			for k := range p.hitboxes {
				v, found := s.Hitbox(rows.Entity(i), k)
				ball, _ := v.Sphere()
				p.hitboxes[k], ok = lagcomp.Vec{X: ball.X, Y: ball.Y, Z: ball.Z}, ok && found
			}
			if !ok {
				continue // the kite has leapt since, and no shot reaches back before that
			}
			if hit, ok := s.Only(rows.Entity(i)).Nearest(p.hitboxes[0], 1); ok {
				p.held = hit.Held
			}
			out[p.kite.N] = p
		}
	}
	return out
}

// find returns the kite with a number.
func (g *kites) find(w *ecs.World, n uint8) ecs.Entity {
	for _, rows := range g.all.All(w) {
		for i, at := range g.kite.Slice(rows) {
			if at.N == n {
				return rows.Entity(i)
			}
		}
	}
	return ecs.None
}

// Kites that a client draws along curves have the same places in the server's view, within
// less than a step: with losses, with fewer snapshots than ticks, when kites rest and leap,
// and when many of them are postponed.
func TestCurvesAreJudgedWhereDrawn(t *testing.T) {
	for _, row := range []struct {
		rate, snapshots, sendRate, crowd int
		link                             sim.Link
		leaps                            bool
	}{
		{30, 30, 0, 0, sim.Link{Latency: 50 * time.Millisecond}, false},
		{30, 30, 0, 0, sim.Link{Latency: 60 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05}, true},
		{60, 20, 0, 0, sim.Link{Latency: 40 * time.Millisecond, Loss: 0.02}, true},
		{30, 30, 12000, 40, sim.Link{Latency: 40 * time.Millisecond}, true},
	} {
		name := fmt.Sprintf("%d Hz, %d snapshots, %v", row.rate, row.snapshots, row.link)
		m := simtest.New(3)
		var srv1, cl kites
		srv1.leaps = row.leaps
		srv, err := m.Serve(server.Config{Protocol: srv1.protocol(row.rate), SnapshotRate: row.snapshots, SendRate: row.sendRate})
		require.NoError(t, err)
		for n := range kiteCount + row.crowd {
			srv1.kite.Get(srv.World(), srv.Frame().Spawn(&srv1.prefab, ecs.Nobody)).N = uint8(n)
		}
		judged, drawn := map[foretick.Tick]map[uint8]pictured{}, map[foretick.Tick]map[uint8]pictured{}
		srv1.seen = func(f *foretick.Frame, by foretick.PlayerID) { judged[f.Tick] = srv1.frame(f.World, f.Rewind(by)) }
		var cli *client.Client
		cl.drawn = func(f *foretick.Frame) { drawn[f.Tick] = cl.frame(f.World, f.Rewind(cli.View().Player)) }
		var curve, line []float64 // distances from the true position
		cli, err = m.Join(client.Config{Protocol: cl.protocol(row.rate), Sample: client.Sample(&cl.cmd, func(v client.View) whistle {
			return whistle{Blow: v.Tick%2 == 0 && m.Net.Now() > 6*time.Second}
		})}, simtest.Seat{Up: row.link, Down: row.link, FrameRate: 48, After: func(v client.View) { // so that frames are between ticks
			if v.State != client.Playing || m.Net.Now() < 6*time.Second {
				return
			}
			for _, rows := range cl.all.All(v.World) {
				for _, at := range cl.kite.Slice(rows) {
					truth := where(int(at.N), (float64(v.RenderTick)+float64(v.RenderFraction))/float64(row.rate), row.leaps)
					if at.N%4 != 3 && math.Abs(float64(at.X-truth.X)) < 5 {
						curve, line = append(curve, math.Abs(float64(at.X-truth.X))), append(line, math.Abs(float64(at.Line-truth.X)))
					}
				}
			}
		}})
		require.NoError(t, err)
		for n := range 50 { // hides and shows kites in turn
			m.Run(6*time.Second + time.Duration(n)*200*time.Millisecond)
			if e := srv1.find(srv.World(), uint8(n/2%kiteCount)); row.leaps {
				require.True(t, srv.Frame().SetVisible(cli.View().Player, e, n%2 == 1))
			}
		}

		var errors []float64
		compared, bent, held, elsewhere := 0, 0, 0, 0
		for tick, all := range drawn {
			for n, saw := range all {
				was, ok := judged[tick][n]
				if !ok {
					continue
				}
				worst := 0.0
				for k := range saw.hitboxes {
					worst = max(worst, distance(saw.hitboxes[k], was.hitboxes[k]))
				}
				a, b := saw.kite, was.kite
				for _, d := range []float32{a.X - b.X, a.Y - b.Y, a.Line - b.Line, a.Turn[1] - b.Turn[1]} {
					worst = max(worst, math.Abs(float64(d)))
				}
				if math.Abs(float64(a.X-a.Line)) > placeStep {
					bent++
				}
				if saw.held && math.Abs(float64(a.Line-b.Line)) > placeStep {
					continue // a value arrived between frame and command: see Hit.Held
				} else if saw.held {
					if held++; worst > placeStep {
						elsewhere++
					}
					continue
				}
				compared++
				errors = append(errors, worst)
			}
		}
		slices.Sort(errors)
		slices.Sort(curve)
		slices.Sort(line)
		p99 := errors[len(errors)*99/100]
		t.Logf("%s: %d frames compared and %d held (%d of them elsewhere), of which %d bend by more than the step; apart p99 %.2f mm, worst %.2f; from the truth p90 %.1f mm, straight %.1f",
			name, compared, held, elsewhere, bent, 1000*p99, 1000*errors[len(errors)-1], 1000*curve[len(curve)*9/10], 1000*line[len(line)*9/10])
		require.Greater(t, compared, 500, name)
		require.Greater(t, bent, (compared+held)/20, name)
		require.LessOrEqual(t, errors[len(errors)-1], placeStep, name)
		if row.sendRate == 0 {
			require.Less(t, curve[len(curve)*9/10], 0.7*line[len(line)*9/10], name)
		} else {
			require.Greater(t, held, 500, name)
			require.LessOrEqual(t, percent(elsewhere, held), 1.0, name)
		}
	}
}

// Judging targets on curves allocates nothing, including their history.
func TestCurvesAreJudgedAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	judgedWithoutAllocating(t, false)
}

// Judging targets that the game's own function interpolates allocates nothing, either.
func TestOwnInterpolationAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	judgedWithoutAllocating(t, true)
}

func judgedWithoutAllocating(t *testing.T, own bool) {
	m := simtest.New(3)
	var srv1, cl kites
	srv1.own, cl.own = own, own
	srv, err := m.Serve(server.Config{Protocol: srv1.protocol(30)})
	require.NoError(t, err)
	var e ecs.Entity
	for n := range kiteCount {
		e = srv.Frame().Spawn(&srv1.prefab, ecs.Nobody)
		srv1.kite.Get(srv.World(), e).N = uint8(n)
	}
	var memory runtime.MemStats
	var mallocs uint64
	n := 0
	srv1.seen = func(f *foretick.Frame, by foretick.PlayerID) {
		runtime.ReadMemStats(&memory)
		before := memory.Mallocs
		seen := f.Rewind(by)
		_, there := seen.Hitbox(e, 0)
		_, ok := foretick.ComponentAt(seen, &srv1.kite, e)
		runtime.ReadMemStats(&memory)
		if n++; n > 30 && there && ok {
			mallocs += memory.Mallocs - before
		}
	}
	link := sim.Link{Latency: 50 * time.Millisecond}
	_, err = m.Join(client.Config{Protocol: cl.protocol(30), Sample: client.Sample(&cl.cmd, func(v client.View) whistle {
		return whistle{Blow: v.Tick%2 == 0}
	})}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(10 * time.Second)
	require.Greater(t, n, 100)
	require.Less(t, mallocs, uint64(n)/4) // a garbage collection empties every pool
}
