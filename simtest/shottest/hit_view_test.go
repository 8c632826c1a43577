package shottest

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// onShots plays a shooter and calls check for each of its shots, on the server.
func onShots(t *testing.T, check func(m *rangeMatch, f *foretick.Frame, by foretick.PlayerID, s shot)) (*rangeMatch, *shooter) {
	t.Helper()
	m, err := newRange(11, 30, server.Config{})
	require.NoError(t, err)
	n := 0
	m.game.judged = func(f *foretick.Frame, by foretick.PlayerID, s shot) {
		n++
		check(m, f, by, s)
	}
	link := sim.Link{Latency: 100 * time.Millisecond}
	s, err := m.seat(link, link, 6*time.Second, 16*time.Second)
	require.NoError(t, err)
	m.Run(17 * time.Second)
	require.Greater(t, n, 50)
	return m, s
}

// All queries use the same past world: the ray hit, the ball, the nearest hitbox,
// the claimed target and the game's own check agree.
func TestHitViewQueriesAgree(t *testing.T) {
	hits := 0
	onShots(t, func(m *rangeMatch, f *foretick.Frame, by foretick.PlayerID, s shot) {
		seen := f.Rewind(by)
		hit, ok := seen.Raycast(s.Ray)
		if !ok {
			return
		}
		hits++
		valid, ok := seen.CheckHit(hit.Entity, s.Ray)
		require.True(t, ok)
		require.Equal(t, hit, valid)
		thick, ok := seen.SphereCast(s.Ray, 0.05)
		require.True(t, ok)
		require.LessOrEqual(t, thick.Distance, hit.Distance)
		v, ok := seen.Hitbox(hit.Entity, hit.Index)
		require.True(t, ok)
		ball := v.Bound()
		near, ok := seen.Nearest(lagcomp.Vec{X: ball.X, Y: ball.Y, Z: ball.Z}, 0.01)
		require.True(t, ok)
		require.Equal(t, hit.Entity, near.Entity)
		var found bool
		for _, h := range seen.Overlap(ball, nil) {
			found = found || h.Entity == hit.Entity
		}
		require.True(t, found)
		only := f.Rewind(by).Only(hit.Entity)
		same, ok := only.Raycast(s.Ray)
		require.True(t, ok)
		require.Equal(t, hit, same)
		require.Len(t, only.Overlap(lagcomp.Sphere{R: 100}, nil), 1)
		_, ok = f.Rewind(by).Only().Raycast(s.Ray)
		require.False(t, ok)
		require.Len(t, seen.Overlap(lagcomp.Sphere{R: 100}, nil), runners)
	})
	require.Greater(t, hits, 20)
}

// A recorded component is returned as it was seen: the bone computed from it is
// where the head was hit.
func TestHitViewComponent(t *testing.T) {
	moved := 0
	onShots(t, func(m *rangeMatch, f *foretick.Frame, by foretick.PlayerID, s shot) {
		seen := f.Rewind(by)
		e := m.game.number(f.World, s.Target)
		how, ok := foretick.ComponentAt(seen, &m.game.pose, e)
		require.True(t, ok)
		v, ok := seen.Hitbox(e, 0)
		require.True(t, ok)
		head, _ := v.Sphere()
		at := bone(&place{}, &how)
		require.InDelta(t, at.Z, head.Z, 1e-5)
		if now := *m.game.pose.Get(f.World, e); now.Phase != how.Phase {
			moved++
		}
		_, ok = foretick.ComponentAt(seen, &m.game.pos, e)
		require.False(t, ok, "nothing was said to remember positions")
		_, ok = foretick.ComponentAt(seen, &m.game.pose, ecs.None)
		require.False(t, ok)
	})
	require.Greater(t, moved, 50)
}

// The explanation of a shot has the body where it was judged, and where it is now.
func TestHitViewExplain(t *testing.T) {
	apart := 0
	onShots(t, func(m *rangeMatch, f *foretick.Frame, by foretick.PlayerID, s shot) {
		seen := f.Rewind(by)
		hit, ok := seen.Raycast(s.Ray)
		x := seen.Explain(s.Ray, 2)
		require.Equal(t, ok, x.Hit.ID != 0)
		require.Equal(t, lagcomp.OK, x.Reason)
		require.Equal(t, seen.Used, x.Used)
		require.InDelta(t, x.Used.Behind(f.Tick), seen.Behind(), 1e-6)
		for _, b := range x.Bodies {
			if ok && b.ID == uint64(hit.Entity) {
				v, _ := seen.Hitbox(hit.Entity, 0)
				require.Equal(t, v, b.Used[0])
				if b.Present[0] != b.Used[0] {
					apart++
				}
			}
		}
	})
	require.Greater(t, apart, 20)
}

// A slow projectile fired at a moving head in its shooter's past hits its target;
// one that is caught up has already moved through all later ticks.
func TestHitViewProjectile(t *testing.T) {
	late, caught, all := 0, 0, 0
	onShots(t, func(m *rangeMatch, f *foretick.Frame, by foretick.PlayerID, s shot) {
		seen := f.Rewind(by)
		hit, ok := seen.Raycast(s.Ray)
		if !ok {
			return
		}
		all++
		fire := func(speed float32) lagcomp.Projectile {
			at := hit.Point
			return lagcomp.Projectile{Position: lagcomp.Vec{X: at.X, Y: at.Y - 1, Z: at.Z}, Velocity: lagcomp.Vec{Y: speed}, Radius: 0.02}
		}
		slow := fire(30)
		if _, ok := f.RewindBehind(by, seen.Behind()).Advance(&slow, 1./20); ok {
			late++
		}
		up := lagcomp.Projectile{Position: hit.Point, Velocity: lagcomp.Vec{Z: 30}}
		up.Position.Z += 1
		behind, _, ok := seen.CatchUp(&up)
		require.False(t, ok)
		// The projectile flies a unit a tick, up to the newest recorded tick, which is the last one.
		require.InDelta(t, hit.Point.Z+1+seen.Behind()-behind, up.Position.Z, 0.01)
		require.GreaterOrEqual(t, behind, float32(1))
		require.Less(t, behind, float32(2))
		// A projectile that waits where the head will be two ticks later hits the head there.
		later, ok := f.RewindBehind(by, seen.Behind()-2).Hitbox(hit.Entity, hit.Index)
		require.True(t, ok)
		ball := later.Bound()
		mine := lagcomp.Projectile{Position: lagcomp.Vec{X: ball.X, Y: ball.Y, Z: ball.Z}, Velocity: lagcomp.Vec{Z: 1e-3}, Radius: 0.02}
		if behind, met, ok := seen.CatchUp(&mine); ok && met.Entity == hit.Entity {
			caught++
			require.GreaterOrEqual(t, behind, seen.Behind()-2.01)
		}
		far := f.RewindBehind(by, 1e9)
		require.LessOrEqual(t, far.Behind(), float32(0.6*30+2))
	})
	require.Greater(t, late, 20)
	require.Equal(t, all, caught)
}

// Judging shots allocates nothing once the match runs evenly.
func TestHitViewAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	var memory runtime.MemStats
	var mallocs uint64
	n := 0
	onShots(t, func(m *rangeMatch, f *foretick.Frame, by foretick.PlayerID, s shot) {
		runtime.ReadMemStats(&memory)
		before := memory.Mallocs
		seen := f.Rewind(by)
		_, _ = seen.Raycast(s.Ray)
		_, _ = seen.Nearest(lagcomp.Vec{}, 100)
		runtime.ReadMemStats(&memory)
		if n++; n > 30 {
			mallocs += memory.Mallocs - before
		}
	})
	require.Less(t, mallocs, uint64(10))
}

// A protocol reports the faults of its hitboxes; From reports missing fields.
func TestHitboxFaults(t *testing.T) {
	var pos ecs.Component[place]
	var other ecs.Component[pose]
	p := foretick.NewProtocol("faults", 1)
	p.Component(&pos)
	foretick.Hitboxes(p, nil, &pos)
	foretick.Hitboxes(p, func(*foretick.HitboxBuilder) {}, &other)
	foretick.LifeID(p, &other, func(*pose) uint32 { return 0 })
	foretick.TrackHistory(p, &other)
	err := p.Err()
	require.ErrorContains(t, err, "Hitboxes needs a function")
	require.ErrorContains(t, err, "Hitbox needs a replicated component")
	require.ErrorContains(t, err, "LifeID needs a replicated component")
	require.ErrorContains(t, err, "TrackHistory needs a replicated component")
	var fault foretick.UsageError
	func() {
		defer func() { fault, _ = recover().(foretick.UsageError) }()
		foretick.HitboxField(&foretick.HitboxBuilder{}, &pos)
	}()
	require.ErrorContains(t, fault, "place")
}

// A hidden entity stays hidden when its player reconnects.
func TestHiddenSurvivesReconnect(t *testing.T) {
	m, err := newRange(13, 30, server.Config{})
	require.NoError(t, err)
	link := sim.Link{Latency: 20 * time.Millisecond}
	s, err := m.seat(link, link, time.Hour, time.Hour)
	require.NoError(t, err)
	m.Run(3 * time.Second)
	f := m.server.Frame()
	e := m.game.number(f.World, s.target)
	require.NotZero(t, s.game.number(s.client.View().World, s.target))
	require.True(t, f.SetVisible(s.client.View().Player, e, false))
	require.False(t, f.SetVisible(60, e, false), "nobody has that place")
	m.Run(4 * time.Second)
	require.Zero(t, s.game.number(s.client.View().World, s.target))
	m.Link(s.client, sim.Link{Loss: 1}, sim.Link{Loss: 1})
	m.Run(11 * time.Second)
	m.Link(s.client, link, link)
	m.Run(18 * time.Second)
	require.Equal(t, client.Playing, s.client.View().State)
	require.EqualValues(t, 1, m.server.Stats().Resumed)
	require.Zero(t, s.game.number(s.client.View().World, s.target))
	require.True(t, f.SetVisible(s.client.View().Player, e, true))
	m.Run(19 * time.Second)
	require.NotZero(t, s.game.number(s.client.View().World, s.target))
}

// From the moment on at which an entity is hidden, no query hits it, even in the same tick.
// An entity that is hidden and shown within a tick was never out of sight.
func TestHiddenAtOnce(t *testing.T) {
	m, err := newRange(31, 30, server.Config{SnapshotRate: 10})
	require.NoError(t, err)
	link := sim.Link{Latency: 50 * time.Millisecond}
	s, err := m.seat(link, link, time.Hour, time.Hour)
	require.NoError(t, err)
	there := func(f *foretick.Frame, e ecs.Entity, seen foretick.HitView) bool {
		v, ok := seen.Hitbox(e, 0)
		_, at := foretick.ComponentAt(seen, &m.game.pose, e)
		require.Equal(t, ok, at)
		ball, _ := v.Sphere()
		near, hit := seen.Nearest(lagcomp.Vec{X: ball.X, Y: ball.Y, Z: ball.Z}, 0.01)
		require.Equal(t, ok, hit && near.Entity == e)
		return ok
	}
	asked := 0
	m.game.script = func(f *foretick.ServerFrame) {
		if f.Tick < 100 || f.Tick > 130 {
			return
		}
		asked++
		me, e := s.client.View().Player, m.game.number(f.World, s.target)
		require.True(t, there(f.Frame, e, f.Rewind(me)))
		require.True(t, f.SetVisible(me, e, false))
		require.False(t, there(f.Frame, e, f.Rewind(me)))
		require.False(t, there(f.Frame, e, f.RewindBehind(me, 2)))
		require.True(t, f.SetVisible(me, e, true))
		require.True(t, there(f.Frame, e, f.Rewind(me)))
		require.True(t, there(f.Frame, e, f.RewindBehind(me, 2)))
	}
	m.Run(6 * time.Second)
	require.Equal(t, 31, asked)
	require.NotZero(t, s.game.number(s.client.View().World, s.target))
}

// If there is no bandwidth for every entity in every snapshot, a client draws some
// targets from older values than those of the snapshots around the frame's time. The
// server knows which entities it had postponed, and judges such shots between the ticks
// that the client has of that target. The client still marks these shots as held: the
// server cannot tell whether a value that arrived before the command was drawn in the
// frame.
func TestHeldTargetsAreJudgedWhereDrawn(t *testing.T) {
	var all cell
	elsewhere := 0
	play := func(rate, crowd int) {
		c, wrong := starved(t, rate, crowd)
		all.held, all.onScreen, all.confirmed, elsewhere = all.held+c.held, all.onScreen+c.onScreen, all.confirmed+c.confirmed, elsewhere+wrong
		all.heldHits, all.heldSame = all.heldHits+c.heldHits, all.heldSame+c.heldSame
	}
	step := 1000
	if !small {
		step = 250
	}
	for rate := 2500; rate <= 4500; rate += step { // bytes a second: from far too few to enough
		play(rate, 60)
	}
	for crowd := 150; crowd <= 450; crowd += 300 * step / 500 { // in the largest crowd each is sent only every three seconds
		play(2500, crowd)
	}
	t.Logf("%d held, %d of them elsewhere, %d of %d hits confirmed; %d of %d others", all.held, elsewhere, all.heldSame, all.heldHits, all.confirmed, all.onScreen)
	require.Greater(t, all.heldHits, 50)
	require.GreaterOrEqual(t, percent(all.heldSame, all.heldHits), 97.0)
	require.LessOrEqual(t, percent(elsewhere, all.held), 4.0)
	require.Greater(t, all.onScreen, 50)
	require.GreaterOrEqual(t, percent(all.confirmed, all.onScreen), 99.0)
}

func starved(t *testing.T, rate, crowd int) (c cell, elsewhere int) {
	t.Helper()
	m, err := newRange(17, 30, server.Config{SendRate: rate + trailRate})
	require.NoError(t, err)
	for range crowd {
		e := m.server.Frame().Spawn(&m.game.runner, ecs.Nobody)
		*m.game.pos.Get(m.server.World(), e) = place{Y: 60}
		*m.game.pose.Get(m.server.World(), e) = pose{Number: 15}
		*m.game.course.Get(m.server.World(), e) = course{Dir: 1, Left: 1}
	}
	m.game.judged = func(f *foretick.Frame, by foretick.PlayerID, s shot) {
		m.judge(f, by, s)
		e := m.game.number(f.World, s.Target)
		how, ok := foretick.ComponentAt(f.Rewind(by), &m.game.pose, e)
		v, there := f.Rewind(by).Hitbox(e, 0)
		require.Equal(t, there, ok)
		if !ok {
			return
		}
		head, _ := v.Sphere()
		require.InDelta(t, bone(&place{}, &how).Z, head.Z, 1e-5, "the remembered component is of the same ticks")
	}
	link := sim.Link{Latency: 50 * time.Millisecond}
	s, err := m.seat(link, link, 8*time.Second, 24*time.Second)
	require.NoError(t, err)
	m.Run(25 * time.Second)
	judged := m.judged[s.client.View().Player]
	c.join(m, s, judged)
	for tick, saw := range s.seen {
		if srv, ok := judged[tick]; ok && saw.held && distance(saw.head, srv.head) > placeStep {
			elsewhere++
		}
	}
	return c, elsewhere
}

// A client's shot does not hit an entity that the client has not received yet, even if the
// entity existed at the moment that the client claims to have seen.
func TestUnknownIsNotSeen(t *testing.T) {
	const crowd = 400
	m, err := newRange(19, 30, server.Config{SendRate: 3000 + trailRate})
	require.NoError(t, err)
	link := sim.Link{Latency: 50 * time.Millisecond}
	s, err := m.seat(link, link, time.Hour, time.Hour)
	require.NoError(t, err)
	waiting, all := 0, 0
	m.game.script = func(f *foretick.ServerFrame) {
		if f.Tick == 200 {
			for range crowd {
				*m.game.pos.Get(f.World, f.Spawn(&m.game.runner, ecs.Nobody)) = place{Y: 60}
			}
		}
		me := s.client.View().Player
		if f.Tick < 210 || f.Tick > 500 {
			return
		}
		seen, drawn := 0, s.game.runners.Count(s.client.View().World)
		past := f.Rewind(me)
		for _, rows := range m.game.runners.All(f.World) {
			for i := range rows.Len() {
				if _, ok := past.Hitbox(rows.Entity(i), 0); ok {
					seen++
				}
			}
		}
		require.LessOrEqual(t, seen, drawn)
		if seen == crowd+runners {
			all++
		} else if seen > runners {
			waiting++
		}
	}
	m.Run(15 * time.Second)
	t.Logf("%d ticks with some unknown, %d with all known", waiting, all)
	require.GreaterOrEqual(t, waiting, 5)
	require.Greater(t, all, 10)
}
