package yard

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// heap returns bodies that touch in many places, and move.
func heap(seed uint64, bodies int) []Body {
	r := rand.New(rand.NewPCG(seed, 3))
	out := make([]Body, bodies)
	for i := range out {
		out[i] = Body{X: r.Float32()*10 - 5, Y: r.Float32()*6 - 3, Angle: r.Float32()*6 - 3, VX: r.Float32()*20 - 10, VY: r.Float32()*20 - 10, Spin: r.Float32()*4 - 2}
	}
	return out
}

func solids(of []Body) []solid {
	var out []solid
	for i := range of {
		k := crate
		if i < 4 {
			k = car
		}
		out = append(out, solid{uint32(i), k, &of[i]})
	}
	return out
}

const dt = 1.0 / 30

// TestStepIsBitEqual: a step from a copy of the bodies has the same bits, whatever the engine
// did before: nothing, other bodies, more of them, or the ticks after.
func TestStepIsBitEqual(t *testing.T) {
	for seed := range uint64(20) {
		bodies := heap(seed, 19)
		first := newEngine()
		var states, want [][]Body
		for range 40 {
			states = append(states, append([]Body(nil), bodies...))
			first.step(solids(bodies), dt)
			want = append(want, append([]Body(nil), bodies...))
		}
		require.NotEqual(t, states[0], want[0])
		busy := newEngine()
		other := heap(seed+100, 30)
		for i := range states {
			for _, e := range []*engine{first, busy, newEngine()} { // first has run all 40 ticks already
				copied := append([]Body(nil), states[i]...)
				e.step(solids(copied), dt)
				require.Equal(t, want[i], copied, "seed %d, tick %d", seed, i)
			}
			busy.step(solids(other), dt)
		}
	}
}

// TestChipmunkRemembers: what the engine would remember without the reset changes results. A
// version of Chipmunk that forgets by itself makes the reset needless.
func TestChipmunkRemembers(t *testing.T) {
	bodies := heap(1, 19)
	kept, differs := newEngine(), false
	for range 40 {
		copied := append([]Body(nil), bodies...)
		newEngine().step(solids(copied), dt)
		kept.stepOnly(solids(bodies), dt)
		for i := range bodies {
			differs = differs || bodies[i] != copied[i]
		}
	}
	require.True(t, differs)
}

// stepOnly is step without the reset.
func (e *engine) stepOnly(bodies []solid, dt float64) {
	e.put(bodies)
	e.space.Step(dt)
	e.get(bodies, dt)
}

// TestBodiesPart: bodies that overlap are pushed apart, and stay in the yard.
func TestBodiesPart(t *testing.T) {
	bodies, e := heap(5, 19), newEngine()
	for range 300 {
		e.step(solids(bodies), dt)
		for i := range bodies {
			bodies[i].rub(crate, dt)
		}
	}
	for i, a := range bodies {
		require.Less(t, max(a.X, -a.X), float32(halfLength))
		require.Less(t, max(a.Y, -a.Y), float32(halfWidth))
		for _, b := range bodies[:i] {
			x, y := a.X-b.X, a.Y-b.Y
			require.Greater(t, x*x+y*y, float32(0.8), "two bodies are at one place")
		}
	}
}

// TestNoRoom: bodies beyond the most of their kind stand still.
func TestNoRoom(t *testing.T) {
	bodies, e := heap(1, 60), newEngine()
	last := bodies[59]
	e.step(solids(bodies), dt)
	require.Equal(t, last, bodies[59])
}

func BenchmarkStep(b *testing.B) {
	bodies, e := heap(1, 19), newEngine()
	b.ReportAllocs()
	for b.Loop() {
		e.step(solids(bodies), dt)
	}
}
