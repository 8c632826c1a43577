package lagcomp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/lagcomp"
)

// crossing is a target that crosses the line of fire X at 15 m: one metre a
// tick along Y, at Y 0 in tick 20.
func crossing(t testing.TB) *lagcomp.History {
	h := newHistory(t, lagcomp.Config{})
	for k := lagcomp.Tick(1); k <= 30; k++ {
		h.Begin(k)
		h.Put(1, 1, 0, lagcomp.SphereHitbox(lagcomp.Sphere{X: 15, Y: float32(k) - 20, R: .4}))
		h.End()
	}
	return h
}

// rocket flies 90 m/s, three metres a tick: fired at tick 15 it meets the
// target at tick 20.
func rocket() lagcomp.Projectile {
	return lagcomp.Projectile{Velocity: lagcomp.Vec{X: 90}, Radius: .2}
}

func TestCatchUp(t *testing.T) {
	h := crossing(t)
	shot := rocket()
	at, hit, ok := h.CatchUp(&shot, lagcomp.Claim{Tick: 15}, 30, lagcomp.Filter{})
	require.True(t, ok)
	require.Equal(t, lagcomp.Claim{Tick: 20}, at)
	require.Equal(t, lagcomp.ID(1), hit.ID)
	require.InDelta(t, 14.4, hit.Distance, 1e-3)
	require.InDelta(t, 14.4, shot.Position.X, 1e-3, "it stopped there")

	shot = rocket()
	at, _, ok = h.CatchUp(&shot, lagcomp.Claim{Tick: 15, Fraction: .25}, 18, lagcomp.Filter{})
	require.False(t, ok)
	require.Equal(t, lagcomp.Claim{Tick: 17, Fraction: .25}, at)
	require.InDelta(t, 6, shot.Position.X, 1e-3, "two ticks on, and not the rest of one")

	for _, early := range []lagcomp.Tick{13, 17} {
		shot = rocket()
		_, _, ok = h.CatchUp(&shot, lagcomp.Claim{Tick: early}, 30, lagcomp.Filter{})
		require.False(t, ok, "fired at %d it passes before or behind", early)
		require.InDelta(t, float32(3*(30-early)), shot.Position.X, 1e-2)
	}

	shot = rocket()
	at, _, ok = h.CatchUp(&shot, lagcomp.Claim{Tick: 29}, 4_000_000_000, lagcomp.Filter{})
	require.False(t, ok)
	require.Equal(t, lagcomp.Claim{Tick: 30}, at)
	require.InDelta(t, 3, shot.Position.X, 1e-3, "no further than what is held")
	shot = rocket()
	at, _, ok = h.CatchUp(&shot, lagcomp.Claim{Tick: 25}, 20, lagcomp.Filter{})
	require.False(t, ok)
	require.Equal(t, lagcomp.Claim{Tick: 25}, at)
	require.Zero(t, shot.Position, "the past is not ahead")

	for k := lagcomp.Tick(31); k <= 100; k++ {
		h.Begin(k)
		h.End()
	}
	oldest, _ := h.Oldest()
	shot = rocket()
	at, _, ok = h.CatchUp(&shot, lagcomp.Claim{Tick: 3, Fraction: .5}, 100, lagcomp.Filter{})
	require.False(t, ok)
	require.Equal(t, lagcomp.Claim{Tick: 100}, at)
	require.InDelta(t, float32(3*(100-oldest)), shot.Position.X, 1e-2, "from no earlier than what is held")

	shot = lagcomp.Projectile{Velocity: lagcomp.Vec{X: 1}}
	empty := newHistory(t, lagcomp.Config{})
	at, _, ok = empty.CatchUp(&shot, lagcomp.Claim{Tick: 25}, 30, lagcomp.Filter{})
	require.False(t, ok)
	require.Equal(t, lagcomp.Claim{Tick: 25}, at)
	require.Zero(t, shot.Position, "nowhere to fly")
}

func TestCatchUpFalls(t *testing.T) {
	h := crossing(t)
	shot := rocket()
	shot.Gravity = lagcomp.Vec{Z: -9.81}
	h.CatchUp(&shot, lagcomp.Claim{Tick: 22}, 28, lagcomp.Filter{})
	require.InDelta(t, -9.81*.2*.2/2, shot.Position.Z, 1e-4)
	require.InDelta(t, -9.81*.2, shot.Velocity.Z, 1e-4)
}

// TestResting: a projectile at rest is hit by an entity that moves onto it, and only then.
func TestResting(t *testing.T) {
	h := crossing(t)
	for k := lagcomp.Tick(10); k <= 30; k++ {
		mine := lagcomp.Projectile{Position: lagcomp.Vec{X: 15}, Radius: .2}
		hit, ok := h.At(k, 0).Fly(&mine, 1./30, lagcomp.Filter{})
		require.Equal(t, k == 20, ok, "0.6 m are touched by who runs a metre a tick in one alone")
		require.Zero(t, hit.Distance)
		require.Equal(t, lagcomp.Vec{X: 15}, mine.Position)
		hit, ok = h.At(k, 0).Fly(&mine, 0, lagcomp.Filter{Exclude: 1})
		require.False(t, ok)
		require.Zero(t, hit)
	}
	mine := lagcomp.Projectile{Position: lagcomp.Vec{X: 15}, Radius: .2}
	at, _, ok := h.CatchUp(&mine, lagcomp.Claim{Tick: 15}, 30, lagcomp.Filter{})
	require.True(t, ok)
	require.Equal(t, lagcomp.Claim{Tick: 20}, at)
}

// Whichever way a projectile reaches the present, it meets the worlds that its
// shooter's screen showed around it: tick for tick from the moment it was fired at,
// at the fraction that the moment had.
func TestBothWaysMeetWhatTheScreenShowed(t *testing.T) {
	h := crossing(t)
	hits := 0
	for k := range 128 { // aimed so that it meets, grazes and misses
		claim, now := lagcomp.Claim{Tick: 14, Fraction: float32(k%8) / 8}, lagcomp.Tick(18)
		if k >= 64 {
			now = 23 // by then it has landed
		}
		fire := func() lagcomp.Projectile {
			shot := rocket()
			shot.Position.Y = float32(k%64)/32 - 1
			return shot
		}
		screen, fired := fire(), float64(claim.Tick)+float64(claim.Fraction)
		var want lagcomp.Hit
		for x := fired; x <= 28 && want.ID == 0; x++ { // what the shooter sees
			want, _ = h.At(lagcomp.Tick(x), claim.Fraction).Fly(&screen, 1./30, lagcomp.Filter{})
		}
		fly := func(shot lagcomp.Projectile, behind float32, from lagcomp.Tick) (hit lagcomp.Hit) {
			for t := from; t <= 30 && hit.ID == 0; t++ {
				hit, _ = h.Delayed(t, behind).Fly(&shot, 1./30, lagcomp.Filter{})
			}
			return hit
		}
		delayed := fly(fire(), claim.Behind(now), now)
		up := fire()
		caught, ok := h.At(claim.Tick, claim.Fraction).Fly(&up, 1./30, lagcomp.Filter{})
		if !ok {
			var at lagcomp.Claim
			if at, caught, ok = h.CatchUp(&up, claim, now, lagcomp.Filter{}); !ok {
				require.Less(t, at.Behind(now), float32(1))
				caught = fly(up, at.Behind(now), now+1)
			}
		}
		require.Equal(t, want.ID, delayed.ID, k)
		require.Equal(t, want.ID, caught.ID, k)
		require.InDelta(t, want.Point.Y, delayed.Point.Y, 1e-4)
		require.InDelta(t, want.Point.Y, caught.Point.Y, 1e-4)
		if want.ID != 0 {
			hits++
		}
	}
	require.Greater(t, hits, 20)
	require.Less(t, hits, 108)
}

// TestDelayedFlight keeps the shooter six ticks behind for the whole flight:
// what he fires at his tick 15 hits in the server's tick 26.
func TestDelayedFlight(t *testing.T) {
	h := crossing(t)
	shot := rocket()
	behind := lagcomp.Claim{Tick: 15}.Behind(21)
	require.Equal(t, float32(6), behind)
	require.Zero(t, lagcomp.Claim{Tick: 15}.Behind(3))
	for now := lagcomp.Tick(22); now <= 30; now++ {
		hit, ok := h.Delayed(now, behind).Fly(&shot, 1./30, lagcomp.Filter{})
		if ok {
			require.Equal(t, lagcomp.Tick(26), now)
			require.InDelta(t, 2.4, hit.Distance, 1e-3)
			return
		}
	}
	t.Fatal("it never hit")
}
