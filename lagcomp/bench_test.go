package lagcomp_test

import (
	"fmt"
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/foretick/foretick/lagcomp"
)

// crowd is a match of players with skeletons of 16 volumes each.
type crowd struct {
	players  int
	hitboxes [][]lagcomp.Hitbox
	h        *lagcomp.History
	tick     lagcomp.Tick
}

const skeleton = 16

// newCrowd spreads the players over a field and fills the history with them
// walking in circles.
func newCrowd(tb testing.TB, players int) *crowd {
	h, err := lagcomp.NewHistory(lagcomp.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	c := &crowd{players: players, h: h, hitboxes: make([][]lagcomp.Hitbox, players)}
	for i := range c.hitboxes {
		c.hitboxes[i] = make([]lagcomp.Hitbox, skeleton)
	}
	for range 64 {
		c.walk()
		c.record()
	}
	return c
}

func (c *crowd) walk() {
	c.tick++
	side := int(math.Ceil(math.Sqrt(float64(c.players))))
	for i, vs := range c.hitboxes {
		phase := float64(c.tick)*0.1 + float64(i)
		x := float32(float64(i%side)*8 + 2*math.Cos(phase))
		y := float32(float64(i/side)*8 + 2*math.Sin(phase))
		for k := range vs {
			z := 0.1 + 0.11*float32(k)
			at := lagcomp.Vec{X: x + 0.2*float32(k%3-1), Y: y, Z: z}
			switch k % 3 {
			case 0:
				vs[k] = lagcomp.SphereHitbox(lagcomp.Sphere{X: at.X, Y: at.Y, Z: at.Z, R: 0.15})
			case 1:
				vs[k] = lagcomp.CapsuleHitbox(lagcomp.Capsule{A: at, B: lagcomp.Vec{X: at.X, Y: at.Y + .1, Z: at.Z + .2}, R: 0.1})
			default:
				vs[k] = lagcomp.BoxHitbox(lagcomp.Box{Center: at, Half: lagcomp.Vec{X: .15, Y: .1, Z: .1}, Rotation: lagcomp.Turn(float32(phase))})
			}
		}
	}
}

func (c *crowd) record() {
	c.h.Begin(c.tick)
	for i, vs := range c.hitboxes {
		c.h.Put(lagcomp.ID(i+1), uint32(i+1), 0, vs...)
	}
	c.h.End()
}

// ray number i crosses the field from one player towards another.
func (c *crowd) ray(i int) lagcomp.Ray {
	from, to := i%c.players, (i*7+13)%c.players
	a, b := c.hitboxes[from][8].Bound(), c.hitboxes[to][8].Bound()
	r := lagcomp.RayTo(lagcomp.Vec{X: a.X, Y: a.Y, Z: a.Z}, lagcomp.Vec{X: b.X, Y: b.Y, Z: b.Z})
	r.Range = 100
	return r
}

// interleave times two pieces of work in turns, so that both see the same
// machine, and answers how many times longer the first takes. It keeps the
// fastest round of each: noise only ever adds.
func interleave(rounds, times int, work, base func()) (ratio float64, each time.Duration) {
	w, b := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range rounds {
		start := time.Now()
		for range times {
			work()
		}
		mid := time.Now()
		for range times {
			base()
		}
		w, b = min(w, mid.Sub(start)), min(b, time.Since(mid))
	}
	return float64(w) / float64(b), w / time.Duration(times)
}

// recordRatio compares recording a tick with copying the same volumes into a
// ring of the same depth.
func recordRatio(c *crowd, rounds int) (float64, time.Duration) {
	ring := make([][]lagcomp.Hitbox, 32)
	src := make([]lagcomp.Hitbox, 0, c.players*skeleton)
	for _, vs := range c.hitboxes {
		src = append(src, vs...)
	}
	for i := range ring {
		ring[i] = append([]lagcomp.Hitbox(nil), src...)
	}
	k := 0
	return interleave(rounds, 64,
		func() { c.tick++; c.record() },
		func() { k++; copy(ring[k%len(ring)], src) })
}

// raycastRatio compares a ray with testing every volume of every entity.
func raycastRatio(c *crowd, rounds int) (float64, time.Duration) {
	past := c.h.At(c.tick-10, 0.5)
	n, m := 0, 0
	return interleave(rounds, 64,
		func() { n++; past.Raycast(c.ray(n), lagcomp.Filter{ExcludeOwner: uint32(n%c.players + 1)}) },
		func() {
			m++
			lagcomp.BruteRaycast(past, c.ray(m), lagcomp.Filter{ExcludeOwner: uint32(m%c.players + 1)})
		})
}

// coldRatio is raycastRatio where each ray is the first into its tick.
func coldRatio(c *crowd, rounds int) (float64, time.Duration) {
	n, m := 0, 0
	past := c.h.At(c.tick-10, 0.5)
	return interleave(rounds, 64,
		func() {
			n++
			lagcomp.Forget(c.h)
			c.h.At(c.tick-10, 0.5).Raycast(c.ray(n), lagcomp.Filter{ExcludeOwner: uint32(n%c.players + 1)})
		},
		func() {
			m++
			lagcomp.BruteRaycast(past, c.ray(m), lagcomp.Filter{ExcludeOwner: uint32(m%c.players + 1)})
		})
}

func BenchmarkRecord(b *testing.B) {
	c := newCrowd(b, 64)
	b.ReportAllocs()
	b.SetBytes(int64(64 * skeleton * int(unsafe.Sizeof(lagcomp.Hitbox{}))))
	for b.Loop() {
		c.tick++
		c.record()
	}
	ratio, _ := recordRatio(c, 200)
	b.ReportMetric(ratio, "x_copy")
}

func BenchmarkRaycast(b *testing.B) {
	for _, players := range []int{64, 512} {
		b.Run(fmt.Sprint(players), func(b *testing.B) {
			c := newCrowd(b, players)
			past := c.h.At(c.tick-10, 0.5)
			b.ReportAllocs()
			i, hits := 0, 0
			for b.Loop() {
				i++
				if _, ok := past.Raycast(c.ray(i), lagcomp.Filter{ExcludeOwner: uint32(i%players + 1)}); ok {
					hits++
				}
			}
			ratio, _ := raycastRatio(c, 30)
			b.ReportMetric(ratio, "x_brute")
			cold, _ := coldRatio(c, 30)
			b.ReportMetric(cold, "x_brute_cold")
			b.ReportMetric(100*float64(hits)/float64(i), "%hit")
		})
	}
}
