package lagcomp_test

import (
	"math"
	"math/rand/v2"

	"github.com/foretick/foretick/lagcomp"
)

// The oracle: the same world in float64, without bounding spheres, rings or
// closed forms. A volume is a signed distance; a ray enters it where bisection
// finds that distance to change sign. What the package answers is held to it.

type v3 [3]float64

func (a v3) add(b v3) v3            { return v3{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }
func (a v3) sub(b v3) v3            { return v3{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }
func (a v3) mul(s float64) v3       { return v3{a[0] * s, a[1] * s, a[2] * s} }
func (a v3) dot(b v3) float64       { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
func (a v3) len() float64           { return math.Sqrt(a.dot(a)) }
func (a v3) mix(b v3, f float64) v3 { return a.mul(1 - f).add(b.mul(f)) }
func (a v3) cross(b v3) v3 {
	return v3{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

func wide(v lagcomp.Vec) v3 { return v3{float64(v.X), float64(v.Y), float64(v.Z)} }
func narrow(v v3) lagcomp.Vec {
	return lagcomp.Vec{X: float32(v[0]), Y: float32(v[1]), Z: float32(v[2])}
}

// solid is a volume of the oracle: 's' ball, 'c' capsule, 'b' box.
type solid struct {
	shape byte
	a, b  v3 // ball and box: centre in a; capsule: its ends
	half  v3
	q     [4]float64
	r     float64
	part  uint8
	layer uint8
}

func (s solid) hitbox() lagcomp.Hitbox {
	var v lagcomp.Hitbox
	switch s.shape {
	case 's':
		v = lagcomp.SphereHitbox(lagcomp.Sphere{X: float32(s.a[0]), Y: float32(s.a[1]), Z: float32(s.a[2]), R: float32(s.r)})
	case 'c':
		v = lagcomp.CapsuleHitbox(lagcomp.Capsule{A: narrow(s.a), B: narrow(s.b), R: float32(s.r)})
	default:
		v = lagcomp.BoxHitbox(lagcomp.Box{Center: narrow(s.a), Half: narrow(s.half),
			Rotation: lagcomp.Quat{X: float32(s.q[0]), Y: float32(s.q[1]), Z: float32(s.q[2]), W: float32(s.q[3])}})
	}
	return v.On(s.part, s.layer)
}

// rotate turns v by a unit quaternion, by the vector formula.
func rotate(q [4]float64, v v3) v3 {
	u := v3{q[0], q[1], q[2]}
	t := u.cross(v).mul(2)
	return v.add(t.mul(q[3])).add(u.cross(t))
}

func unit4(q [4]float64) [4]float64 {
	l := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
	for i := range q {
		q[i] /= l
	}
	return q
}

// distance is negative inside.
func (s solid) distance(p v3) float64 {
	switch s.shape {
	case 's':
		return p.sub(s.a).len() - s.r
	case 'c':
		ab := s.b.sub(s.a)
		f := 0.0
		if l := ab.dot(ab); l > 0 {
			f = math.Max(0, math.Min(1, p.sub(s.a).dot(ab)/l))
		}
		return p.sub(s.a.add(ab.mul(f))).len() - s.r
	}
	q := s.q
	l := rotate([4]float64{-q[0], -q[1], -q[2], q[3]}, p.sub(s.a))
	var out v3
	in := math.Inf(-1)
	for i := range l {
		d := math.Abs(l[i]) - s.half[i]
		out[i] = math.Max(d, 0)
		in = math.Max(in, d)
	}
	return out.len() + math.Min(in, 0)
}

func (s solid) mix(t solid, f float64) solid {
	m := s
	m.a, m.b, m.half, m.r = s.a.mix(t.a, f), s.b.mix(t.b, f), s.half.mix(t.half, f), s.r*(1-f)+t.r*f
	if s.shape == 'b' {
		q := t.q
		if s.q[0]*q[0]+s.q[1]*q[1]+s.q[2]*q[2]+s.q[3]*q[3] < 0 {
			q = [4]float64{-q[0], -q[1], -q[2], -q[3]}
		}
		for i := range q {
			m.q[i] = s.q[i]*(1-f) + q[i]*f
		}
		m.q = unit4(m.q)
	}
	return m
}

// enter answers where a ball on its way along o, d first touches the solid,
// and how deep it gets at most. The distance to a convex solid is convex along
// a line: search its minimum, then bisect before it.
func (s solid) enter(o, d v3, far, radius float64) (at, deepest float64) {
	dist := func(t float64) float64 { return s.distance(o.add(d.mul(t))) - radius }
	lo, hi := 0.0, far
	for range 200 {
		x, y := lo+(hi-lo)/3, hi-(hi-lo)/3
		if dist(x) < dist(y) {
			hi = y
		} else {
			lo = x
		}
	}
	bottom := (lo + hi) / 2
	deepest = math.Min(dist(bottom), math.Min(dist(0), dist(far)))
	if dist(0) <= 0 {
		return 0, deepest
	}
	lo, hi = 0, bottom
	for range 80 {
		if mid := (lo + hi) / 2; dist(mid) <= 0 {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, deepest
}

// body is an entity of the oracle at one tick.
type body struct {
	owner  uint32
	life   uint32
	solids []solid
}

// world is the oracle's history: everything, kept for ever.
type world struct {
	ticks map[lagcomp.Tick]map[lagcomp.ID]body
	last  lagcomp.Tick
}

// seen answers an entity as it was at a moment between two ticks next to each
// other, and whether it still lives that life.
func (w *world) seen(id lagcomp.ID, t lagcomp.Tick, f float64) (b body, lives, ok bool) {
	b, ok = w.ticks[t][id]
	if !ok {
		return body{}, false, false
	}
	lives = true
	for u := t + 1; u <= w.last; u++ {
		if n, ok := w.ticks[u][id]; !ok || n.life != b.life {
			lives = false
		}
	}
	next, there := w.ticks[t+1][id]
	if f == 0 || !there || next.life != b.life || !alike(b.solids, next.solids) {
		return b, lives, true
	}
	mixed := body{owner: b.owner, life: b.life}
	for i := range b.solids {
		mixed.solids = append(mixed.solids, b.solids[i].mix(next.solids[i], f))
	}
	return mixed, lives, true
}

func alike(a, b []solid) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].shape != b[i].shape {
			return false
		}
	}
	return true
}

// random draws a solid near a place.
func randomSolid(r *rand.Rand, near v3) solid {
	in := func(lo, hi float64) float64 { return lo + (hi-lo)*r.Float64() }
	offset := func(s float64) v3 { return v3{in(-s, s), in(-s, s), in(-s, s)} }
	s := solid{shape: "scb"[r.IntN(3)], part: uint8(r.IntN(4)), layer: uint8(r.IntN(3))}
	s.a = near.add(offset(1.5))
	s.r = in(0.05, 0.8)
	s.b = s.a.add(offset(1.5))
	s.half = v3{in(0.05, 1), in(0.05, 1), in(0.05, 1)}
	s.q = unit4([4]float64{in(-1, 1), in(-1, 1), in(-1, 1), in(0.01, 1)})
	return s
}

// drift moves a solid a little, as from one tick to the next.
func (s solid) drift(r *rand.Rand, by v3) solid {
	in := func(x float64) float64 { return x * (2*r.Float64() - 1) }
	s.a, s.b = s.a.add(by), s.b.add(by).add(v3{in(.1), in(.1), in(.1)})
	for i := range s.q {
		s.q[i] += in(.2)
	}
	s.q = unit4(s.q)
	return s
}
