package snapshot_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/internal/schematest"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

type spin struct {
	Turn [4]float32 `net:"quat,bits=9,lerp"`
	At   struct {
		X, Y, Z float32
	} `net:"vec,min=-512,max=512,step=0.01,lerp"`
	Packed [4]int32   `net:"quat,bits=9"`
	Secret [4]float64 `net:"quat,bits=8,owner"`
}

func turnOf(rt *rapid.T, name string) (q [4]float32) {
	for i := range q {
		q[i] = rapid.Float32Range(-1, 1).Draw(rt, name)
	}
	return q
}

// TestRotationGrids: a rotation survives both grids within their steps, snapping is
// idempotent to the word, and what is no rotation becomes the identity.
func TestRotationGrids(t *testing.T) {
	s := compile[spin](t, schema.Options{Predicted: true})
	require.Equal(t, 4+3+4+4, s.Words())
	rapid.Check(t, func(rt *rapid.T) {
		v := spin{Turn: turnOf(rt, "turn")}
		if max(v.Turn[0], v.Turn[1], v.Turn[2], v.Turn[3], -v.Turn[0], -v.Turn[1], -v.Turn[2], -v.Turn[3]) < 0.01 {
			return // too short to be a rotation
		}
		one := v
		s.Snap(ptr(&one))
		two := one
		s.Snap(ptr(&two))
		require.Equal(rt, one, two)
		require.Less(rt, schematest.AngleBetween(v.Turn, one.Turn), 0.002)
		var a, b, pub [15]int32
		s.Quantise(ptr(&v), schema.GridSim, nil, a[:])
		s.Quantise(ptr(&one), schema.GridSim, nil, b[:])
		require.Equal(rt, a, b)
		s.Quantise(ptr(&v), schema.GridPublic, nil, pub[:])
		var w spin
		s.Dequantise(pub[:], schema.GridPublic, nil, ptr(&w))
		require.Less(rt, schematest.AngleBetween(v.Turn, w.Turn), 0.02)
		require.NoError(rt, s.Unpack(s.Pack(ptr(&v), nil), ptr(&w)))
		require.Less(rt, schematest.AngleBetween(v.Turn, w.Turn), 0.02)
	})
	bad := spin{Turn: [4]float32{float32(math.NaN()), 0, 0, 1}}
	s.Snap(ptr(&bad))
	require.Equal(t, [4]float32{0, 0, 0, 1}, bad.Turn)
	require.Equal(t, [4]float64{0, 0, 0, 1}, bad.Secret)
}

func TestRotationLerp(t *testing.T) {
	s := compile[spin](t, schema.Options{})
	about := func(angle float64) [4]float32 {
		return [4]float32{0, 0, float32(math.Sin(angle / 2)), float32(math.Cos(angle / 2))}
	}
	a, b := make([]int32, s.Words()), make([]int32, s.Words())
	s.Quantise(ptr(&spin{Turn: about(1)}), schema.GridPublic, nil, a)
	s.Quantise(ptr(&spin{Turn: about(1.5)}), schema.GridPublic, nil, b)
	var v spin
	s.Interpolate(^schema.Audience(0), schema.Knots{From: a, To: b, Fraction: 0.5}, schema.GridPublic, nil, ptr(&v))
	require.Less(t, schematest.AngleBetween(about(1.25), v.Turn), 0.01)
	for i := range 4 { // the same rotation with the other sign
		require.InDelta(t, about(1.25)[i], v.Turn[i], 0.01)
	}
}

func TestVectorAndRotationTags(t *testing.T) {
	type noFour struct {
		Q [3]float32 `net:"quat"`
	}
	type quatRange struct {
		Q [4]float32 `net:"quat,min=-1,max=1"`
	}
	type quatBits struct {
		Q [4]float32 `net:"quat,bits=15"`
	}
	type vecMixed struct {
		V struct {
			X int32
			B bool
		} `net:"vec"`
	}
	type vecLong struct {
		V [9]int16 `net:"vec"`
	}
	type vecOne struct {
		V float32 `net:"vec"`
	}
	type vecTwice struct {
		V struct {
			X int32 `net:"max=3"`
			Y int32
		} `net:"vec"`
	}
	for want, v := range map[string]any{
		"noFour.Q: is no quaternion":             noFour{},
		"quatRange.Q: a rotation has no min":     quatRange{},
		"quatBits.Q: bits=15 is out of range":    quatBits{},
		"vecMixed.V: mixes what moves different": vecMixed{},
		"vecLong.V: a vector of 9 numbers":       vecLong{},
		"vecOne.V: is no vector":                 vecOne{},
		"vecTwice.V.X: is part of a vector":      vecTwice{},
	} {
		_, err := schema.Compile(reflect.TypeOf(v), schema.Options{})
		require.ErrorContains(t, err, want)
	}
	require.Contains(t, compile[spin](t, schema.Options{Predicted: true}).Describe(), "spin.Turn [4]float32 words=4 bits=9 ratio=16 quat lerp")
}

// TestTumbling: rotations and vectors arrive exactly, for the owner and for others,
// over a link that loses one snapshot in five, and in the bytes that they always took.
func TestTumbling(t *testing.T) {
	s := compile[spin](t, schema.Options{Predicted: true})
	r := schema.NewRegistry()
	_, err := r.Component(s)
	require.NoError(t, err)
	_, err = r.Prefab("spin", []int{0}, nil)
	require.NoError(t, err)
	src := snapshot.NewSource(r, snapshot.SourceConfig{})
	var wire strings.Builder
	for viewer := range uint16(2) {
		sender, recv := src.NewSender(viewer+1, snapshot.SenderConfig{}), snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
		var sent [16]snapshot.Sent
		var v spin
		compared := 0
		ind := newIndependentSpin(builtinTables())
		for range 200 {
			tick := src.Tick() + 1
			x := float64(tick)
			v.Turn = [4]float32{float32(math.Sin(x / 5)), float32(math.Cos(x / 7)), float32(math.Sin(x / 11)), float32(math.Cos(x/3) * 0.5)}
			v.Secret = [4]float64{math.Sin(x), 1, 0, math.Cos(x)}
			v.At.X, v.At.Y, v.At.Z = float32(100*math.Sin(x/30)), float32(x/10), -3
			v.Packed = [4]int32{int32(tick) / 20 % 4, int32(tick) % 512, 511 - int32(tick)%512, 256}
			src.Begin(tick)
			src.Put(1, 0, 1, schema.MaskOf(0), []unsafe.Pointer{ptr(&v)}, nil)
			src.End()
			p := sender.Append(nil, 1000, &sent[tick%16])
			if tick%200 < 30 {
				fmt.Fprintf(&wire, "viewer %d tick %d %s\n", viewer+1, tick, hex.EncodeToString(p))
			}
			if tick%5 == 0 {
				sent[tick%16].Reset()
				continue
			}
			_, err := recv.Read(p)
			require.NoError(t, err)
			if tick > 4 {
				sender.Delivered(&sent[(tick-3)%16])
			}
			want, grid := src.PublicWords(1, 0), schema.GridPublic
			if viewer == 0 {
				want, grid = src.OwnerWords(1, 0), schema.GridSim
			}
			g := recv.Find(1)
			require.Equal(t, grid, recv.Grid(g, 0))
			got, ok := g.At(tick)
			require.True(t, ok)
			require.Equal(t, want, got.Component(0))
			if viewer == 1 {
				require.Equal(t, []int32{3, 0, 0, 0}, got.Component(0)[11:], "the owner's rotation is nobody else's")
			}
			require.NoError(t, ind.read(p), "the second reader, tick %d", tick)
			vals := ind.ghosts[int(g.Wire)].vals
			require.Equal(t, want, vals[len(vals)-1].words[0], "the second reader, tick %d", tick)
			compared++
		}
		require.Greater(t, compared, 150)
	}
	const file = "testdata/golden_spin.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(wire.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), wire.String())
}

// A rotation near a quarter turn, whose two greatest components all but tie, has the
// same words on the public grid however often it is sent on.
func TestPublicRotationsStay(t *testing.T) {
	s := compile[spin](t, schema.Options{Predicted: true})
	again := func(t require.TestingT, v spin) {
		var one, two [15]int32
		s.Quantise(ptr(&v), schema.GridPublic, nil, one[:])
		var w spin
		s.Dequantise(one[:], schema.GridPublic, nil, ptr(&w))
		require.Less(t, schematest.AngleBetween(v.Turn, w.Turn), 0.02)
		s.Quantise(ptr(&w), schema.GridPublic, nil, two[:])
		require.Equal(t, one, two, "%v", v.Turn)
	}
	for i := range 4 {
		for k := range 4 {
			for n := -400; n <= 400; n++ {
				if i != k {
					var v spin
					v.Turn[i], v.Turn[k] = 1, 1+float32(n)*1e-5
					again(t, v)
					v.Turn[k] = -v.Turn[k]
					again(t, v)
				}
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		v := spin{Turn: turnOf(rt, "turn")}
		i, k := rapid.IntRange(0, 3).Draw(rt, "greatest"), rapid.IntRange(0, 3).Draw(rt, "second")
		v.Turn[i] = 1
		v.Turn[k] = rapid.Float32Range(0.99, 1).Draw(rt, "nearly")
		again(rt, v)
	})
}
