package simtest_test

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
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// A mill turns by 40 degrees a tick, with one hitbox at the tip of its sail: halfway
// between two ticks the tip is far from the middle of its two places.
type (
	millCrank struct {
		Pull bool `net:"oneshot"`
	}
)

type mills struct {
	sail  ecs.Component[millSail]
	cmd   ecs.Component[millCrank]
	mill  ecs.Prefab
	judge func(f *foretick.Frame, rows ecs.Rows)
	was   map[ecs.Entity]map[foretick.Tick]lagcomp.Hitbox
}

type millSail struct {
	X    float32 `net:"min=-64,max=64,step=0.01,lerp"`
	Turn float32 `net:"angle,bits=14,lerp"`
}

// tip returns the hitbox of a mill.
func (s *millSail) tip() lagcomp.Sphere {
	sin, cos := math.Sincos(float64(s.Turn))
	return lagcomp.Sphere{X: s.X + 2*float32(cos), Y: 2 * float32(sin), R: 0.05}
}

func (g *mills) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("mills", 1)
	p.Component(&g.sail)
	p.Command(&g.cmd)
	p.Prefab(&g.mill, "mill", &g.sail)
	foretick.Hitbox(p, &g.sail, func(s *millSail) lagcomp.Sphere { return s.tip() })
	foretick.TrackHistory(p, &g.sail)
	p.Server("turn", func(f *foretick.ServerFrame, rows ecs.Rows) {
		at := g.sail.Slice(rows)
		for i := range at {
			at[i].Turn = float32(math.Remainder(float64(f.Tick)*math.Pi/4.5+float64(i), 2*math.Pi))
		}
	}, ecs.Write(&g.sail))
	p.Server("judge", func(f *foretick.ServerFrame, rows ecs.Rows) {
		if g.judge != nil {
			g.judge(f.Frame, rows)
		}
	}, ecs.Read(&g.sail), ecs.After("turn"))
	return p
}

// rewindsTo checks hit views of a moment that the game names. was has the true hitbox by tick.
func rewindsTo(t *testing.T, f *foretick.Frame, most time.Duration, seen foretick.HitView, e ecs.Entity, was map[foretick.Tick]lagcomp.Hitbox) {
	same(t, f.Tick, tip(t, seen, e), tip(t, f.RewindTo(1, seen.Used.Tick, seen.Used.Fraction), e))
	for back := range foretick.Tick(4) {
		view := f.RewindTo(ecs.Nobody, f.Tick-1-back, 0)
		require.Equal(t, f.Tick-1-back, view.Used.Tick)
		same(t, f.Tick, was[f.Tick-1-back], tip(t, view, e))
		_, hit := view.Only(e).Nearest(lagcomp.Vec{}, 1e4)
		require.True(t, hit)
	}
	// A moment in the future, and one before the kept history.
	for _, by := range []foretick.PlayerID{1, ecs.Nobody} {
		require.Equal(t, f.Tick-1, f.RewindTo(by, f.Tick+50, 0).Used.Tick)
		far := f.RewindTo(by, f.Tick-100, 0)
		require.InDelta(t, 30*most.Seconds(), far.Behind(), 1)
		require.Less(t, far.Behind(), float32(40), "bounded")
	}
}

// Rewind, RewindBehind, CatchUp and Present agree: at the same moment every hitbox is in the same
// place, and it is the hitbox that the components give.
func TestOneGeometry(t *testing.T) {
	for _, rate := range []int{30, 10} {
		for _, loss := range []float64{0, 0.1} {
			t.Run(fmt.Sprintf("%d Hz, loss %v", rate, loss), func(t *testing.T) { oneGeometry(t, rate, loss) })
		}
	}
}

func oneGeometry(t *testing.T, rate int, loss float64) {
	m := simtest.New(8)
	srv1, between, caught := &mills{}, 0, 0
	srv, err := m.Serve(server.Config{Protocol: srv1.protocol(), SnapshotRate: rate})
	require.NoError(t, err)
	for i := range 4 {
		srv1.sail.Get(srv.World(), srv.Frame().Spawn(&srv1.mill, ecs.Nobody)).X = float32(i) * 10
	}
	srv1.was = map[ecs.Entity]map[foretick.Tick]lagcomp.Hitbox{}
	srv1.judge = func(f *foretick.Frame, rows ecs.Rows) {
		for i := range rows.Len() {
			e := rows.Entity(i)
			if srv1.was[e] == nil {
				srv1.was[e] = map[foretick.Tick]lagcomp.Hitbox{}
			}
			if f.Tick > 1 {
				srv1.was[e][f.Tick-1] = tip(t, f.Present(), e)
			}
		}
		if f.Tick < 120 {
			return
		}
		seen := f.Rewind(1)
		behind := f.RewindBehind(1, seen.Behind())
		later := f.RewindBehind(1, seen.Behind()-1)
		require.InDelta(t, seen.Behind(), behind.Behind(), 1e-4)
		if seen.Used.Fraction > 0.2 && seen.Used.Fraction < 0.8 {
			between++
		}
		for i := range rows.Len() {
			e := rows.Entity(i)
			same(t, f.Tick, tip(t, seen, e), tip(t, behind, e))
			for _, view := range []foretick.HitView{seen, behind, later, f.Present()} {
				at, ok := foretick.ComponentAt(view, &srv1.sail, e)
				require.True(t, ok)
				same(t, f.Tick, lagcomp.SphereHitbox(at.tip()), tip(t, view, e))
			}
			same(t, f.Tick, tip(t, f.Present(), e), tip(t, f.RewindBehind(1, 0), e))
			rewindsTo(t, f, lagcomp.DefaultMaxRewind+2*time.Second/time.Duration(rate), seen, e, srv1.was[e])
			if seen.Behind() < 2 {
				continue
			}
			// A projectile at rest is hit by what moves into it, one tick later.
			c := tip(t, later, e).Bound()
			shot := lagcomp.Projectile{Position: lagcomp.Vec{X: c.X, Y: c.Y, Z: c.Z}, Radius: 0.001}
			if _, early := seen.Advance(&shot, 1./30); early {
				continue
			}
			left, hit, ok := seen.CatchUp(&shot)
			require.True(t, ok, "tick %d: CatchUp misses what RewindBehind shows", f.Tick)
			require.Equal(t, e, hit.Entity)
			require.InDelta(t, seen.Behind()-1, left, 1e-4)
			caught++
		}
	}
	g := &mills{}
	link := sim.Link{Latency: 60 * time.Millisecond, Jitter: 15 * time.Millisecond, Loss: loss}
	sample := client.Sample(&g.cmd, func(client.View) millCrank { return millCrank{} })
	_, err = m.Join(client.Config{Protocol: g.protocol(), Sample: sample}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(9 * time.Second)
	require.Greater(t, between, 40)
	require.Greater(t, caught, 100)
}

func tip(t *testing.T, s foretick.HitView, e ecs.Entity) lagcomp.Hitbox {
	h, ok := s.Hitbox(e, 0)
	require.True(t, ok)
	return h
}

func same(t *testing.T, tick foretick.Tick, a, b lagcomp.Hitbox) {
	t.Helper()
	x, y := a.Bound(), b.Bound()
	require.InDelta(t, x.X, y.X, 0.002, "tick %d", tick)
	require.InDelta(t, x.Y, y.Y, 0.002, "tick %d", tick)
}
