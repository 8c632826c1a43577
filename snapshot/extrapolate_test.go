package snapshot_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/foretick/foretick/schema"
	"github.com/stretchr/testify/require"
)

type rolling struct {
	X    float32 `net:"min=-100,max=100,step=0.01,lerp,extrapolate=3"`
	Y    float32 `net:"min=-100,max=100,step=0.01,lerp"`
	Aim  float32 `net:"angle,bits=12,lerp,extrapolate=9"`
	Life uint8   `net:"max=9,lerp,extrapolate=5"`
}

// TestExtrapolate: only what is tagged goes on, for as long as it says, inside its
// range, and around the circle.
func TestExtrapolate(t *testing.T) {
	s := compile[rolling](t, schema.Options{})
	require.True(t, s.Extrapolates())
	require.False(t, compile[position](t, schema.Options{}).Extrapolates())
	at := func(a, b rolling, span, beyond float32) (out rolling) {
		wa, wb := make([]int32, s.Words()), make([]int32, s.Words())
		s.Quantise(ptr(&a), schema.GridPublic, nil, wa)
		s.Quantise(ptr(&b), schema.GridPublic, nil, wb)
		s.Extrapolate(0, wa, wb, span, beyond, schema.GridPublic, nil, ptr(&out))
		return out
	}
	a, b := rolling{X: 1, Y: 1, Aim: 3, Life: 5}, rolling{X: 3, Y: 2, Aim: 3.1, Life: 4}
	got := at(a, b, 2, 1.5)
	require.InDelta(t, 4.5, got.X, 1e-4)
	require.InDelta(t, 2, got.Y, 1e-4, "it holds")
	require.InDelta(t, 3.175-2*math.Pi, got.Aim, 3e-3, "around the circle")
	require.Equal(t, uint8(3), got.Life)
	got = at(a, b, 2, 50)
	require.InDelta(t, 6, got.X, 1e-4, "three ticks, and no more")
	require.Equal(t, uint8(2), got.Life)
	got = at(rolling{X: 80, Life: 4}, rolling{X: 99, Life: 0}, 1, 3)
	require.Equal(t, float32(100), got.X)
	require.Equal(t, uint8(0), got.Life)
	_, err := schema.Compile(reflect.TypeFor[struct {
		X float32 `net:"min=-1,max=1,step=0.5,extrapolate=2"`
	}](), schema.Options{Name: "x"})
	require.ErrorContains(t, err, "needs lerp")
}

// TestBeyond: Beyond returns the time since the newest value, unless the entity rests, teleported or is gone.
func TestBeyond(t *testing.T) {
	p := newPlay(t, 0)
	b := p.add(1, 0)
	move := func() { b.pos.X += 0.5; p.pass(1) }
	move()
	g := p.recv.Ghosts()[0]
	_, _, _, _, ok := g.Beyond(p.tick, 0.5)
	require.False(t, ok, "one value tells no motion")
	move()
	move()
	x, y, span, beyond, ok := g.Beyond(p.tick+2, 0.25)
	require.True(t, ok)
	require.Equal(t, []any{p.tick - 1, p.tick, float32(1), float32(2.25)}, []any{x.Tick, y.Tick, span, beyond})
	_, _, _, _, ok = g.Beyond(p.tick-1, 0.5)
	require.False(t, ok, "that is known")
	p.pass(1) // it rests
	_, _, _, _, ok = g.Beyond(p.tick+1, 0)
	require.False(t, ok)
	move()
	p.src.Teleport(1)
	move()
	_, _, _, _, ok = g.Beyond(p.tick+1, 0)
	require.False(t, ok, "it leapt")
	move()
	_, _, _, _, ok = g.Beyond(p.tick+1, 0)
	require.True(t, ok)
	delete(p.bodies, 1)
	p.pass(1)
	_, _, _, _, ok = g.Beyond(p.tick+1, 0)
	require.False(t, ok, "gone")
}
