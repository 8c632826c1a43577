package lagcomp_test

import (
	"math"
	"testing"
	"time"

	"github.com/foretick/foretick/lagcomp"
)

// FuzzAllow gives a judge claims as they may come off the wire, several in a
// row, while the server's own measurements stay within reason.
func FuzzAllow(f *testing.F) {
	f.Add(uint32(95), uint32(0), uint32(97), uint32(0), uint16(100))
	f.Add(uint32(math.MaxUint32), math.Float32bits(1), uint32(0), uint32(0x7fc00000), uint16(400))
	f.Add(uint32(0), uint32(0xff800000), uint32(101), uint32(0x80000001), uint16(65535))
	f.Fuzz(func(t *testing.T, tick1, fraction1, tick2, fraction2 uint32, rtt uint16) {
		j := lagcomp.NewJudge(lagcomp.Config{})
		last := 0.0
		for i, c := range []lagcomp.Claim{
			{Tick: tick1, Fraction: math.Float32frombits(fraction1)},
			{Tick: tick2, Fraction: math.Float32frombits(fraction2)},
			{Tick: tick1, Fraction: math.Float32frombits(fraction2)},
		} {
			now := lagcomp.Tick(100 + i)
			got, reason := j.Allow(c, lagcomp.Measured{Now: now, Newest: now - 2, RTT: time.Duration(rtt) * ms})
			x := at(got)
			if math.IsNaN(x) || x > float64(now) || x < float64(now)-18.0001 || x < last-1e-4 {
				t.Fatalf("claim %v at tick %d was answered with %v (%v) after %v", c, now, got, reason, last)
			}
			last = x
		}
		if s := j.Stats(); s.Clamped()+s.ByReason.Of(lagcomp.OK) != 3 {
			t.Fatalf("three claims were counted as %v", s)
		}
	})
}

// FuzzQueries looks into the past with any ray, which a client may have sent,
// and any moment: what is answered is in range, finite and as tested without
// the broad phase.
func FuzzQueries(f *testing.F) {
	c := newCrowd(f, 9)
	bits := math.Float32bits
	f.Add(bits(0), bits(0), bits(1), bits(1), bits(.5), bits(0), bits(100), c.tick-3, bits(.5), bits(0))
	f.Add(bits(8), bits(8), bits(9), bits(0), bits(0), bits(-1), bits(20), c.tick, bits(0), bits(.3))
	f.Add(uint32(0x7fc00000), bits(8), bits(9), bits(math.MaxFloat32), bits(1e-40), bits(-1), uint32(0x7f800000), uint32(math.MaxUint32), uint32(0x7fc00000), bits(1e30))
	f.Fuzz(func(t *testing.T, x, y, z, dx, dy, dz, far, tick, fraction, radius uint32) {
		v := math.Float32frombits
		ray := lagcomp.Ray{X: v(x), Y: v(y), Z: v(z), DX: v(dx), DY: v(dy), DZ: v(dz), Range: v(far)}
		past := c.h.At(tick, v(fraction))
		hit, ok := past.Raycast(ray, lagcomp.Filter{})
		check(t, hit, ok, ray.Range)
		if abs := math.Abs(float64(ray.X)) + math.Abs(float64(ray.Y)) + math.Abs(float64(ray.Z)); abs < 4096 {
			if slow, sure := lagcomp.BruteRaycast(past, ray, lagcomp.Filter{}); sure != ok || slow != hit {
				t.Fatalf("%+v: %+v %v, without the broad phase %+v %v", ray, hit, ok, slow, sure)
			}
		}
		hit, ok = past.SphereCast(ray, v(radius), lagcomp.Filter{})
		check(t, hit, ok, ray.Range)
		hit, ok = past.Nearest(lagcomp.Vec{X: v(x), Y: v(y), Z: v(z)}, v(radius), lagcomp.Filter{})
		check(t, hit, ok, v(radius))
		past.Overlap(lagcomp.Sphere{X: v(x), Y: v(y), Z: v(z), R: v(radius)}, lagcomp.Filter{}, nil)
		past.Validate(lagcomp.ID(tick%12), ray, lagcomp.Filter{})
		shot := lagcomp.Projectile{Position: lagcomp.Vec{X: v(x), Y: v(y), Z: v(z)}, Velocity: lagcomp.Vec{X: v(dx), Y: v(dy), Z: v(dz)}, Radius: v(radius)}
		c.h.CatchUp(&shot, lagcomp.Claim{Tick: tick, Fraction: v(fraction)}, far, lagcomp.Filter{})
	})
}

func check(t *testing.T, h lagcomp.Hit, ok bool, far float32) {
	t.Helper()
	if !ok {
		if h != (lagcomp.Hit{}) {
			t.Fatalf("a miss carries %+v", h)
		}
		return
	}
	if h.ID < 1 || h.ID > 9 || !(h.Distance >= 0 && h.Distance <= far) {
		t.Fatalf("hit out of range: %+v", h)
	}
}
