package lagcomp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/lagcomp"
)

// wedge is a game's own shape: the half of a ball that lies above its centre.
type wedge struct{}

func (wedge) Cast(v lagcomp.Hitbox, o, d lagcomp.Vec, max, radius float32) (lagcomp.Contact, bool) {
	b := v.Bound()
	if d.Z >= 0 || o.Z < b.Z {
		return lagcomp.Contact{}, false
	}
	t := (b.Z + radius - o.Z) / d.Z // meets the flat side, near enough for a test
	at := lagcomp.Vec{X: o.X + d.X*t, Y: o.Y + d.Y*t, Z: b.Z}
	if t > max || math.Hypot(float64(at.X-b.X), float64(at.Y-b.Y)) > float64(b.R) {
		return lagcomp.Contact{}, false
	}
	return lagcomp.Contact{Distance: t, Point: at, Normal: lagcomp.Vec{Z: 1}}, true
}

func (wedge) Closest(v lagcomp.Hitbox, p lagcomp.Vec) lagcomp.Contact {
	return lagcomp.Contact{Distance: p.Z - v.Bound().Z, Point: p, Normal: lagcomp.Vec{Z: 1}}
}

func TestOwnShape(t *testing.T) {
	h := newHistory(t, lagcomp.Config{Shapes: []lagcomp.Shape{wedge{}}})
	for k := lagcomp.Tick(1); k <= 2; k++ {
		h.Begin(k)
		v := lagcomp.CustomHitbox(0, lagcomp.Sphere{X: float32(k) * 10, R: 1}, [7]float32{6: 4})
		shape, param, ok := v.Custom()
		require.True(t, ok)
		require.Zero(t, shape)
		require.Equal(t, float32(4), param[6])
		h.Put(1, 0, 0, v.On(9, 0))
		h.Put(2, 0, 0, lagcomp.CustomHitbox(1, lagcomp.Sphere{X: float32(k) * 10, Z: 3, R: 1}, [7]float32{}))
		h.End()
	}
	hit, ok := h.At(1, .5).Raycast(lagcomp.Ray{X: 15, Z: 5, DZ: -1, Range: 10}, lagcomp.Filter{})
	require.True(t, ok, "interpolated to 15; the second's shape is not registered")
	require.Equal(t, uint8(9), hit.Part)
	require.Equal(t, float32(5), hit.Distance)
	near, ok := h.At(1, .5).Nearest(lagcomp.Vec{X: 15, Z: .5}, 1, lagcomp.Filter{})
	require.True(t, ok)
	require.Equal(t, float32(.5), near.Distance)
}

func TestHitboxesKeepWhatTheyWereMadeOf(t *testing.T) {
	s := lagcomp.Sphere{X: 1, Y: 2, Z: 3, R: 4}
	got, ok := lagcomp.SphereHitbox(s).Sphere()
	require.True(t, ok)
	require.Equal(t, s, got)
	c := lagcomp.Capsule{A: lagcomp.Vec{X: 1}, B: lagcomp.Vec{X: 3, Y: 2}, R: .5}
	cc, ok := lagcomp.CapsuleHitbox(c).Capsule()
	require.True(t, ok)
	require.Equal(t, c, cc)
	b := lagcomp.Box{Center: lagcomp.Vec{Y: 1}, Half: lagcomp.Vec{X: 1, Y: 2, Z: 3}, Rotation: lagcomp.Quat{W: 2}}
	bb, ok := lagcomp.BoxHitbox(b).Box()
	require.True(t, ok)
	b.Rotation.W = 1
	require.Equal(t, b, bb)
	bb, _ = lagcomp.BoxHitbox(lagcomp.Box{}).Box()
	require.Equal(t, lagcomp.Quat{W: 1}, bb.Rotation, "the zero rotation is none")
	_, ok = lagcomp.BoxHitbox(b).Capsule()
	require.False(t, ok)
	_, ok = lagcomp.SphereHitbox(s).Box()
	require.False(t, ok)
	_, ok = lagcomp.BoxHitbox(b).Sphere()
	require.False(t, ok)
	require.Zero(t, lagcomp.SphereHitbox(lagcomp.Sphere{R: -3}).Bound().R)
}

// TestContactsLieOnTheSurface holds point and normal of what is hit to the
// oracle's distance: the point is on the surface, and the normal leads away.
func TestContactsLieOnTheSurface(t *testing.T) {
	hits := 0
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		s := randomSolid(r, v3{})
		h := newHistory(&testing.T{}, lagcomp.Config{})
		h.Begin(1)
		h.Put(1, 0, 0, s.hitbox())
		h.End()
		o := v3{20 * (r.Float64() - .5), 20 * (r.Float64() - .5), 20 * (r.Float64() - .5)}
		ray := lagcomp.RayTo(narrow(o), narrow(s.a.add(v3{r.Float64() - .5, r.Float64() - .5, r.Float64() - .5})))
		ray.Range = 40
		radius := float32(r.IntN(2)) * r.Float32()
		hit, ok := h.At(1, 0).SphereCast(ray, radius, lagcomp.Filter{})
		if !ok || hit.Distance == 0 {
			return
		}
		hits++
		require.InDelta(t, 0, s.distance(wide(hit.Point)), tolerance)
		n := wide(hit.Normal)
		require.InDelta(t, 1, n.len(), 1e-3)
		d := wide(lagcomp.Vec{X: ray.DX, Y: ray.DY, Z: ray.DZ})
		require.LessOrEqual(t, n.dot(d), 1e-2*d.len(), "it faces the ray")
		require.Greater(t, s.distance(wide(hit.Point).add(n.mul(.05))), .04, "it leads outwards")

		near, ok := h.At(1, 0).Nearest(narrow(o), 40, lagcomp.Filter{})
		require.True(t, ok)
		require.InDelta(t, 0, s.distance(wide(near.Point)), tolerance)
		require.InDelta(t, math.Max(0, s.distance(o)), float64(near.Distance), tolerance)
	})
	require.Greater(t, hits, enough(5))
}

// TestFarAway: float32 has a grid of 0.06 mm at 1 km; a hit there is as good.
func TestFarAway(t *testing.T) {
	for _, v := range []lagcomp.Hitbox{
		lagcomp.SphereHitbox(lagcomp.Sphere{X: 1000, Y: 700, R: .25}),
		lagcomp.CapsuleHitbox(lagcomp.Capsule{A: lagcomp.Vec{X: 1000, Y: 700, Z: -1}, B: lagcomp.Vec{X: 1000, Y: 700, Z: 1}, R: .25}),
		lagcomp.BoxHitbox(lagcomp.Box{Center: lagcomp.Vec{X: 1000, Y: 700}, Half: lagcomp.Vec{X: .25, Y: .25, Z: .25}, Rotation: lagcomp.Turn(.61072594)}),
	} {
		h := newHistory(t, lagcomp.Config{})
		h.Begin(1)
		h.Put(1, 0, 0, v)
		h.End()
		from := lagcomp.Vec{X: -900, Y: -630}
		aim := func(off float32) bool {
			// Aside by off, at right angles to the line of fire.
			_, ok := h.At(1, 0).Raycast(lagcomp.RayTo(from, lagcomp.Vec{X: 1000 - off*.57346, Y: 700 + off*.81923}),
				lagcomp.Filter{Layers: 1})
			return ok
		}
		// RayTo ends at the aim, next to the centre, so it reaches the volume.
		require.True(t, aim(0))
		require.True(t, aim(.24))
		require.True(t, aim(-.24))
		require.False(t, aim(.26))
		require.False(t, aim(-.26))
	}
}
