package lagcomp_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/lagcomp"
)

// line is a history of one tick with entities in a row along X, ten apart, id
// and owner 1, 2, 3…, a body (part 0, layer 0) and a head above it (part 1,
// layer 1).
func line(t testing.TB, n int) *lagcomp.History {
	h := newHistory(t, lagcomp.Config{})
	record(h, 5, n, 0)
	return h
}

func record(h *lagcomp.History, tick lagcomp.Tick, n int, life uint32) {
	h.Begin(tick)
	for i := 1; i <= n; i++ {
		x := float32(10 * i)
		body := lagcomp.CapsuleHitbox(lagcomp.Capsule{A: lagcomp.Vec{X: x}, B: lagcomp.Vec{X: x, Z: 1}, R: .5})
		head := lagcomp.SphereHitbox(lagcomp.Sphere{X: x, Z: 2, R: .3})
		h.Put(lagcomp.ID(i), uint32(i), life, body, head.On(1, 1))
	}
	h.End()
}

// along is a ray from the origin along X at some height.
func along(z float32) lagcomp.Ray { return lagcomp.Ray{Z: z, DX: 3, Range: 100} }

func TestRaycastAnswersTheNearest(t *testing.T) {
	p := line(t, 3).At(5, 0)
	hit, ok := p.Raycast(along(.5), lagcomp.Filter{})
	require.True(t, ok)
	require.Equal(t, lagcomp.Hit{ID: 1, Owner: 1, Distance: 9.5,
		Point: lagcomp.Vec{X: 9.5, Z: .5}, Normal: lagcomp.Vec{X: -1}}, hit)
	hit, ok = p.Raycast(along(2), lagcomp.Filter{})
	require.True(t, ok)
	require.Equal(t, uint8(1), hit.Part)
	require.Equal(t, 1, hit.Index)
	require.InDelta(t, 9.7, hit.Distance, 1e-5)
	short := along(.5)
	short.Range = 9
	_, ok = p.Raycast(short, lagcomp.Filter{})
	require.False(t, ok, "out of range")
	_, ok = p.Raycast(along(5), lagcomp.Filter{})
	require.False(t, ok, "over their heads")
	within, ok := p.Raycast(lagcomp.Ray{X: 10, Z: .5, DX: 1, Range: 1}, lagcomp.Filter{})
	require.True(t, ok)
	require.Zero(t, within.Distance)
	require.Equal(t, lagcomp.Vec{X: -1}, within.Normal)
}

func TestRaysThatHitNothing(t *testing.T) {
	p := line(t, 3).At(5, 0)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, r := range map[string]lagcomp.Ray{
		"zero":              {},
		"no direction":      {Z: .5, Range: 100},
		"no range":          {Z: .5, DX: 1},
		"negative range":    {Z: .5, DX: 1, Range: -4},
		"NaN range":         {Z: .5, DX: 1, Range: nan},
		"NaN place":         {Z: .5, X: nan, DX: 1, Range: 100},
		"NaN direction":     {Z: .5, DX: 1, DY: nan, Range: 100},
		"infinite place":    {Z: .5, X: inf, DX: 1, Range: 100},
		"infinite directon": {Z: .5, DX: inf, Range: 100},
	} {
		hit, ok := p.Raycast(r, lagcomp.Filter{})
		require.False(t, ok, name)
		require.Zero(t, hit, name)
	}
	_, ok := p.Raycast(lagcomp.Ray{Z: .5, DX: math.MaxFloat32, Range: inf}, lagcomp.Filter{})
	require.True(t, ok, "a huge direction and an infinite range are fine")
	_, ok = p.SphereCast(along(.5), nan, lagcomp.Filter{})
	require.False(t, ok)
	_, ok = p.Nearest(lagcomp.Vec{X: nan}, 100, lagcomp.Filter{})
	require.False(t, ok)
	_, ok = p.Nearest(lagcomp.Vec{}, nan, lagcomp.Filter{})
	require.False(t, ok)
	require.Empty(t, p.Overlap(lagcomp.Sphere{R: nan}, lagcomp.Filter{}, nil))
}

func TestFilters(t *testing.T) {
	p := line(t, 4).At(5, 0)
	for _, c := range []struct {
		name string
		f    lagcomp.Filter
		z    float32
		want lagcomp.ID // 0: a miss
	}{
		{"nobody", lagcomp.Filter{}, .5, 1},
		{"the shooter", lagcomp.Filter{ExcludeOwner: 1}, .5, 2},
		{"one entity", lagcomp.Filter{Exclude: 1}, .5, 2},
		{"both", lagcomp.Filter{ExcludeOwner: 1, Exclude: 2}, .5, 3},
		{"heads only, aimed at the body", lagcomp.Filter{Layers: 1 << 1}, .5, 0},
		{"heads only", lagcomp.Filter{Layers: 1 << 1}, 2, 1},
		{"hidden ones are shot through", lagcomp.Filter{Visible: func(id lagcomp.ID) bool { return id > 2 }}, .5, 3},
		{"an ended life stops the shot", lagcomp.Filter{Life: func(id lagcomp.ID, _ uint32) bool { return id > 1 }}, .5, 0},
	} {
		hit, ok := p.Raycast(along(c.z), c.f)
		require.Equal(t, c.want != 0, ok, c.name)
		require.Equal(t, c.want, hit.ID, c.name)
		if !ok {
			require.Zero(t, hit, c.name)
		}
	}
}

// TestEndedLives: without a word from the caller the newest tick decides
// whether a life goes on.
func TestEndedLives(t *testing.T) {
	h := line(t, 2)
	shoot := func() bool {
		_, ok := h.At(5, 0).Raycast(along(.5), lagcomp.Filter{})
		return ok
	}
	require.True(t, shoot())
	record(h, 6, 2, 0)
	require.True(t, shoot(), "alive")
	record(h, 7, 0, 0)
	require.False(t, shoot(), "gone")
	record(h, 8, 2, 0)
	require.False(t, shoot(), "back, but not the same life")
	require.Empty(t, h.At(5, 0).Overlap(lagcomp.Sphere{X: 10, R: 3}, lagcomp.Filter{}, nil))
	_, ok := h.At(5, 0).Nearest(lagcomp.Vec{X: 10}, 30, lagcomp.Filter{})
	require.False(t, ok)
	_, ok = h.At(5, 0).Validate(1, along(.5), lagcomp.Filter{})
	require.False(t, ok)
	_, ok = h.At(8, 0).Raycast(along(.5), lagcomp.Filter{})
	require.True(t, ok)
	record(h, 9, 2, 1)
	_, ok = h.At(8, 0).Raycast(along(.5), lagcomp.Filter{})
	require.False(t, ok, "respawned")
	always := lagcomp.Filter{Life: func(lagcomp.ID, uint32) bool { return true }}
	hit, ok := h.At(8, 0).Raycast(along(.5), always)
	require.True(t, ok, "unless the caller says otherwise")
	require.Zero(t, hit.Life)
}

func TestValidate(t *testing.T) {
	p := line(t, 3).At(5, 0)
	hit, ok := p.Validate(1, along(.5), lagcomp.Filter{})
	require.True(t, ok)
	require.InDelta(t, 9.5, hit.Distance, 1e-5)
	_, ok = p.Validate(2, along(.5), lagcomp.Filter{})
	require.False(t, ok, "the first stands in the way")
	_, ok = p.Validate(2, along(.5), lagcomp.Filter{ExcludeOwner: 1})
	require.True(t, ok)
	_, ok = p.Validate(2, along(.5), lagcomp.Filter{ExcludeOwner: 2})
	require.False(t, ok)
	_, ok = p.Validate(77, along(.5), lagcomp.Filter{})
	require.False(t, ok)
	_, ok = p.Validate(3, along(5), lagcomp.Filter{})
	require.False(t, ok)
	within, ok := p.Validate(1, lagcomp.Ray{X: 10, DX: 1, Range: 1}, lagcomp.Filter{})
	require.True(t, ok)
	require.Zero(t, within.Distance)
}

func TestOverlapAndNearest(t *testing.T) {
	p := line(t, 3).At(5, 0)
	hits := p.Overlap(lagcomp.Sphere{X: 15, Z: 3, R: 5.5}, lagcomp.Filter{}, make([]lagcomp.Hit, 0, 4))
	require.Len(t, hits, 2)
	require.Equal(t, lagcomp.ID(1), hits[0].ID)
	require.Equal(t, lagcomp.ID(2), hits[1].ID)
	require.Equal(t, uint8(1), hits[0].Part, "the head is nearer")
	require.InDelta(t, 4.79902, hits[0].Distance, 1e-5)
	near, ok := p.Nearest(lagcomp.Vec{X: 28, Z: .5}, 4, lagcomp.Filter{})
	require.True(t, ok)
	require.Equal(t, lagcomp.ID(3), near.ID)
	require.InDelta(t, 1.5, near.Distance, 1e-5)
	require.InDelta(t, 29.5, near.Point.X, 1e-5)
	_, ok = p.Nearest(lagcomp.Vec{X: 28, Z: .5}, 1, lagcomp.Filter{})
	require.False(t, ok)
	near, ok = p.Nearest(lagcomp.Vec{X: 28, Z: .5}, 4, lagcomp.Filter{Layers: 1 << 1})
	require.True(t, ok)
	require.Equal(t, uint8(1), near.Part)

	_, ok = p.Nearest(lagcomp.Vec{X: 28, Z: .5}, 0, lagcomp.Filter{})
	require.False(t, ok)
	near, ok = p.Nearest(lagcomp.Vec{X: 30, Z: .5}, 0, lagcomp.Filter{})
	require.True(t, ok, "what contains the point")
	require.Equal(t, lagcomp.ID(3), near.ID)
	require.Len(t, p.Overlap(lagcomp.Sphere{X: 30, Z: .5}, lagcomp.Filter{}, nil), 1)
	near, ok = p.Nearest(lagcomp.Vec{X: 1e4}, float32(math.Inf(1)), lagcomp.Filter{})
	require.True(t, ok)
	require.Equal(t, lagcomp.ID(3), near.ID)
	_, ok = p.Nearest(lagcomp.Vec{X: 30, Z: .5}, -1, lagcomp.Filter{})
	require.False(t, ok)
	_, ok = p.Nearest(lagcomp.Vec{X: 30, Z: .5}, float32(math.NaN()), lagcomp.Filter{})
	require.False(t, ok)
}

// TestHittable: a hitbox is returned where the filter lets it be hit in the life that it
// still lives.
func TestHittable(t *testing.T) {
	h := line(t, 3)
	p := h.At(5, 0)
	_, ok := p.Hittable(2, 1, lagcomp.Filter{ExcludeOwner: 1})
	require.True(t, ok)
	_, ok = p.Hittable(1, 0, lagcomp.Filter{ExcludeOwner: 1})
	require.False(t, ok, "filtered")
	_, ok = p.Hittable(2, 0, lagcomp.Filter{Visible: func(lagcomp.ID) bool { return false }})
	require.False(t, ok, "hidden")
	_, ok = p.Hittable(2, 0, lagcomp.Filter{Life: func(lagcomp.ID, uint32) bool { return false }})
	require.False(t, ok, "another life")
	for _, i := range []int{-1, 2, 99} {
		_, ok = p.Hittable(2, i, lagcomp.Filter{})
		require.False(t, ok, i)
	}
	_, ok = p.Hittable(9, 0, lagcomp.Filter{})
	require.False(t, ok, "not there")
	_, ok = lagcomp.Past{}.Hittable(2, 0, lagcomp.Filter{})
	require.False(t, ok)
}

func TestExplain(t *testing.T) {
	h := line(t, 2)
	record(h, 6, 2, 0)
	record(h, 7, 1, 0)
	x := h.Explain(along(.5), lagcomp.Claim{Tick: 5}, lagcomp.Claim{Tick: 6}, lagcomp.TooFar, lagcomp.Filter{ExcludeOwner: 1}, 1)
	require.Equal(t, lagcomp.Tick(7), x.Now)
	require.Zero(t, x.Hit, "the second has gone since")
	require.Len(t, x.Bodies, 2)
	require.Len(t, x.Bodies[0].Present, 2)
	require.Len(t, x.Bodies[1].Claimed, 2)
	require.Len(t, x.Bodies[1].Used, 2)
	require.Empty(t, x.Bodies[1].Present)
	x = h.Explain(along(50), lagcomp.Claim{Tick: 5}, lagcomp.Claim{Tick: 6}, lagcomp.OK, lagcomp.Filter{}, 1)
	require.Empty(t, x.Bodies, "nobody near")
}

// TestExplainMargin: Explain returns the entities near the line of fire, and no others.
func TestExplainMargin(t *testing.T) {
	h := newHistory(t, lagcomp.Config{})
	h.Begin(1)
	for id := range lagcomp.ID(5) {
		h.Put(id+1, 0, 0, ball(2*float32(id)+1, .5)) // 1, 3, 5, 7, 9 beside it
	}
	h.End()
	up := lagcomp.Ray{Y: -5, DY: 1, Range: 10}
	for margin, want := range map[float32]int{0: 0, .6: 1, 2.6: 2, 9: 5, -3: 0} {
		x := h.Explain(up, lagcomp.Claim{Tick: 1}, lagcomp.Claim{Tick: 1}, lagcomp.OK, lagcomp.Filter{}, margin)
		require.Len(t, x.Bodies, want, "%v", margin)
	}
}

// TestMovingBlockers: a door that has shut since does not stop a shot through it
// as it stood open on the shooter's screen, and the other way about.
func TestMovingBlockers(t *testing.T) {
	const door, behind = 7, 8
	h := newHistory(t, lagcomp.Config{})
	for tick := lagcomp.Tick(1); tick <= 10; tick++ {
		aside := float32(tick-1) / 2 // open by half a unit a tick
		h.Begin(tick)
		h.Put(door, 0, 0, lagcomp.BoxHitbox(lagcomp.Box{Center: lagcomp.Vec{X: 5, Y: 3 - aside}, Half: lagcomp.Vec{X: .1, Y: 1, Z: 2}, Rotation: lagcomp.Quat{W: 1}}))
		h.Put(behind, 2, 0, lagcomp.SphereHitbox(lagcomp.Sphere{X: 10, R: 1}))
		h.End()
	}
	for _, row := range []struct {
		tick lagcomp.Tick
		f    float32
		hit  lagcomp.ID
	}{{1, 0, behind}, {4, .9, behind}, {5, .1, door}, {7, 0, door}, {8, .9, door}, {9, .1, behind}, {10, 0, behind}} {
		hit, ok := h.At(row.tick, row.f).Raycast(lagcomp.Ray{DX: 1, Range: 50}, lagcomp.Filter{})
		require.True(t, ok)
		require.Equal(t, row.hit, hit.ID, "at %d + %v", row.tick, row.f)
	}
}
