package shottest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// heads returns the heads that can be hit in a view, by number.
func (g *shootingRange) heads(w *ecs.World, seen foretick.HitView) map[uint8]lagcomp.Vec {
	out := map[uint8]lagcomp.Vec{}
	for _, hit := range seen.Overlap(lagcomp.Sphere{R: 200}, nil) {
		if v, ok := seen.Hitbox(hit.Entity, 0); ok && w.Alive(hit.Entity) {
			ball, _ := v.Sphere()
			out[g.pose.Get(w, hit.Entity).Number] = lagcomp.Vec{X: ball.X, Y: ball.Y, Z: ball.Z}
		}
	}
	return out
}

// comers makes runners come and go: new ones that live for a while, and one of the
// first, which is hidden and shown again. It returns when each came into sight.
func (m *rangeMatch) comers(player func() foretick.PlayerID) (came map[uint8][]foretick.Tick) {
	came = map[uint8][]foretick.Tick{}
	g, next, alive := m.game, uint8(runners), []ecs.Entity(nil)
	g.script = func(f *foretick.ServerFrame) {
		if f.Tick < foretick.Tick(6*m.rate) {
			return
		}
		if f.Tick%17 == 0 {
			e := f.Spawn(&g.runner, ecs.Nobody)
			*g.pos.Get(f.World, e) = place{X: 3, Y: float32(next)}
			*g.pose.Get(f.World, e) = pose{Number: next}
			*g.course.Get(f.World, e) = course{Dir: 1, Left: 1}
			came[next] = append(came[next], f.Tick)
			if alive = append(alive, e); len(alive) > 4 {
				f.Destroy(alive[0])
				alive = alive[1:]
			}
			if next++; next > 15 {
				next = runners
			}
		}
		if e := g.number(f.World, 2); f.Tick%97 == 0 {
			f.SetVisible(player(), e, false)
		} else if f.Tick%97 == 20 {
			f.SetVisible(player(), e, true)
			came[2] = append(came[2], f.Tick)
		}
	}
	return came
}

// An entity that comes into sight, newly spawned or shown again, can be hit from its first
// frame on the shooter's screen, at its position there, and in no earlier frame.
func TestWhatAppearsIsJudgedWhereDrawn(t *testing.T) {
	for _, row := range []struct {
		rate, snapshots int
		rtt, jitter     time.Duration
		loss            float64
	}{
		{30, 30, 0, 0, 0},
		{30, 30, 100 * time.Millisecond, 0, 0},
		{30, 30, 200 * time.Millisecond, 20 * time.Millisecond, 0.02},
		{60, 20, 0, 0, 0},
		{60, 20, 100 * time.Millisecond, 0, 0},
		{60, 20, 200 * time.Millisecond, 20 * time.Millisecond, 0.02},
		{60, 60, 200 * time.Millisecond, 50 * time.Millisecond, 0.1},
	} {
		t.Run(fmt.Sprintf("%d and %d Hz, %v+%v, %v", row.rate, row.snapshots, row.rtt, row.jitter, row.loss), func(t *testing.T) {
			m, err := newRange(23, row.rate, server.Config{SnapshotRate: row.snapshots, MaxRewind: time.Second})
			require.NoError(t, err)
			link := sim.Link{Latency: row.rtt / 2, Jitter: row.jitter, Loss: row.loss}
			s, err := m.seat(link, link, 6*time.Second, 36*time.Second)
			require.NoError(t, err)
			s.every = 1
			drawn, judged := map[foretick.Tick]map[uint8]lagcomp.Vec{}, map[foretick.Tick]map[uint8]lagcomp.Vec{}
			used := map[foretick.Tick]foretick.Tick{}
			s.game.fired = func(f *foretick.Frame, sh shot) {
				s.fired(f, sh)
				drawn[f.Tick] = s.game.heads(f.World, f.Rewind(s.client.View().Player))
			}
			m.game.judged = func(f *foretick.Frame, by foretick.PlayerID, sh shot) {
				seen := f.Rewind(by)
				if seen.Reason == lagcomp.OK {
					judged[f.Tick], used[f.Tick] = m.game.heads(f.World, seen), seen.Used.Tick
				}
			}
			came := m.comers(func() foretick.PlayerID { return s.client.View().Player })
			m.Run(37 * time.Second)
			require.Greater(t, len(judged), 13*row.rate)

			first := map[string]bool{} // each appearance was in a judged frame
			for tick, there := range judged {
				for n, head := range there {
					at, ok := drawn[tick][n]
					require.True(t, ok, "tick %d, judged at %d: %d was not drawn", tick, used[tick], n)
					require.InDelta(t, 0, distance(at, head), 1e-4, "tick %d: %d", tick, n)
				}
				for n := range drawn[tick] {
					for _, at := range came[n] {
						// These are the runner's first frames, and no runner has disappeared again.
						if age := int32(used[tick] - at); age >= 0 && age < 6 && tick-at < 4*17 {
							require.Contains(t, there, n, "tick %d, judged at %d: %d came at %d and is drawn", tick, used[tick], n, at)
							first[fmt.Sprint(n, " ", at)] = true
						}
					}
				}
			}
			require.Greater(t, len(first), 40)
		})
	}
}

// A projectile in its shooter's past hits an entity that came into sight after the shot, but only
// from the moment on at which the entity came into sight.
func TestWhatAppearsIsMetInFlight(t *testing.T) {
	const behind = 8
	m, err := newRange(29, 30, server.Config{})
	require.NoError(t, err)
	link := sim.Link{Latency: 50 * time.Millisecond}
	s, err := m.seat(link, link, 6*time.Second, 7*time.Second)
	require.NoError(t, err)
	me := func() foretick.PlayerID { return s.client.View().Player }
	came, met, early := map[uint8][]foretick.Tick(nil), 0, 0
	came = m.comers(me)
	play := m.game.script
	m.game.script = func(f *foretick.ServerFrame) {
		if play(f); f.Tick < 9*30 {
			return
		}
		there := m.game.heads(f.World, f.RewindBehind(me(), behind))
		for n, ticks := range came {
			age := int32(f.Tick - ticks[len(ticks)-1])
			switch {
			case age >= behind && age < 4*17:
				require.Contains(t, there, n, "tick %d, came %d", f.Tick, ticks)
				met++
			case age >= 0 && age < behind && len(ticks) == 1:
				require.NotContains(t, there, n, "tick %d, came %d", f.Tick, ticks)
				early++
			}
		}
	}
	m.Run(20 * time.Second)
	require.Greater(t, met, 500)
	require.Greater(t, early, 20)
}

// A runner that the server replaces by another at the same place, in one tick, is hit in each frame that shows
// either of them, also where that tick's snapshot was lost. The old one is judged up to that tick, and the new one
// from then on.
func TestReplacedIsJudgedWhereDrawn(t *testing.T) {
	m, err := newRange(31, 30, server.Config{MaxRewind: time.Second})
	require.NoError(t, err)
	link := sim.Link{Latency: 50 * time.Millisecond, Loss: 0.15}
	s, err := m.seat(link, link, 6*time.Second, 60*time.Second)
	require.NoError(t, err)
	s.every = 1
	now, n := ecs.None, uint8(runners)
	m.game.script = func(f *foretick.ServerFrame) {
		if f.Tick%23 != 0 {
			return
		}
		if n++; n > 15 {
			n = runners
		}
		f.Destroy(now)
		now = f.Spawn(&m.game.runner, ecs.Nobody)
		*m.game.pos.Get(f.World, now) = place{X: 5, Y: 5}
		*m.game.pose.Get(f.World, now) = pose{Number: n}
		*m.game.course.Get(f.World, now) = course{Left: 1 << 20}
	}
	hits := func(g *shootingRange, f *foretick.Frame, by foretick.PlayerID) (number uint8, hit bool) {
		h, ok := f.Rewind(by).Raycast(lagcomp.RayTo(lagcomp.Vec{X: 5, Y: -5, Z: 0.5}, lagcomp.Vec{X: 5, Y: 5, Z: 0.5}))
		if !ok || !f.World.Alive(h.Entity) {
			return 0, false
		}
		return g.pose.Get(f.World, h.Entity).Number, true
	}
	drawn, shots, confirmed := map[foretick.Tick]uint8{}, 0, 0
	s.game.fired = func(f *foretick.Frame, sh shot) {
		s.fired(f, sh)
		number, ok := hits(s.game, f, s.client.View().Player)
		require.True(t, ok, "tick %d: one of them is on the screen", f.Tick)
		drawn[f.Tick] = number
	}
	m.game.judged = func(f *foretick.Frame, by foretick.PlayerID, _ shot) {
		number, ok := hits(m.game, f, by)
		saw, shown := drawn[f.Tick]
		if !shown || saw != m.game.pose.Get(f.World, now).Number {
			return // the one on the screen does not exist any more
		}
		if shots++; ok && number == saw {
			confirmed++
		}
	}
	m.Run(62 * time.Second)
	t.Logf("%d of %d shots at the newest confirmed", confirmed, shots)
	require.Greater(t, shots, 100)
	require.GreaterOrEqual(t, confirmed, shots*99/100)
}
