package snapshot_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

type glide struct {
	X    float32 `net:"min=-100,max=100,step=0.001,hermite"`
	Y    float32 `net:"min=-100,max=100,step=0.001,hermite=V.Y"`
	V    struct{ Y float32 }
	Aim  float32    `net:"angle,bits=16,hermite"`
	Turn float64    `net:"angle,bits=16,hermite=Spin"`
	Spin float64    // Spin is the velocity of Turn.
	Pos  [3]float32 `net:"vec,min=-100,max=100,step=0.01,hermite=Vel"`
	Vel  [3]float32 `net:"vec,min=-50,max=50,step=0.01"`
	Raw  float32    `net:"hermite"`
	Bar  uint8      `net:"max=200,hermite"`
	Far  int64      `net:"hermite"`
	Old  float32    `net:"min=-100,max=100,step=0.001,lerp"`
}

// drawn is what is drawn between values. No before: nothing was.
func drawn(t tester, before *glide, a, b glide, k schema.Knots) (out glide) {
	s := compile[glide](t, schema.Options{})
	words := func(v *glide) []int32 {
		w := make([]int32, s.Words())
		s.Quantise(ptr(v), schema.GridPublic, nil, w)
		return w
	}
	if k.From, k.To = words(&a), words(&b); before != nil {
		k.Before = words(before)
	}
	s.Interpolate(0, k, schema.GridPublic, nil, ptr(&out))
	return out
}

// at fills a glide that is everywhere at x, going at v.
func at(x, v float64) (g glide) {
	g.X, g.Y, g.Old, g.Raw = float32(x), float32(x), float32(x), float32(x)
	g.Aim, g.Turn, g.Spin, g.V.Y = float32(math.Remainder(x, 2*math.Pi)), math.Remainder(x, 2*math.Pi), v, float32(v)
	for i := range g.Pos {
		g.Pos[i], g.Vel[i] = float32(x)*float32(i+1), float32(v)*float32(i+1)
	}
	g.Bar, g.Far = uint8(10*x), int64(1000*x)
	return g
}

// TestHermiteEnds: at received ticks the picture is what was received, and without
// what a curve needs it goes straight.
func TestHermiteEnds(t *testing.T) {
	o, a, b := at(1, 9), at(2, 12), at(4, 3)
	full := schema.Knots{Lead: 1, Span: 1, Rate: 30}
	for _, f := range []float32{0, 1} {
		k := full
		k.Fraction = f
		got, want := drawn(t, &o, a, b, k), []glide{a, b}[int(f)]
		require.InDelta(t, want.X, got.X, 1e-6)
		require.Equal(t, want.Raw, got.Raw)
		require.Equal(t, want.Far, got.Far)
		require.InDelta(t, want.Pos[1], got.Pos[1], 1e-5)
	}
	for name, k := range map[string]schema.Knots{
		"no span":       {Lead: 1, Rate: 30},
		"a long gap":    {Lead: 1, Span: schema.HermiteSpan + 1, Rate: 30},
		"not a number":  {Lead: float32(math.NaN()), Span: float32(math.NaN()), Rate: float32(math.NaN())},
		"nothing known": {},
	} {
		k.Fraction = 0.25
		got := drawn(t, &o, a, b, k)
		require.InDelta(t, 2.5, got.X, 1e-6, name)
		require.InDelta(t, 2.5, got.Y, 1e-6, name)
		require.InDelta(t, 5, got.Pos[1], 1e-5, name)
		require.InDelta(t, 2.5, got.Aim, 1e-4, name)
	}
	k := full
	k.Fraction = 0.25
	got := drawn(t, nil, a, b, k)
	require.InDelta(t, 2.5, got.X, 1e-6, "no value before")
	require.NotEqual(t, float32(2.5), got.Y, "a velocity needs none")
	k.Lead = schema.HermiteSpan + 1
	require.InDelta(t, 2.5, drawn(t, &o, a, b, k).X, 1e-6, "long before")
	k = full
	k.Rate, k.Fraction = 0, 0.25
	got = drawn(t, &o, a, b, k)
	require.InDelta(t, 2.5, got.Y, 1e-6, "how long a tick takes is unknown")
	require.NotEqual(t, float32(2.5), got.X)
}

// TestHermiteSpeeds: the curve leaves with the speed with which it came, and arrives
// with the one with which it goes on; with velocities it has theirs.
func TestHermiteSpeeds(t *testing.T) {
	const h = 0.001
	slope := func(o *glide, a, b glide, k schema.Knots, at float32) (x, y, pos float64) {
		k.Fraction = at
		p := drawn(t, o, a, b, k)
		k.Fraction = at + h
		q := drawn(t, o, a, b, k)
		return float64(q.X-p.X) / h, float64(q.Y-p.Y) / h, float64(q.Pos[2]-p.Pos[2]) / h
	}
	o, a, b := at(1, 0), at(2, 12), at(4, 45)
	k := schema.Knots{Lead: 2, Span: 3, Rate: 30}
	x, y, pos := slope(&o, a, b, k, h)
	require.InDelta(t, 1./2*3, x, 0.05, "from one tick to the next")
	require.InDelta(t, 12./30*3, y, 0.05)
	require.InDelta(t, 3*12./30*3, pos, 0.1)
	x, y, _ = slope(&o, a, b, k, 1-2*h)
	require.InDelta(t, 2, x, 0.05)
	require.InDelta(t, 45./30*3, y, 0.05)
	// A ball that is thrown up is exact, also between ticks.
	ball := func(s float64) glide { return at(10*s-5*s*s, 10-10*s) }
	for _, f := range []float64{0.2, 0.5, 0.9} {
		got := drawn(t, nil, ball(0.9), ball(1.1), schema.Knots{Span: 6, Rate: 30, Fraction: float32(f)})
		require.InDelta(t, ball(0.9+0.2*f).Y, got.Y, 0.002, f)
	}
}

// TestHermiteShorterWay: angles go the shorter way round, by their curve.
func TestHermiteShorterWay(t *testing.T) {
	o, a, b := at(2.6, 6), at(3.0, 9), at(3.6, 18) // over π
	k := schema.Knots{Lead: 1, Span: 1, Rate: 30, Fraction: 0.5}
	got := drawn(t, &o, a, b, k)
	require.InDelta(t, 3.3+0.125*(0.4-0.6)-2*math.Pi, got.Aim, 1e-3)
	require.InDelta(t, 3.3+0.125*(0.3-0.6)-2*math.Pi, got.Turn, 1e-3)
	a, b = at(3.0, 1e300), at(3.6, -1e300)
	got = drawn(t, &o, a, b, k)
	require.LessOrEqual(t, math.Abs(got.Turn), math.Pi, "whatever the velocity")
}

// TestHermiteStaysBetween: without a velocity the picture never leaves the interval
// between the two values, whatever came before; with one not the field's range.
func TestHermiteStaysBetween(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := func(name string) float64 { return float64(rapid.IntRange(0, 1800).Draw(rt, name)) / 100 }
		o, a, b := at(x("o"), x("v")), at(x("a"), -x("w")), at(x("b"), 40*x("u"))
		k := schema.Knots{
			Lead: float32(rapid.IntRange(1, 16).Draw(rt, "lead")), Span: float32(rapid.IntRange(1, 16).Draw(rt, "span")),
			Rate: 30, Fraction: rapid.Float32Range(0, 1).Draw(rt, "f"),
		}
		got := drawn(rt, &o, a, b, k)
		inside := func(v, p, q float64, name string) {
			require.True(rt, v >= min(p, q)-2e-3 && v <= max(p, q)+2e-3, "%s: %g of %g to %g", name, v, p, q)
		}
		inside(float64(got.X), float64(a.X), float64(b.X), "X")
		inside(float64(got.Raw), float64(a.Raw), float64(b.Raw), "Raw")
		inside(float64(got.Bar), float64(a.Bar), float64(b.Bar), "Bar")
		inside(float64(got.Far), float64(a.Far), float64(b.Far), "Far")
		inside(float64(got.Y), -100, 100, "Y")
		inside(float64(got.Pos[2]), -100, 100, "Pos")
	})
	o, a, b := at(1, 0), at(2, 0), at(2, 0)
	k := schema.Knots{Lead: 1, Span: 1, Rate: 30, Fraction: 0.5}
	got := drawn(t, &o, a, b, k)
	require.Equal(t, []float32{2, 2}, []float32{got.X, got.Y}, "it came to rest")
	a, b = at(2, 9), at(2, 9)
	require.Equal(t, float32(2), drawn(t, &o, a, b, k).Y, "nothing is new: it pushes against a wall")
	a, b = at(99, 3000), at(99, -3000)
	require.Equal(t, float32(100), drawn(t, &o, a, b, k).Y, "its range ends there")
	a.Raw, b.Raw = -math.MaxFloat32, math.MaxFloat32
	require.LessOrEqual(t, math.Abs(float64(drawn(t, &o, a, b, k).Raw)), math.MaxFloat32, "no infinity")
}

// TestHermiteIsCloser: on smooth paths, in gaps too, a curve is never further off than
// a straight line would be at its worst, and much closer as a rule.
func TestHermiteIsCloser(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	path := func(s float64) glide { return at(9+4*math.Sin(3*s), 12*math.Cos(3*s)) }
	var sum, worst [3]float64 // hermite, with velocity, lerp
	for range 3000 {
		from, k := 10*r.Float64(), schema.Knots{Lead: float32(1 + r.IntN(4)), Span: float32(1 + r.IntN(4)), Rate: 30, Fraction: r.Float32()}
		o, a, b := path(from-float64(k.Lead)/30), path(from), path(from+float64(k.Span)/30)
		got, want := drawn(t, &o, a, b, k), path(from+float64(k.Span*k.Fraction)/30)
		for i, e := range []float32{got.X - want.X, got.Y - want.Y, got.Old - want.Old} {
			sum[i] += math.Abs(float64(e))
			worst[i] = max(worst[i], math.Abs(float64(e)))
		}
	}
	t.Logf("mean error %.2f mm, with velocities %.2f, straight %.2f; at worst %.1f, %.1f, %.1f", sum[0]/3, sum[1]/3, sum[2]/3, 1000*worst[0], 1000*worst[1], 1000*worst[2])
	require.Less(t, sum[0], sum[2]/2)
	require.Less(t, sum[1], sum[2]/10)
	require.LessOrEqual(t, worst[0], worst[2])
	require.LessOrEqual(t, worst[1], worst[2]/10)
}

type turning struct {
	Even  [4]float32 `net:"quat,bits=14,slerp"`
	Plain [4]float32 `net:"quat,bits=14,lerp"`
}

// TestSlerp: slerp turns at an even speed by the shorter arc, lerp by the same arc, but
// faster in its middle.
func TestSlerp(t *testing.T) {
	s := compile[turning](t, schema.Options{})
	about := func(angle float64) [4]float32 {
		return [4]float32{0, float32(math.Sin(angle / 2)), 0, float32(math.Cos(angle / 2))}
	}
	words := func(angle float64) []int32 {
		w := make([]int32, s.Words())
		s.Quantise(ptr(&turning{Even: about(angle), Plain: about(angle)}), schema.GridPublic, nil, w)
		return w
	}
	angle := func(q [4]float32) float64 {
		return math.Remainder(2*math.Atan2(float64(q[1]), float64(q[3])), 2*math.Pi)
	}
	for _, to := range []float64{2.8, -2.8, 0.3, 0, 2 * math.Pi} {
		for _, f := range []float64{0.1, 0.25, 0.5, 0.8} {
			var v turning
			s.Interpolate(^schema.Audience(0), schema.Knots{From: words(0), To: words(to), Fraction: float32(f)}, schema.GridPublic, nil, ptr(&v))
			want := math.Remainder(to, 2*math.Pi) * f
			require.InDelta(t, want, angle(v.Even), 3e-4, "%g of %g", f, to)
			if math.Abs(to) == 2.8 && f == 0.25 {
				require.Greater(t, math.Abs(angle(v.Plain)-want), 0.09)
			} else {
				require.InDelta(t, want, angle(v.Plain), 0.3)
			}
		}
	}
	var v turning
	s.Interpolate(^schema.Audience(0), schema.Knots{From: words(3), To: words(3 - 2*math.Pi + 0.5), Fraction: 0.5}, schema.GridPublic, nil, ptr(&v))
	require.InDelta(t, 3.25-2*math.Pi, angle(v.Even), 1e-3, "the shorter way")
}

// TestInterpolationErrors: each fault names type, field and fix.
func TestInterpolationErrors(t *testing.T) {
	type hidden struct {
		X float32 `net:"hermite=V"`
		V float32 `net:"owner"`
	}
	for _, c := range []struct {
		t    reflect.Type
		want string
	}{
		{reflect.TypeFor[struct {
			A float32 `net:"angle,slerp"`
		}](), "x.A: slerp is for rotations; tag it quat if it is one, else use lerp"},
		{reflect.TypeFor[struct {
			Q [4]float32 `net:"quat,hermite"`
		}](), "x.Q: hermite is for numbers; use slerp or lerp"},
		{reflect.TypeFor[struct {
			Q [4]int32 `net:"quat,slerp"`
		}](), "x.Q: integers are not interpolated; drop slerp"},
		{reflect.TypeFor[struct {
			B bool `net:"hermite"`
		}](), "x.B: a bool has nothing to interpolate; drop hermite"},
		{reflect.TypeFor[struct {
			X float32 `net:"hermite,lerp"`
		}](), "x.X: lerp and hermite exclude each other; keep one of them"},
		{reflect.TypeFor[struct {
			X float32 `net:"hermite="`
		}](), "x.X: hermite names no field; write hermite=VX"},
		{reflect.TypeFor[struct {
			X float32 `net:"slerp=3"`
		}](), "x.X: slerp takes no value"},
		{reflect.TypeFor[struct {
			X float32 `net:"hermite=VX"`
		}](), "x.X: hermite names VX, which is no number that is sent; name a field beside it"},
		{reflect.TypeFor[struct {
			X, V [2]float32 `net:"vec,min=-1,max=1,step=0.5,hermite=W"`
		}](), "x.X[0]: hermite names W[0], which is no number"},
		{reflect.TypeFor[struct {
			X float32 `net:"hermite=X"`
		}](), "x.X: hermite names X, which is no velocity; name a number in units a second"},
		{reflect.TypeFor[struct {
			X float32 `net:"hermite=A"`
			A float32 `net:"angle"`
		}](), "x.X: hermite names A, which is no velocity"},
		{reflect.TypeFor[hidden](), "x.X: hermite names V, which some who receive this do not; give both the same Audience"},
	} {
		_, err := schema.Compile(c.t, schema.Options{Name: "x"})
		require.ErrorContains(t, err, c.want)
	}
	_, err := schema.Compile(reflect.TypeFor[hidden](), schema.Options{Audience: schema.ToOwner})
	require.NoError(t, err, "who receives X receives V")
}

type inner struct {
	At struct {
		X, Y float32
	} `net:"hermite=Motion"`
	Motion struct{ X, Y float32 }
}

// TestInterpolationFields: the velocity that a tag names is looked for next to the tagged field, member for
// member. A schema that was written and read has the same velocities.
func TestInterpolationFields(t *testing.T) {
	type outer struct {
		Parts [2]inner
		Held  [4]float32 `net:"quat,slerp"`
	}
	s := compile[outer](t, schema.Options{})
	f := s.Fields()
	require.Equal(t, "Parts[1].At.Y", f[5].Name)
	require.Equal(t, []any{schema.Hermite, "Parts[1].Motion.Y", true}, []any{f[5].Interpolation, f[5].Velocity, f[5].Lerp})
	require.Equal(t, schema.Slerp, f[8].Interpolation)
	require.Equal(t, []any{schema.Snap, false}, []any{f[7].Interpolation, f[7].Lerp})
	require.Contains(t, s.Describe(), "outer.Parts[1].At.Y float32 words=1 hermite=Parts[1].Motion.Y\n")
	require.Contains(t, s.Describe(), " slerp\n")
	for _, s := range []*schema.Schema{s, compile[glide](t, schema.Options{Predicted: true})} {
		b := s.AppendSchema(nil)
		read, _, err := schema.Read(b)
		require.NoError(t, err)
		require.Equal(t, s.Fields(), read.Fields())
		require.Equal(t, s.Describe(), read.Describe())
		require.Equal(t, b, read.AppendSchema(nil))
		for n := range b {
			for _, x := range []byte{1, 0x20, 0x40, 0x60, 0x80, 0xff} {
				c := append([]byte(nil), b...)
				c[n] ^= x
				if bad, rest, err := schema.Read(c); err == nil {
					require.Equal(t, c[:len(c)-len(rest)], bad.AppendSchema(nil), "what is read is written alike")
				}
			}
		}
	}
}

// TestHermiteOfAnotherBuild: a type of its own is filled along the curve of the schema
// that was read, whatever its own tags say, and without a field for the velocity.
func TestHermiteOfAnotherBuild(t *testing.T) {
	type theirs struct {
		Y float64 `net:"snap"`
		X float32 `net:"lerp"`
	}
	s := compile[glide](t, schema.Options{})
	read, _, err := schema.Read(s.AppendSchema(nil))
	require.NoError(t, err)
	bound, d := read.Bind(compile[theirs](t, schema.Options{}))
	require.Contains(t, d.Changed, "X")
	o, a, b := at(1, 9), at(2, 12), at(4, 3)
	words := make([]int32, 3*s.Words())
	k := schema.Knots{Before: words[:s.Words()], From: words[s.Words() : 2*s.Words()], To: words[2*s.Words():], Lead: 1, Span: 1, Rate: 2, Fraction: 0.3}
	for v, w := range map[*glide][]int32{&o: k.Before, &a: k.From, &b: k.To} {
		s.Quantise(ptr(v), schema.GridPublic, nil, w)
	}
	want := drawn(t, &o, a, b, k)
	var got theirs
	bound.Interpolate(0, k, schema.GridPublic, nil, ptr(&got))
	require.Equal(t, want.X, got.X)
	require.InDelta(t, want.Y, got.Y, 1e-5)
	require.Greater(t, math.Abs(got.Y-2.6), 0.05)
}

// TestBefore: the value before is that of the newest older snapshot that had it. A snapshot that was lost or
// postponed the entity does not count, nor one before a teleport or before the birth.
func TestBefore(t *testing.T) {
	p := newPlay(t, 0)
	b := p.add(1, 0)
	move := func() { b.pos.X += 0.5; p.pass(1) }
	move()
	move()
	g := p.recv.Ghosts()[0]
	a, _, _, ok := g.Sample(g.Born, 0.5)
	require.True(t, ok)
	_, ok = g.Before(a)
	require.False(t, ok, "it is new")
	move()
	a, _, _, ok = g.Sample(p.tick-1, 0.5)
	require.True(t, ok)
	o, ok := g.Before(a)
	require.True(t, ok)
	require.Equal(t, a.Tick-1, o.Tick)
	require.NotEqual(t, a.Words, o.Words)
	p.pass(3) // it rests
	move()
	a, _, _, ok = g.Sample(p.tick-1, 0.5)
	require.True(t, ok)
	o, ok = g.Before(a)
	require.True(t, ok)
	require.Equal(t, a.Words, o.Words, "it rested there")
	require.Equal(t, a.Tick-1, o.Tick)
	move()
	p.src.Teleport(1)
	move()
	a, _, _, ok = g.Sample(p.tick, 0)
	require.True(t, ok)
	_, ok = g.Before(a)
	require.False(t, ok, "it leapt")
	move()
	a, _, _, _ = g.Sample(p.tick-1, 0.5)
	_, ok = g.Before(a)
	require.False(t, ok, "a stretch after the leap")
	move()
	a, _, _, _ = g.Sample(p.tick-1, 0.5)
	_, ok = g.Before(a)
	require.True(t, ok)
}

// TestInterpolateAllocatesNothing: a picture of curves, turns and lines.
func TestInterpolateAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	s, q := compile[glide](t, schema.Options{}), compile[turning](t, schema.Options{})
	words := make([]int32, 4*s.Words())
	k := schema.Knots{Before: words, From: words[s.Words():], To: words[2*s.Words():], Lead: 1, Span: 1, Rate: 30, Fraction: 0.3}
	for i, v := range []glide{at(1, 9), at(2, 12), at(4, 3)} {
		s.Quantise(ptr(&v), schema.GridPublic, nil, words[i*s.Words():])
	}
	var v glide
	var w turning
	require.Zero(t, testing.AllocsPerRun(100, func() {
		s.Interpolate(0, k, schema.GridPublic, nil, ptr(&v))
		q.Interpolate(0, schema.Knots{From: words[3*s.Words():], To: words[3*s.Words():], Fraction: 0.5}, schema.GridPublic, nil, ptr(&w))
	}))
	c := newCrowd(t, 50, 0, snapshot.SenderConfig{})
	for range 20 {
		for i := range c.boxes {
			c.move(i)
		}
		c.step(1100, 2)
	}
	seen := 0
	require.Zero(t, testing.AllocsPerRun(20, func() {
		for _, g := range c.recv.Ghosts() {
			a, _, _, ok := g.Sample(c.tick-2, 0.5)
			if _, before := g.Before(a); ok && before {
				seen++
			}
		}
	}))
	require.NotZero(t, seen)
}
