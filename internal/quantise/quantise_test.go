package quantise

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestWordsStay: a value restored from words has these words, on either grid, and the
// public words follow from those of the simulation.
func TestWordsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawPlan(t)
		p := drawValue(t, s, "value")
		sim, public := s.words(p, GridSim), s.words(p, GridPublic)
		back := s.Block()
		s.Dequantise(sim, GridSim, SameRefs{}, back, Everything)
		require.Equal(t, sim, s.words(back, GridSim))
		for i := range s.Leaves {
			s.Leaves[i].publish(sim, sim)
		}
		require.Equal(t, public, sim)
		back = s.Block()
		s.Dequantise(public, GridPublic, SameRefs{}, back, Everything)
		require.Equal(t, public, s.words(back, GridPublic))
	})
}

// TestSnapIsTheWords: snapping is quantising and restoring, and does nothing twice.
func TestSnapIsTheWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawPlan(t)
		p := drawValue(t, s, "value")
		want := s.words(p, GridSim)
		together := make([]int32, s.Words)
		s.Snap(p)
		require.Equal(t, want, s.words(p, GridSim))
		s.SnapWords(p, SameRefs{}, together)
		require.Equal(t, want, together)
		require.Equal(t, want, s.words(p, GridSim))
		require.Equal(t, -1, s.Unsound(p), "what was snapped is sent as it is")
	})
}

// TestSteps: a float on a grid is off by half a step at most, and clamped to its range.
func TestSteps(t *testing.T) {
	for _, c := range []Class{Step32, Step64} {
		s := build(leafOf(c))
		l := &s.Leaves[0]
		for _, v := range []struct{ in, public, sim float64 }{
			{0, 0, 0},
			{0.004, 0, 0.00375},
			{0.0062, 0.01, 0.00625},
			{-0.0149, -0.01, -0.015},
			{-10, -10, -10},
			{-10.01, -10, -10},
			{1e30, 30, 30},
			{math.Inf(-1), -10, -10},
			{math.NaN(), 0, 0},
		} {
			p := s.Block()
			l.storeFloat(p, v.in)
			for g, want := range map[Grid]float64{GridPublic: v.public, GridSim: v.sim} {
				s.Dequantise(s.words(p, g), g, nil, p, Everything)
				require.InDelta(t, want, l.loadFloat(p), 1e-5, "%v of %s on grid %d", v.in, c.Name(), g)
				l.storeFloat(p, v.in)
			}
		}
	}
}

// TestAngles: angles wrap, and the difference of two is the shorter way.
func TestAngles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := build(leafOf(Angle64))
		l := &s.Leaves[0]
		v := rapid.Float64Range(-100, 100).Draw(t, "angle")
		p := s.Block()
		l.storeFloat(p, v)
		w := s.words(p, GridSim)
		s.Dequantise(w, GridSim, nil, p, Everything)
		got := l.loadFloat(p)
		require.True(t, got >= -math.Pi && got < math.Pi)
		require.InDelta(t, 0, math.Remainder(got-v, 2*math.Pi), l.Grid[GridSim].Step/2+1e-9)
		l.storeFloat(p, v+rapid.Float64Range(-3, 3).Draw(t, "turn"))
		x := s.words(p, GridSim)
		require.LessOrEqual(t, math.Abs(l.apart(w, x, GridSim)), math.Pi+1e-9)
		require.LessOrEqual(t, l.distance(w, x), math.Pi+1e-9)
	})
}

// TestRotations: the restored rotation is near, on both grids, whatever its sign and length.
func TestRotations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := build(leafOf(Quat))
		l := &s.Leaves[0]
		var q [4]float64
		sum := 0.0
		for i := range q {
			q[i] = rapid.Float64Range(-1, 1).Draw(t, "q")
			sum += q[i] * q[i]
		}
		if sum < 1e-6 {
			return
		}
		p := s.Block()
		l.storeQuat(q, p)
		for _, g := range []Grid{GridPublic, GridSim} {
			w, most := s.words(p, g), 6*l.Grid[g].Step // three components are each off by half a step, or one more
			r := l.rotation(w, g)
			d := 0.0
			for i := range q {
				d += q[i] * r[i]
			}
			require.LessOrEqual(t, 2*math.Acos(min(math.Abs(d)/math.Sqrt(sum), 1)), most, "%v on grid %d", q, g)
			require.GreaterOrEqual(t, r[w[0]], 0.0)
		}
	})
	s := build(leafOf(Quat))
	l := &s.Leaves[0]
	for _, q := range [][4]float64{{}, {math.NaN()}, {math.Inf(1), 0, 0, 1}, {1e-20}} {
		p := s.Block()
		l.storeQuat(q, p)
		require.Equal(t, s.Zero[ToOwner], s.words(p, GridSim), "%v is no rotation", q)
	}
}

// TestHidden: a value restored for an audience leaves the fields of others alone, and
// Publish leaves none of the owner's words.
func TestHidden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawPlan(t)
		p := drawValue(t, s, "value")
		own, pub := s.words(p, GridSim), make([]int32, s.Words)
		s.Publish(own, pub)
		for i := range s.Leaves {
			l := &s.Leaves[i]
			if l.Audience != ToOwner {
				continue
			}
			blank := make([]int32, s.Words)
			l.blank(blank)
			require.Equal(t, blank[l.Word:l.Word+l.Words()], pub[l.Word:l.Word+l.Words()])
		}
		if len(s.Lists) > 0 {
			return
		}
		to := drawValue(t, s, "other")
		before := s.words(to, GridSim)
		s.Dequantise(own, GridSim, SameRefs{}, to, ToAllies)
		after := s.words(to, GridSim)
		for i := range s.Leaves {
			l := &s.Leaves[i]
			want := before
			if l.SeenBy(ToAllies) {
				want = own
			}
			require.Equal(t, want[l.Word:l.Word+l.Words()], after[l.Word:l.Word+l.Words()], "field %d of audience %d", i, l.Audience)
		}
	})
}

// TestLayOut: fields are aligned and lie apart, in the size of the value.
func TestLayOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawPlan(t)
		if len(s.Lists) > 0 {
			li := &s.Lists[0]
			require.Equal(t, s.Words, li.Word+li.Most*li.Words)
			require.LessOrEqual(t, li.Offset+inline+uintptr(li.Most)*li.Stride, s.Size())
			for k := range li.Most * li.Each {
				e := &s.Leaves[li.From+k]
				require.Equal(t, li.Word+k/li.Each*li.Words, e.Word-(s.Leaves[li.From+k%li.Each].Word-li.Word), "leaf %d", k)
			}
			return
		}
		end := uintptr(0)
		for i := range s.Leaves {
			l := &s.Leaves[i]
			require.GreaterOrEqual(t, l.Offset, end)
			if l.Class != Text {
				align := l.Class.Size()
				if l.Class == Quat {
					align = l.Size
				}
				require.Zero(t, l.Offset%align)
			}
			end = l.Offset + l.Class.Size()
		}
		require.LessOrEqual(t, end, s.Size())
	})
}

// FuzzUnpack: any bytes are refused, or are what packing the unpacked value gives.
func FuzzUnpack(f *testing.F) {
	plans := []*Plan{}
	for _, c := range plain() {
		plans = append(plans, build(leafOf(c), leafOf(Bool)))
	}
	plans = append(plans, buildList(3, leafOf(Step32), leafOf(Text)))
	for i, s := range plans {
		f.Add(uint8(i), s.Pack(s.Block(), SameRefs{}, nil))
	}
	for i := range plans {
		ones := bytes.Repeat([]byte{0xff}, plans[i].PackedSize())
		ones[len(ones)-1] >>= 8*len(ones) - plans[i].PackBits // the padding is zeros
		f.Add(uint8(i), ones)
	}
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		s := plans[int(which)%len(plans)]
		p := s.Block()
		if at, ok := s.Unpack(b, SameRefs{}, p); !ok {
			if at < -1 || at >= len(s.Leaves) {
				t.Fatalf("field %d of %d is at fault", at, len(s.Leaves))
			}
			return
		}
		if at := s.Unsound(p); at >= 0 {
			t.Fatalf("field %d of %x has a value that is not sent", at, b)
		}
		again := s.Pack(p, SameRefs{}, nil)
		other := s.Block()
		if _, ok := s.Unpack(again, SameRefs{}, other); !ok {
			t.Fatalf("%x is packed as %x, which is refused", b, again)
		}
		for i, w := range s.words(p, GridPublic) {
			if s.words(other, GridPublic)[i] != w {
				t.Fatalf("word %d of %x changes when it is packed again", i, b)
			}
		}
	})
}

// TestPackIsRead: what is packed is unpacked to the public words, in the bits that the plan
// says.
func TestPackIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawPlan(t)
		p := drawValue(t, s, "value")
		b := s.Pack(p, SameRefs{}, nil)
		require.LessOrEqual(t, len(b), s.PackedSize())
		back := s.Block()
		at, ok := s.Unpack(b, SameRefs{}, back)
		require.True(t, ok, "field %d", at)
		want := s.words(p, GridPublic)
		got := s.words(back, GridPublic)
		for i := range s.Leaves {
			l := &s.Leaves[i]
			require.Equal(t, want[l.Word:l.Word+l.Words()], got[l.Word:l.Word+l.Words()], "%s", l.Class.Name())
		}
	})
}
