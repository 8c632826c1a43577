package quantise

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestBetween: when a value holds, which, and what moves.
func TestBetween(t *testing.T) {
	nan := float32(math.NaN())
	a, b, o := Keyframe{10, []int32{1}}, Keyframe{13, []int32{2}}, Keyframe{6, []int32{3}}
	none := Keyframe{}
	for _, c := range []struct {
		name             string
		before, from, to Keyframe
		f                float32
		want             Knots
	}{
		{"between two", none, a, b, 0.25, Knots{From: a.Words, To: b.Words, Span: 3, Rate: 30, Fraction: 0.25}},
		{"with the one before", o, a, b, 0.25, Knots{Before: o.Words, From: a.Words, To: b.Words, Lead: 4, Span: 3, Rate: 30, Fraction: 0.25}},
		{"at the later", none, a, b, 1, Knots{From: a.Words, To: b.Words, Span: 3, Rate: 30, Fraction: 1}},
		{"at the earlier", o, a, b, 0, Knots{From: a.Words, Rate: 30}},
		{"before it", o, a, b, -0.5, Knots{From: a.Words, Rate: 30}},
		{"at no number", o, a, b, nan, Knots{From: a.Words, Rate: 30}},
		{"nothing later", o, a, none, 0.25, Knots{From: a.Words, Rate: 30}},
		{"nothing later to go to", o, a, Keyframe{Tick: 13}, 0.25, Knots{From: a.Words, Rate: 30}},
		{"nothing earlier", none, none, b, 0.25, Knots{From: b.Words, Rate: 30}},
		{"nothing earlier to come from", o, Keyframe{Tick: 10}, b, 0.25, Knots{From: b.Words, Rate: 30}},
		{"over the end of the ticks", none, Keyframe{math.MaxUint32, a.Words}, Keyframe{1, b.Words}, 0.5, Knots{From: a.Words, To: b.Words, Span: 2, Rate: 30, Fraction: 0.5}},
	} {
		require.Equal(t, c.want, Between(c.before, c.from, c.to, c.f, 30), c.name)
	}
}

// moving makes a leaf that is interpolated.
func moving(c Class, how Interpolation) Leaf {
	l := leafOf(c)
	l.Interpolation = how
	return l
}

// TestInterpolate: at its ends, and where it holds, a value is exactly the known one;
// between them it is between.
func TestInterpolate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		leaves := []Leaf{
			moving(Step32, Lerp), moving(Step64, Hermite), moving(Int16, Lerp), moving(Float64, Snap), moving(Uint32, Hermite),
			moving(Quat, Slerp), moving(Angle32, Lerp), moving(Text, Snap), moving(Bool, Snap),
		}
		s := build(leaves...)
		g := rapid.SampledFrom([]Grid{GridPublic, GridSim}).Draw(t, "grid")
		draw := func(label string) []int32 { return s.words(drawValue(t, s, label), g) }
		o, a, b := Keyframe{Tick: 3, Words: draw("before")}, Keyframe{Tick: 7, Words: draw("from")}, Keyframe{Tick: 9, Words: draw("to")}
		show := func(k Knots) []int32 {
			p := drawValue(t, s, "old")
			s.Interpolate(Everything, &k, g, SameRefs{}, p)
			return s.words(p, g)
		}
		require.Equal(t, a.Words, show(Between(o, a, b, 0, 30)))
		require.Equal(t, b.Words, show(Between(o, a, b, 1, 30)))
		f := rapid.Float32Range(0.01, 0.99).Draw(t, "fraction")
		require.Equal(t, a.Words, show(Between(o, a, Keyframe{}, f, 30)))
		require.Equal(t, b.Words, show(Between(o, Keyframe{}, b, f, 30)))
		got := show(Between(o, a, b, f, 30))
		for i := range s.Leaves {
			l := &s.Leaves[i]
			switch {
			case l.Interpolation == Snap:
				require.Equal(t, a.Words[l.Word:l.Word+l.Words()], got[l.Word:l.Word+l.Words()], l.Class.Name())
			case l.Class != Quat && !l.Angle(): // a curve stays between its ends too
				lo, hi := min(l.float(a.Words, g), l.float(b.Words, g)), max(l.float(a.Words, g), l.float(b.Words, g))
				require.True(t, l.float(got, g) >= lo && l.float(got, g) <= hi, "%s: %v between %v and %v", l.Class.Name(), l.float(got, g), lo, hi)
			}
		}
	})
}

// TestInterpolateLists: elements that only one of the two has hold.
func TestInterpolateLists(t *testing.T) {
	s := buildList(4, moving(Int32, Lerp))
	words := func(of ...int32) []int32 {
		return append([]int32{int32(len(of))}, append(of, make([]int32, 4-len(of))...)...)
	}
	for _, c := range []struct {
		name           string
		from, to, want []int32
		f              float32
	}{
		{"as long", words(0, 10), words(8, 20), words(2, 12), 0.25},
		{"longer later", words(0), words(8, 20), words(2), 0.25},
		{"shorter later", words(0, 10), words(8), words(2, 10), 0.25},
		{"held", words(4, 5, 6), nil, words(4, 5, 6), 0.25},
		{"empty", words(), words(1), words(), 0.5},
	} {
		p := s.Block()
		k := Between(Keyframe{}, Keyframe{Tick: 1, Words: c.from}, Keyframe{Tick: 2, Words: c.to}, c.f, 30)
		s.Interpolate(Everything, &k, GridSim, nil, p)
		require.Equal(t, c.want, s.words(p, GridSim), c.name)
	}
}
