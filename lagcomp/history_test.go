package lagcomp_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/lagcomp"
)

func newHistory(t testing.TB, cfg lagcomp.Config) *lagcomp.History {
	t.Helper()
	h, err := lagcomp.NewHistory(cfg)
	require.NoError(t, err)
	return h
}

func ball(x, r float32) lagcomp.Hitbox { return lagcomp.SphereHitbox(lagcomp.Sphere{X: x, R: r}) }

// centre is where an entity's first volume was along X.
func centre(t testing.TB, p lagcomp.Past, id lagcomp.ID) float32 {
	t.Helper()
	v, ok := p.Hitbox(id, 0)
	require.True(t, ok)
	return v.Bound().X
}

// runner records one entity that moves one unit a tick.
func runner(h *lagcomp.History, ticks ...lagcomp.Tick) {
	for _, k := range ticks {
		h.Begin(k)
		h.Put(1, 1, 0, ball(float32(k), .5))
		h.End()
	}
}

func span(from, to lagcomp.Tick) (ticks []lagcomp.Tick) {
	for k := from; k <= to; k++ {
		ticks = append(ticks, k)
	}
	return ticks
}

func TestConfigReportsEveryFault(t *testing.T) {
	_, err := lagcomp.NewHistory(lagcomp.Config{
		TickRate: -1, Depth: time.Minute, MaxRewind: 2 * time.Second, Growth: 2 * time.Second, GrowthRate: time.Second,
		Shapes: []lagcomp.Shape{nil},
	})
	var bad *lagcomp.ConfigError
	require.ErrorAs(t, err, &bad)
	require.Len(t, bad.Faults, 6)
	for _, field := range []string{"TickRate", "Depth", "MaxRewind", "Growth", "GrowthRate", "Shapes[0]"} {
		require.ErrorContains(t, err, field)
	}
	require.ErrorContains(t, lagcomp.Config{Depth: 300 * ms, MaxRewind: 400 * ms}.Validate(), "more than Depth")
	require.NoError(t, lagcomp.Config{Depth: 300 * ms}.Validate(), "a short history shortens the default rewind")
}

func TestAtInterpolatesAndClamps(t *testing.T) {
	for _, rate := range []int{10, 30, 31, 60, 128} {
		h := newHistory(t, lagcomp.Config{TickRate: rate})
		last := lagcomp.Tick(3 * rate)
		runner(h, span(1, last)...)
		oldest, ok := h.Oldest()
		require.True(t, ok)
		require.GreaterOrEqual(t, last-oldest, lagcomp.Tick(rate), "a second is held at %d Hz", rate)
		require.InDelta(t, float32(last)-1.75, centre(t, h.At(last-2, .25), 1), 1e-4)
		require.Equal(t, float32(last), centre(t, h.At(last, .5), 1), "beyond the newest: the newest")
		require.Equal(t, float32(last), centre(t, h.At(math.MaxUint32, .5), 1))
		require.Equal(t, float32(oldest), centre(t, h.At(0, .5), 1), "before the oldest: the oldest")
		require.Equal(t, float32(last-3), centre(t, h.At(last-4, 1), 1))
		require.Equal(t, float32(last-4), centre(t, h.At(last-4, float32(math.NaN())), 1))
		require.Equal(t, float32(last-4), centre(t, h.At(last-4, -7), 1))
	}
}

func TestGapsAreInterpolatedAcross(t *testing.T) {
	h := newHistory(t, lagcomp.Config{})
	runner(h, 10, 13, 16, 17)
	require.InDelta(t, 11, centre(t, h.At(11, 0), 1), 1e-5)
	require.InDelta(t, 12.5, centre(t, h.At(12, .5), 1), 1e-5)
	require.InDelta(t, 14.25, centre(t, h.At(14, .25), 1), 1e-5)
	tick, f := h.At(14, .25).Time()
	require.Equal(t, lagcomp.Tick(14), tick)
	require.InDelta(t, .25, f, 1e-5)
	require.InDelta(t, 16.5, centre(t, h.At(16, .5), 1), 1e-5)

	runner(h, 1000) // everything else is older than the depth
	oldest, _ := h.Oldest()
	require.Equal(t, lagcomp.Tick(1000), oldest)
	require.Equal(t, float32(1000), centre(t, h.At(16, .5), 1))
}

// TestBetween is a client that gets every third tick and interpolates in a
// straight line between them, while the server's entity did not run straight.
func TestBetween(t *testing.T) {
	h := newHistory(t, lagcomp.Config{})
	for k, x := range []float32{0, 5, 5, 3} {
		h.Begin(lagcomp.Tick(k))
		h.Put(1, 1, 0, ball(x, .5))
		h.End()
	}
	require.InDelta(t, 1.5, centre(t, h.Between(0, 3, .5), 1), 1e-6)
	require.InDelta(t, 5, centre(t, h.At(1, .5), 1), 1e-6)
	require.InDelta(t, 3, centre(t, h.Between(0, 3, 1), 1), 1e-6)
	require.InDelta(t, 0, centre(t, h.Between(0, 3, 0), 1), 1e-6)
	require.InDelta(t, 3, centre(t, h.Between(3, 2, .5), 1), 1e-6)
	require.InDelta(t, 3, centre(t, h.Between(90, 95, .5), 1), 1e-6)
}

// TestCuts: nothing interpolates across a teleport, an absence or a change of
// volumes.
func TestCuts(t *testing.T) {
	h := newHistory(t, lagcomp.Config{})
	put := func(k lagcomp.Tick, life uint32, vs ...lagcomp.Hitbox) {
		h.Begin(k)
		if vs != nil {
			h.Put(1, 1, life, vs...)
		}
		h.End()
	}
	put(1, 0, ball(0, 1))
	put(2, 1, ball(100, 1)) // teleport
	put(3, 1, ball(102, 1))
	put(4, 1)
	put(5, 1, ball(200, 1)) // away for a tick
	put(6, 1, lagcomp.CapsuleHitbox(lagcomp.Capsule{A: lagcomp.Vec{X: 300}, B: lagcomp.Vec{X: 300, Y: 1}, R: 1}))
	put(7, 1, ball(400, 1), ball(410, 1))
	for _, c := range []struct {
		tick lagcomp.Tick
		want float32
	}{{1, 0}, {2, 101}, {3, 102}, {5, 200}, {6, 300}} {
		require.Equal(t, c.want, centre(t, h.At(c.tick, .5), 1), "half way from tick %d", c.tick)
	}
	_, ok := h.At(4, .5).Hitbox(1, 0)
	require.False(t, ok, "it was not there")
	_, ok = h.At(7, 0).Hitbox(1, 2)
	require.False(t, ok)
	_, ok = h.At(7, 0).Hitbox(1, -1)
	require.False(t, ok)
	require.Len(t, h.At(7, 0).Hitboxes(1, nil), 2)
	require.Empty(t, h.At(7, 0).Hitboxes(9, nil))
}

func TestUsageErrors(t *testing.T) {
	h := newHistory(t, lagcomp.Config{})
	usage := func(call string, f func()) {
		t.Helper()
		defer func() {
			t.Helper()
			err, ok := recover().(lagcomp.UsageError)
			require.True(t, ok)
			require.Regexp(t, `^lagcomp: History\.`+call+` at tick \d+, entity \d+: \w`, err.Text)
		}()
		f()
	}
	usage("Put", func() { h.Put(1, 0, 0) })
	usage("End", func() { h.End() })
	h.Begin(5)
	usage("Begin", func() { h.Begin(6) })
	h.Put(1, 0, 0, ball(0, 1))
	usage("Put", func() { h.Put(1, 0, 0, ball(0, 1)) })
	usage("Put", func() { h.Put(2, 0, 0, make([]lagcomp.Hitbox, 1<<16)...) })
	h.End()
	usage("Begin", func() { h.Begin(5) })
	usage("Begin", func() { h.Begin(4) })
	h.Begin(6)
	h.Put(1, 0, 0, ball(1, 1))
	usage("Put", func() { h.Put(1, 0, 0, ball(0, 1)) })
	h.End()
	h.Reset()
	_, ok := h.Newest()
	require.False(t, ok)
	require.Zero(t, h.At(5, 0).Len())
	h.Begin(1)
	h.Put(1, 0, 0, ball(3, 1))
	h.End()
	require.Equal(t, float32(3), centre(t, h.At(1, 0), 1))
}

// TestComingsAndGoings keeps the tables bounded and right while ids that never
// return come and go, in any order, with gaps.
func TestComingsAndGoings(t *testing.T) {
	h := newHistory(t, lagcomp.Config{TickRate: 10})
	r := rand.New(rand.NewPCG(3, 4))
	type key struct {
		tick lagcomp.Tick
		id   lagcomp.ID
	}
	want := map[key]float32{}
	tick := lagcomp.Tick(0)
	live := []lagcomp.ID{}
	for range 3000 {
		tick += 1 + lagcomp.Tick(r.IntN(20)/19*r.IntN(30))
		for len(live) < 40 {
			live = append(live, r.Uint64())
		}
		live = live[r.IntN(4):]
		r.Shuffle(len(live)/4, func(i, j int) { live[i], live[j] = live[j], live[i] })
		h.Begin(tick)
		for _, id := range live {
			x := r.Float32()
			want[key{tick, id}] = x
			h.Put(id, 0, 0, ball(x, 1))
		}
		h.End()
		oldest, _ := h.Oldest()
		require.Less(t, tick-oldest, lagcomp.Tick(12))
		for k, x := range want {
			if k.tick < oldest {
				delete(want, k)
				continue
			}
			if p := h.At(k.tick, 0); r.IntN(8) == 0 && k.tick == tickOf(p) {
				require.Equal(t, x, centre(t, p, k.id))
			}
		}
	}
	require.Less(t, lagcomp.Slots(h), 200, "slots are freed with the ticks that held them")
	require.Equal(t, uint64(3000), h.Stats().Ticks)
}

func tickOf(p lagcomp.Past) lagcomp.Tick {
	t, _ := p.Time()
	return t
}

// TestBrokenVolumes cannot be hit, harm nobody else, and are counted.
func TestBrokenHitboxes(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	h := newHistory(t, lagcomp.Config{})
	for k := lagcomp.Tick(1); k < 4; k++ {
		h.Begin(k)
		h.Put(1, 0, 0, ball(nan, 1))
		h.Put(2, 0, 0, ball(0, 1), ball(0, nan))
		h.Put(3, 0, 0, ball(inf, 1))
		h.Put(4, 0, 0, ball(5, 1))
		h.Put(5, 0, 0)
		h.Put(6, 0, 0, lagcomp.BoxHitbox(lagcomp.Box{Half: lagcomp.Vec{X: 1, Y: inf, Z: 1}}))
		h.End()
	}
	hit, ok := h.At(1, .5).Raycast(lagcomp.Ray2D(-10, 0, 0, 100), lagcomp.Filter{})
	require.True(t, ok)
	require.Equal(t, lagcomp.ID(4), hit.ID)
	require.Equal(t, uint64(8), h.Stats().Broken, "four in each of the two ticks that were looked at")
	require.Len(t, h.At(1, .5).Overlap(lagcomp.Sphere{R: 50}, lagcomp.Filter{}, nil), 1)
}

func TestZeroValuesAreEmpty(t *testing.T) {
	var p lagcomp.Past
	_, ok := p.Raycast(lagcomp.Ray2D(0, 0, 0, 1), lagcomp.Filter{})
	require.False(t, ok)
	_, ok = p.Validate(1, lagcomp.Ray2D(0, 0, 0, 1), lagcomp.Filter{})
	require.False(t, ok)
	_, ok = p.Nearest(lagcomp.Vec{}, 1, lagcomp.Filter{})
	require.False(t, ok)
	require.Empty(t, p.Overlap(lagcomp.Sphere{R: 1}, lagcomp.Filter{}, nil))
	_, ok = p.Hitbox(1, 0)
	require.False(t, ok)
	_, ok = p.Bound(1)
	require.False(t, ok)
	h := newHistory(t, lagcomp.Config{})
	require.Zero(t, h.Between(1, 2, .5).Len())
	shot := lagcomp.Projectile{}
	_, _, ok = h.CatchUp(&shot, lagcomp.Claim{}, 5, lagcomp.Filter{})
	require.False(t, ok)
}

// TestEverybodyLeavesAtOnce: a gap longer than the depth frees all slots.
func TestEverybodyLeavesAtOnce(t *testing.T) {
	h := newHistory(t, lagcomp.Config{TickRate: 10})
	for k := range lagcomp.Tick(100) {
		h.Begin(k * 1000)
		for i := range lagcomp.ID(10) {
			h.Put(lagcomp.ID(k)*10+i, 0, 0, ball(0, 1))
		}
		h.End()
	}
	require.LessOrEqual(t, lagcomp.Slots(h), 10)
}

// TestIndexFollowsTheRing: a place in the ring that is used again gets a new
// broad phase, in the tick and towards the next.
func TestIndexFollowsTheRing(t *testing.T) {
	h := newHistory(t, lagcomp.Config{TickRate: 10})
	for k := lagcomp.Tick(1); k < 50; k++ {
		runner(h, k)
		if k < 3 {
			continue
		}
		require.True(t, lagcomp.Indexed(h.At(k-1, 0)))
		require.True(t, lagcomp.Indexed(h.At(k-1, .5)))
	}
	require.False(t, lagcomp.Indexed(h.Between(47, 49, .5)), "tick 47 has one to 48")
	_, ok := h.Between(47, 49, .5).Raycast(lagcomp.Ray2D(0, 0, 0, 100), lagcomp.Filter{})
	require.True(t, ok, "and does without")
}

// TestTurnsTheShorterWay: a quaternion and its negative are the same rotation,
// and what lies between two rotations lies on the shorter way.
func TestTurnsTheShorterWay(t *testing.T) {
	h := newHistory(t, lagcomp.Config{})
	to := lagcomp.Turn(.6)
	for k, q := range []lagcomp.Quat{lagcomp.Turn(.2), {Z: -to.Z, W: -to.W}} {
		h.Begin(lagcomp.Tick(k))
		h.Put(1, 0, 0, lagcomp.BoxHitbox(lagcomp.Box{Half: lagcomp.Vec{X: 1, Y: 2, Z: 3}, Rotation: q}))
		h.End()
	}
	v, ok := h.At(0, .5).Hitbox(1, 0)
	require.True(t, ok)
	b, _ := v.Box()
	require.InDelta(t, lagcomp.Turn(.4).W, b.Rotation.W, 1e-5)
	require.InDelta(t, lagcomp.Turn(.4).Z, b.Rotation.Z, 1e-5)
}

// TestSizesGrow: what changes its size between two ticks has the size between.
func TestSizesGrow(t *testing.T) {
	h := newHistory(t, lagcomp.Config{Shapes: []lagcomp.Shape{wedge{}}})
	for k := range lagcomp.Tick(2) {
		n := float32(k)
		h.Begin(k + 1)
		h.Put(1, 0, 0,
			lagcomp.SphereHitbox(lagcomp.Sphere{R: 1 + 2*n}),
			lagcomp.CapsuleHitbox(lagcomp.Capsule{B: lagcomp.Vec{X: 2 + 2*n}, R: 1 + n}),
			lagcomp.BoxHitbox(lagcomp.Box{Half: lagcomp.Vec{X: 1, Y: 2 + 4*n, Z: 3}}),
			lagcomp.CustomHitbox(0, lagcomp.Sphere{R: 2 + n}, [7]float32{n, 1, 2, 3, 4, 5, 8 * n}))
		h.End()
	}
	vs := h.At(1, .25).Hitboxes(1, nil)
	require.Len(t, vs, 4)
	ball, _ := vs[0].Sphere()
	require.Equal(t, lagcomp.Sphere{R: 1.5}, ball)
	pill, _ := vs[1].Capsule()
	require.Equal(t, lagcomp.Capsule{B: lagcomp.Vec{X: 2.5}, R: 1.25}, pill)
	box, _ := vs[2].Box()
	require.Equal(t, lagcomp.Vec{X: 1, Y: 3, Z: 3}, box.Half)
	_, param, _ := vs[3].Custom()
	require.Equal(t, [7]float32{.25, 1, 2, 3, 4, 5, 2}, param)
	require.Equal(t, lagcomp.Sphere{R: 2.25}, vs[3].Bound())
}
