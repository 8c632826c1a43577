package lagcomp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/lagcomp"
)

// tolerance is what float32 may differ from float64 by, at the distances drawn.
const tolerance = 2e-3

// play records random motion in both the history and the oracle: entities
// come and go, die, teleport and change their volumes.
func play(t require.TestingT, r *rand.Rand, entities, ticks int) (*lagcomp.History, *world) {
	h, err := lagcomp.NewHistory(lagcomp.Config{})
	require.NoError(t, err)
	w := &world{ticks: map[lagcomp.Tick]map[lagcomp.ID]body{}}
	bodies := make([]body, entities)
	for i := range bodies {
		bodies[i] = spawn(r, uint32(i), 0)
	}
	first := lagcomp.Tick(r.IntN(1000))
	for k := range ticks {
		tick := first + lagcomp.Tick(k)
		now := map[lagcomp.ID]body{}
		h.Begin(tick)
		for _, i := range order(r, entities) {
			if r.IntN(150) == 0 {
				continue // away for a tick: its history is cut
			}
			b := bodies[i]
			now[lagcomp.ID(i+1)] = b
			vs := make([]lagcomp.Hitbox, 0, len(b.solids))
			for _, s := range b.solids {
				vs = append(vs, s.hitbox())
			}
			h.Put(lagcomp.ID(i+1), b.owner, b.life, vs...)
		}
		h.End()
		w.ticks[tick], w.last = now, tick
		for i := range bodies {
			bodies[i] = step(r, bodies[i])
		}
	}
	return h, w
}

// order is mostly that of the entities, and sometimes another.
func order(r *rand.Rand, n int) []int {
	p := r.Perm(n)
	if r.IntN(3) != 0 {
		for i := range p {
			p[i] = i
		}
	}
	return p
}

func spawn(r *rand.Rand, owner, life uint32) body {
	at := v3{40 * (r.Float64() - .5), 40 * (r.Float64() - .5), 10 * (r.Float64() - .5)}
	b := body{owner: owner + 1, life: life}
	for range 1 + r.IntN(6) {
		b.solids = append(b.solids, randomSolid(r, at))
	}
	return b
}

func step(r *rand.Rand, b body) body {
	switch r.IntN(150) {
	case 0:
		return spawn(r, b.owner-1, b.life+1)
	case 1:
		n := spawn(r, b.owner-1, b.life) // other volumes, the same life
		return n
	}
	by := v3{r.Float64() - .5, r.Float64() - .5, .2 * (r.Float64() - .5)}
	next := body{owner: b.owner, life: b.life}
	for _, s := range b.solids {
		next.solids = append(next.solids, s.drift(r, by))
	}
	return next
}

// TestQueriesAgainstOracle compares rays and balls into the past with the
// oracle, whose answers are computed another way.
func TestQueriesAgainstOracle(t *testing.T) {
	var hits, misses int
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		h, w := play(t, r, rapid.IntRange(1, 12).Draw(t, "entities"), rapid.IntRange(1, 40).Draw(t, "ticks"))
		oldest, _ := h.Oldest()
		for range 8 {
			tick := oldest + lagcomp.Tick(r.IntN(int(w.last-oldest)+1))
			f := r.Float32()
			if r.IntN(4) == 0 {
				f = 0
			}
			if checkCast(t, r, h, w, tick, f) {
				hits++
			} else {
				misses++
			}
			checkNearest(t, r, h, w, tick, f)
		}
	})
	require.Greater(t, hits, enough(20), "too few rays hit to prove anything")
	require.Greater(t, misses, enough(20), "too few rays missed to prove anything")
}

// enough returns how many of random cases must have come up, so that a test shows something: a tenth in
// short form, which plays a fifth of the cases.
func enough(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// TestBroadPhaseAgainstBruteForce: with few entities and with so many that they
// are grouped, the broad phase changes no answer.
func TestBroadPhaseAgainstBruteForce(t *testing.T) {
	hits := 0
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		h, w := play(t, r, rapid.IntRange(1, 150).Draw(t, "entities"), 6)
		for range 12 {
			tick := w.last - lagcomp.Tick(r.IntN(6))
			p := h.At(tick, r.Float32()*float32(r.IntN(2)))
			if r.IntN(4) == 0 {
				p = h.Between(tick-2, tick, r.Float32())
			}
			o := v3{60 * (r.Float64() - .5), 60 * (r.Float64() - .5), 10 * (r.Float64() - .5)}
			to := v3{40 * (r.Float64() - .5), 40 * (r.Float64() - .5), 8 * (r.Float64() - .5)}
			ray := lagcomp.RayTo(narrow(o), narrow(to))
			ray.Range = 5 + 60*r.Float32()
			radius := r.Float32() * float32(r.IntN(2))
			f := lagcomp.Filter{Layers: uint32(r.IntN(8))}
			want, sure := lagcomp.BruteCast(p, ray, radius, f)
			got, ok := p.SphereCast(ray, radius, f)
			require.Equal(t, sure, ok)
			require.Equal(t, want, got)
			if ok {
				hits++
				same, ok := p.Validate(got.ID, ray, f)
				require.Equal(t, radius == 0, radius == 0 && ok && same == got)
			}
		}
	})
	require.Greater(t, hits, enough(20))
}

func checkCast(t *rapid.T, r *rand.Rand, h *lagcomp.History, w *world, tick lagcomp.Tick, f float32) bool {
	o := v3{60 * (r.Float64() - .5), 60 * (r.Float64() - .5), 10 * (r.Float64() - .5)}
	to := v3{30 * (r.Float64() - .5), 30 * (r.Float64() - .5), 6 * (r.Float64() - .5)}
	if r.IntN(4) != 0 { // mostly aim at somebody
		for _, id := range []lagcomp.ID{1, 2, 3} {
			if b, _, ok := w.seen(id, tick, 0); ok {
				to = b.solids[0].a
			}
		}
	}
	ray := lagcomp.RayTo(narrow(o), narrow(to))
	ray.Range = 20 + 60*r.Float32()
	var radius float32
	if r.IntN(2) == 0 {
		radius = r.Float32()
	}
	filter := lagcomp.Filter{ExcludeOwner: uint32(r.IntN(4)), Layers: uint32(r.IntN(8))}
	got, ok := h.At(tick, f).SphereCast(ray, radius, filter)

	o = wide(lagcomp.Vec{X: ray.X, Y: ray.Y, Z: ray.Z})
	d := wide(lagcomp.Vec{X: ray.DX, Y: ray.DY, Z: ray.DZ})
	d = d.mul(1 / d.len())
	nearest, blocked, grazed := math.Inf(1), math.Inf(1), math.Inf(1)
	moment := float64(f)
	if tick == w.last {
		moment = 0
	}
	for id := range w.ticks[tick] {
		b, lives, _ := w.seen(id, tick, moment)
		if b.owner == filter.ExcludeOwner && b.owner != 0 {
			continue
		}
		for i, s := range b.solids {
			if filter.Layers != 0 && filter.Layers>>s.layer&1 == 0 {
				continue
			}
			at, deepest := s.enter(o, d, float64(ray.Range), float64(radius))
			if ok && got.ID == id && got.Index == i {
				require.True(t, lives, "hit a life that has ended")
				require.LessOrEqual(t, deepest, tolerance, "hit what is not there")
				require.InDelta(t, 0, s.distance(o.add(d.mul(float64(got.Distance))))-float64(radius), tolerance*10+mayBeInside(got))
				require.Equal(t, s.part, got.Part)
				require.Equal(t, b.life, got.Life)
			}
			if !lives && deepest <= tolerance { // touched by rounding alone, it blocks too
				grazed = math.Min(grazed, at)
			}
			if deepest < -tolerance {
				if lives {
					nearest = math.Min(nearest, at)
				} else {
					blocked = math.Min(blocked, at)
				}
			}
		}
	}
	if ok {
		require.LessOrEqual(t, float64(got.Distance), math.Min(nearest, blocked)+tolerance*10, "something nearer was passed over")
	} else {
		require.GreaterOrEqual(t, nearest, grazed-tolerance*10, "missed what stands in the way")
	}
	return ok
}

// mayBeInside loosens the distance check for rays that begin in a volume.
func mayBeInside(h lagcomp.Hit) float64 {
	if h.Distance == 0 {
		return math.Inf(1)
	}
	return 0
}

func checkNearest(t *rapid.T, r *rand.Rand, h *lagcomp.History, w *world, tick lagcomp.Tick, f float32) {
	p := narrow(v3{40 * (r.Float64() - .5), 40 * (r.Float64() - .5), 10 * (r.Float64() - .5)})
	reach := 1 + 6*r.Float32()
	past := h.At(tick, f)
	got, ok := past.Nearest(p, reach, lagcomp.Filter{})
	all := past.Overlap(lagcomp.Sphere{X: p.X, Y: p.Y, Z: p.Z, R: reach}, lagcomp.Filter{}, nil)
	moment := float64(f)
	if tick == w.last {
		moment = 0
	}
	nearest, sure, possible := math.Inf(1), 0, 0
	for id := range w.ticks[tick] {
		b, lives, _ := w.seen(id, tick, moment)
		if !lives {
			continue
		}
		one := math.Inf(1)
		for _, s := range b.solids {
			one = math.Min(one, math.Max(0, s.distance(wide(p))))
		}
		nearest = math.Min(nearest, one)
		if one < float64(reach)-tolerance {
			sure++
		}
		if one < float64(reach)+tolerance {
			possible++
		}
	}
	require.GreaterOrEqual(t, len(all), sure)
	require.LessOrEqual(t, len(all), possible)
	if ok {
		require.InDelta(t, nearest, float64(got.Distance), tolerance)
	} else {
		require.Greater(t, nearest, float64(reach)-tolerance)
	}
}
