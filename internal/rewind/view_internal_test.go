package rewind

import (
	"math"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// arm turns: halfway between two ticks its tip is not in the middle of its two places.
type arm struct {
	X    float32 `net:"min=-64,max=64,step=0.01,lerp"`
	Turn float32 `net:"angle,bits=14,lerp"`
}

func (a *arm) tip() lagcomp.Sphere {
	sin, cos := math.Sincos(float64(a.Turn))
	return lagcomp.Sphere{X: a.X + 2*float32(cos), Y: 2 * float32(sin), R: 0.1}
}

type tipBuilder struct{}

func (tipBuilder) Build(_ int, at []unsafe.Pointer, out []lagcomp.Hitbox) []lagcomp.Hitbox {
	return append(out, lagcomp.SphereHitbox((*arm)(at[0]).tip()))
}

// yard is a world of arms, and the screen of the player who looks at it.
type yard struct {
	t       testing.TB
	past    *Past
	shooter Shooter
	source  *snapshot.Source
	alive   map[lagcomp.ID]Entity
	lives   map[lagcomp.ID]uint32
	hidden  map[lagcomp.ID]bool
	since   map[snapshot.NetID]Tick
	every   uint32
	tick    Tick
}

func (y *yard) Entity(id lagcomp.ID) (Entity, bool) { e, ok := y.alive[id]; return e, ok }

func (y *yard) Lives(id lagcomp.ID) (uint32, bool) {
	_, ok := y.alive[id]
	return y.lives[id], ok
}

func (y *yard) Shown(net snapshot.NetID) (schema.WireID, Tick, bool) {
	since, ok := y.since[net]
	return schema.WireID(net), since, ok
}
func (y *yard) Hidden(id lagcomp.ID) bool { return y.hidden[id] }
func (y *yard) Every() uint32             { return y.every }

// newYard has arms 1 and 2 that nobody owns, and 3 which the player owns.
func newYard(t testing.TB, cfg Config) *yard {
	words, err := schema.Compile(reflect.TypeFor[arm](), schema.Options{})
	require.NoError(t, err)
	r := schema.NewRegistry()
	comp, err := r.Component(words)
	require.NoError(t, err)
	_, err = r.Prefab("arm", []int{comp}, nil)
	require.NoError(t, err)
	y := &yard{
		t: t, source: snapshot.NewSource(r, snapshot.SourceConfig{}), every: 3, hidden: map[lagcomp.ID]bool{},
		alive: map[lagcomp.ID]Entity{1: {Net: 1}, 2: {Net: 2}, 3: {Net: 3, Owner: 7}},
		since: map[snapshot.NetID]Tick{1: 1, 2: 1, 3: 1},
	}
	y.past, err = NewPast(Game{
		TickRate: 30, Components: []Component{{Type: reflect.TypeFor[arm](), Schema: words}},
		Hitboxes: []Declaration{{Components: []int{0}}}, Tracked: schema.MaskBuilder{1}, Prefabs: make([]Prefab, 1),
		NewBuilder: func() Builder { return tipBuilder{} },
	}, cfg, y)
	require.NoError(t, err)
	y.shooter.Join(y.past, 7, y)
	y.shooter.Connect()
	return y
}

// at is an arm in a tick.
func at(id lagcomp.ID, t Tick) arm {
	return arm{X: float32(id) * 10, Turn: float32(math.Remainder(float64(t)*0.5, 2*math.Pi))}
}

// run records ticks up to one.
func (y *yard) run(to Tick) {
	for y.tick < to {
		y.tick++
		y.source.Begin(y.tick)
		for id := lagcomp.ID(1); id <= 3; id++ {
			if e, ok := y.alive[id]; ok {
				a := at(id, y.tick)
				y.source.Put(e.Net, 0, uint16(e.Owner), schema.MaskOf(0), []unsafe.Pointer{unsafe.Pointer(&a)}, noRefs{})
			}
		}
		y.source.End()
		y.past.Begin(y.tick)
		if y.past.Fit(schema.MaskOf(0)) {
			for id := lagcomp.ID(1); id <= 3; id++ {
				if e, ok := y.alive[id]; ok {
					y.past.Put(id, e, y.source)
				}
			}
		}
		y.past.End()
	}
}

// had says which snapshots the client had when its newest command came.
func (y *yard) had(ticks ...Tick) {
	s := &y.shooter
	s.Connect()
	for _, t := range ticks {
		s.deliveries.putWhole(delivery{tick: t}, y.every)
		s.acked = max(s.acked, t)
	}
}

// claims is a command for the tick after the newest, with the claim of a moment.
func (y *yard) claims(tick Tick, fraction float32) {
	s := &y.shooter
	s.Take(Command{Tick: y.tick + 1, Claim: lagcomp.Claim{Tick: tick, Fraction: fraction}}, y.tick+1, 0)
	s.Observe(y.tick+1, 300*time.Millisecond, 0)
}

// blend is an arm between two ticks, by its components.
func blend(id lagcomp.ID, a, b Tick, f float32) lagcomp.Sphere {
	from, to := at(id, a), at(id, b)
	between := arm{X: from.X, Turn: from.Turn + float32(math.Remainder(float64(to.Turn-from.Turn), 2*math.Pi))*f}
	return between.tip()
}

func (y *yard) shows(want lagcomp.Sphere, v View, id lagcomp.ID) {
	y.t.Helper()
	got, ok := v.Past.Hittable(id, 0, v.Filter)
	require.True(y.t, ok)
	require.InDelta(y.t, want.X, got.Bound().X, 0.01)
	require.InDelta(y.t, want.Y, got.Bound().Y, 0.01)
	var a arm
	require.True(y.t, v.Component(id, 0, unsafe.Pointer(&a)))
	require.InDelta(y.t, want.X, a.tip().X, 0.01, "by its component")
	require.InDelta(y.t, want.Y, a.tip().Y, 0.01, "by its component")
}

// A view is drawn between the snapshots that the client had, by components, and the same
// moment looks the same whichever way it is asked for.
func TestViewBetweenDeliveries(t *testing.T) {
	y := newYard(t, Config{})
	y.run(15)
	y.had(3, 6, 9, 12)
	y.claims(7, .5)
	now := y.tick + 1
	v := y.shooter.View(now)
	require.Equal(t, lagcomp.OK, v.Reason)
	y.shows(blend(1, 6, 9, .5), v, 1)
	y.shows(blend(1, 6, 9, .5), y.shooter.ViewBehind(now, v.Used.Behind(now)), 1)
	y.shows(blend(2, 9, 12, 1./6), y.shooter.ViewBehind(now, 6.5), 2)
	y.shows(at2(1, 12), y.shooter.ViewBehind(now, 4), 1)
	y.shows(blend(1, 13, 14, .5), y.shooter.ViewBehind(now, 2.5), 1) // after all that it had: as it was
	y.shows(at2(1, 15), y.shooter.ViewBehind(now, 0), 1)
	y.shows(at2(1, 15), y.past.Present(now), 1)

	y.had(3, 6, 12) // 9 was lost
	y.claims(7, .5)
	y.shows(blend(1, 6, 12, .25), y.shooter.ViewBehind(now, 8.5), 1)
	y.had(3, 6) // nothing came: the screen stood still
	y.claims(7, .5)
	y.shooter.verdict = Verdict{}
	y.shows(at2(1, 6), y.shooter.ViewBehind(now, 8.5), 1)
	y.shows(blend(1, 7, 8, .75), y.shooter.ViewBehind(now, 8.25), 1) // later than the screen
}

func at2(id lagcomp.ID, t Tick) lagcomp.Sphere { a := at(id, t); return a.tip() }

// A player does not hit what it owns, what is hidden from it and what it did not know.
func TestViewFilter(t *testing.T) {
	y := newYard(t, Config{})
	y.run(15)
	y.had(3, 6, 9, 12)
	y.claims(7, .5)
	y.since[2] = 9
	v := y.shooter.View(y.tick + 1)
	hits := func(id lagcomp.ID) bool { _, ok := v.Past.Hittable(id, 0, v.Filter); return ok }
	require.True(t, hits(1))
	require.False(t, hits(2), "shown since a later tick")
	require.False(t, hits(3), "its own")
	y.hidden[1] = true
	require.False(t, hits(1))
	present := y.past.Present(y.tick + 1)
	_, ok := present.Past.Hittable(3, 0, present.Filter)
	require.True(t, ok, "the present leaves out nobody")
}

// Nothing is interpolated across a cut, and what lived before it is no hit any more.
func TestViewCut(t *testing.T) {
	y := newYard(t, Config{})
	y.run(7)
	y.past.Cut(1)
	y.run(15)
	y.had(3, 6, 9, 12)
	y.claims(7, .5)
	v := y.shooter.View(y.tick + 1)
	_, ok := v.Past.Hittable(1, 0, v.Filter)
	require.False(t, ok, "another life")
	h, ok := v.Past.Hitbox(1, 0)
	require.True(t, ok)
	require.InDelta(t, at2(1, 6).X, h.Bound().X, 0.01)
	y.shows(blend(2, 6, 9, .5), v, 2)
	y.shows(blend(1, 9, 12, 1./6), y.shooter.ViewBehind(y.tick+1, 6.5), 1)
	delete(y.alive, 2)
	for range 50 {
		y.past.Cut(2)
		y.past.Cut(lagcomp.ID(100 + len(y.past.cuts)))
	}
	require.Less(t, len(y.past.cuts), 50, "cuts of what is gone are forgotten")
}

// An entity whose life ends in the tick that is computed is no hit for the rest of the tick, in any kind of
// view, even one that was made before.
func TestLifeEndsWithinATick(t *testing.T) {
	y := newYard(t, Config{})
	y.run(15)
	y.had(3, 6, 9, 12)
	y.claims(7, .5)
	now := y.tick + 1
	for name, view := range map[string]func() View{
		"the player's": func() View { return y.shooter.View(now) },
		"behind":       func() View { return y.shooter.ViewBehind(now, 3) },
		"present":      func() View { return y.past.Present(now) },
		"moment":       func() View { return y.past.Moment(now, 12) },
	} {
		hits := func(v View) bool { _, ok := v.Past.Hittable(1, 0, v.Filter); return ok }
		v := view()
		require.True(t, hits(v), name)
		y.past.EndLife(1)
		require.False(t, hits(v), name)
		require.False(t, hits(view()), name)
		_, other := v.Past.Hittable(2, 0, v.Filter)
		require.True(t, other, name)
		y.past.AsOf(y.tick - 1) // an earlier tick runs again …
		y.past.AsOf(0)
		require.False(t, hits(view()), name)
		clear(y.past.ended)
	}
	y.past.AsOf(11)
	y.past.EndLife(1)
	y.past.AsOf(11) // … and once more
	require.Empty(t, y.past.ended)
	y.past.AsOf(0)
}

// In the last tick before the number begins again everybody is alive: nobody's life ended in
// tick 0.
func TestLivesAtTheLastTick(t *testing.T) {
	y := newYard(t, Config{})
	y.tick = math.MaxUint32 - 15
	y.run(math.MaxUint32)
	v := y.past.Present(y.tick + 1)
	for _, id := range []lagcomp.ID{1, 2} {
		_, ok := v.Past.Hittable(id, 0, v.Filter)
		require.True(t, ok, id)
	}
}

// CatchUp flies whole ticks, each through the world of that much later.
func TestViewCatchUp(t *testing.T) {
	y := newYard(t, Config{})
	y.run(15)
	y.had(3, 6, 9, 12)
	y.claims(7, .5)
	now := y.tick + 1
	v := y.shooter.View(now)
	free := lagcomp.Projectile{Position: lagcomp.Vec{Y: 50}, Velocity: lagcomp.Vec{X: 30}}
	left, _, ok := v.CatchUp(&free)
	require.False(t, ok)
	require.InDelta(t, 1.5, left, 1e-6)
	require.InDelta(t, 7, free.Position.X, 1e-4, "seven ticks of a metre")
	for _, row := range []struct {
		behind float32
		at     lagcomp.Sphere
	}{{7.5, blend(1, 6, 9, 2.5/3)}, {4.5, blend(1, 11, 12, .5)}, {2.5, blend(1, 13, 14, .5)}} {
		if row.behind == 4.5 {
			row.at = blend(1, 9, 12, 2.5/3)
		}
		shot := lagcomp.Projectile{Position: lagcomp.Vec{X: row.at.X, Y: row.at.Y}}
		left, hit, ok := v.CatchUp(&shot)
		require.True(t, ok, row)
		require.Equal(t, lagcomp.ID(1), hit.ID)
		require.InDelta(t, row.behind, left, 1e-6)
	}
	present := y.past.Present(now)
	left, _, ok = present.CatchUp(&free)
	require.False(t, ok)
	require.Equal(t, float32(1), left)
}

// Views of one tick stay good while others are made, and none allocates once their
// memory has grown.
func TestViewsOfOneTick(t *testing.T) {
	y := newYard(t, Config{})
	y.run(40)
	y.had(27, 30, 33, 36)
	y.claims(31, .5)
	round := func() {
		now := y.tick + 1
		y.shooter.Take(Command{Tick: now, Claim: lagcomp.Claim{Tick: now - 9, Fraction: .5}}, now, 0)
		var views [8]View
		for i := range views {
			views[i] = y.shooter.ViewBehind(now, float32(i)+1.5)
		}
		drawn := len(y.shooter.frames.drawn)
		for i := range views {
			require.Equal(y.t, views[i].Past, y.shooter.ViewBehind(now, float32(i)+1.5).Past)
			_, ok := views[i].Past.Hitbox(1, 0)
			require.True(y.t, ok)
		}
		require.Len(y.t, y.shooter.frames.drawn, drawn, "each moment is drawn once")
	}
	round()
	views, now := [8]View{}, y.tick+1
	ask := func() {
		now++ // as another tick asks
		for i := range views {
			views[i] = y.shooter.ViewBehind(now, float32(now-y.tick)+float32(i)+0.5)
		}
	}
	for range 10 {
		ask()
	}
	require.Zero(t, testing.AllocsPerRun(20, ask))
}

// Without rewinding every view is of the newest complete tick.
func TestViewNoRewind(t *testing.T) {
	y := newYard(t, Config{NoRewind: true})
	require.False(t, valid(y.shooter.View(1)), "nothing was recorded")
	require.False(t, valid(y.shooter.ViewBehind(1, 3)))
	require.False(t, valid(y.past.Present(1)))
	y.run(15)
	y.had(3, 6, 9, 12)
	y.claims(7, .5)
	y.shows(at2(1, 15), y.shooter.View(16), 1)
	y.shows(at2(1, 15), y.shooter.ViewBehind(16, 8), 1)
	require.Zero(t, y.shooter.Verdict(), "no claim is judged")
	y.past.Reset()
	require.False(t, valid(y.shooter.View(16)), "a new level")
}

func valid(v View) bool { return v.Valid() }

// A claim is judged once a tick, and explained at the moment that was claimed.
func TestExplain(t *testing.T) {
	y := newYard(t, Config{})
	y.run(40)
	y.had(27, 30, 33, 36)
	y.claims(2, 0)
	v := y.shooter.View(41)
	require.NotEqual(t, lagcomp.OK, v.Reason)
	require.Equal(t, v.Used, y.shooter.View(41).Used)
	claims := y.shooter.Claims()
	require.Equal(t, uint64(1), claims.Clamped())
	at, ok := v.Past.Hittable(1, 0, v.Filter)
	require.True(t, ok)
	b := at.Bound()
	x := v.Explain(lagcomp.RayTo(lagcomp.Vec{X: b.X, Y: b.Y, Z: -5}, lagcomp.Vec{X: b.X, Y: b.Y, Z: 5}), 6)
	require.Equal(t, lagcomp.ID(1), x.Hit.ID)
	require.NotEmpty(t, x.Bodies)
	require.Equal(t, at, x.Bodies[0].Used[0])
}

// The zero Shooter counts packets and judges nothing.
func TestZeroShooter(t *testing.T) {
	var s Shooter
	s.Hear(3.5)
	s.Arrived(1)
	require.Zero(t, s.Claims())
	require.Zero(t, s.Acked())
	require.False(t, s.Remeasure())
}

// An offset travels rounded up to what the server then unpacks.
func TestOffset(t *testing.T) {
	for steps := float32(0); steps < 600; steps += 0.37 {
		got := float32(unpackOffset(PackOffset(steps)))
		switch {
		case steps <= 1:
			require.Equal(t, float32(1), got)
		case steps > offsetFine+offsetCoarse*(255-offsetFine):
			require.Equal(t, float32(offsetFine+offsetCoarse*(255-offsetFine)), got)
		default:
			require.GreaterOrEqual(t, got, float32(math.Floor(float64(steps))))
			require.Less(t, got, steps+offsetCoarse)
		}
	}
}

// An entity that takes the place of another in a tick whose snapshot was lost is drawn from that tick on, at the
// first value that the client had. The old one is on the screen up to that tick.
func TestViewOfAReplaced(t *testing.T) {
	y := newYard(t, Config{})
	delete(y.alive, 2)
	y.run(8)
	delete(y.alive, 1)
	y.alive[2], y.since[2] = Entity{Net: 2}, 9
	y.run(15)
	y.had(3, 6, 12) // 9 was lost
	now := y.tick + 1
	look := func(tick Tick, fraction float32) View {
		y.shooter.verdict = Verdict{}
		y.claims(tick, fraction)
		return y.shooter.View(now)
	}
	there := func(v View, id lagcomp.ID) bool { _, ok := v.Past.Hitbox(id, 0); return ok }
	v := look(8, .5)
	require.True(t, there(v, 1), "the old one stops a shot")
	require.False(t, there(v, 2))
	for _, tick := range []Tick{9, 11} {
		v = look(tick, .5)
		require.Equal(t, lagcomp.OK, v.Reason)
		require.False(t, there(v, 1), "it was put away")
		y.shows(at2(2, 12), v, 2)
	}
	y.shows(at2(2, 12), look(12, .5), 2) // nothing came after it
	y.had(3, 6)                          // its first value has not come
	require.False(t, there(look(11, .5), 2))
}
