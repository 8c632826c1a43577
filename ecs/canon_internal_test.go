package ecs

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

type canonInner struct {
	A int8
	B uint16
}

// canonPadded has padding that differs between machines, and every kind of number.
type canonPadded struct {
	Flag  bool
	Big   uint64
	N     int
	In    [3]canonInner
	_     uint32
	F     float32
	D     float64
	C     complex64
	Wide  uint
	Bytes [5]byte
	Z     complex128
	Words [3]uint32
	I     int64
}

// canonSolid lies in memory as it is hashed.
type canonSolid struct {
	X, Y, Z float32
	Owner   [2]uint16
	ID      uint32
	Tick    uint32
}

// stream writes a value as a hash counts it, by reflection.
func stream(v reflect.Value, out []byte) []byte {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "_" {
				out = stream(v.Field(i), out)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			out = stream(v.Index(i), out)
		}
	case reflect.Bool:
		if v.Bool() {
			return append(out, 1)
		}
		return append(out, 0)
	case reflect.Int:
		out = binary.LittleEndian.AppendUint64(out, uint64(v.Int()))
	case reflect.Uint:
		out = binary.LittleEndian.AppendUint64(out, v.Uint())
	case reflect.Complex64, reflect.Complex128:
		for _, f := range []float64{real(v.Complex()), imag(v.Complex())} {
			if v.Kind() == reflect.Complex64 {
				out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(f)))
			} else {
				out = binary.LittleEndian.AppendUint64(out, math.Float64bits(f))
			}
		}
	default:
		b, err := binary.Append(nil, binary.LittleEndian, v.Interface())
		if err != nil {
			panic(err)
		}
		out = append(out, b...)
	}
	return out
}

func hashBytes(h uint64, b []byte) uint64 {
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	for ; len(b) > 0; b = b[8:] {
		h = mix(h, binary.LittleEndian.Uint64(b))
	}
	return h
}

// TestHashOfAValue holds every value's hash against the bytes that reflection finds, with
// and without the short way through memory.
func TestHashOfAValue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	describe := func(rt reflect.Type) *typeData {
		d := &typeData{rtype: rt, size: rt.Size(), plain: true, spans: valueSpans(rt)}
		d.solid = len(d.spans) == 1 && d.spans[0] == span{0, d.size}
		d.canonical()
		return d
	}
	padded, solid := describe(reflect.TypeFor[canonPadded]()), describe(reflect.TypeFor[canonSolid]())
	require.Equal(t, little && unsafe.Sizeof(0) == 8, padded.direct)
	require.Equal(t, little, solid.direct)
	for range 200 {
		var a canonPadded
		memory := unsafe.Slice((*byte)(unsafe.Pointer(&a)), unsafe.Sizeof(a))
		for i := range memory {
			memory[i] = byte(r.Uint32()) // padding, too
		}
		a.Flag, a.F, a.D, a.N = r.Uint32()&1 == 0, r.Float32(), r.NormFloat64(), int(int32(r.Uint32()))
		a.C, a.Z = complex(r.Float32(), -1), complex(2, r.Float64())
		want := hashBytes(7, stream(reflect.ValueOf(a), nil))
		require.Equal(t, want, padded.hash(7^mix(uint64(padded.length), hashSeed), unsafe.Pointer(&a)))
		require.Equal(t, want, padded.hashRuns(7, unsafe.Pointer(&a)))
		b := canonSolid{X: r.Float32(), Z: -1, Owner: [2]uint16{1, uint16(r.Uint32())}, ID: r.Uint32()}
		want = hashBytes(7, stream(reflect.ValueOf(b), nil))
		require.Equal(t, want, solid.hash(7^mix(uint64(solid.length), hashSeed), unsafe.Pointer(&b)))
		require.Equal(t, want, solid.hashRuns(7, unsafe.Pointer(&b)))
	}
}

// TestHashOnEveryMachine: one hash for all orders of bytes and sizes of words.
func TestHashOnEveryMachine(t *testing.T) {
	types := NewTypes()
	var padded Component[canonPadded]
	var solid Component[canonSolid]
	var prefab Prefab
	require.NoError(t, errors.Join(types.Register(&padded), types.Register(&solid), types.RegisterPrefab(&prefab, "p", &padded, &solid)))
	w := NewWorld(types, WorldConfig{})
	for i := range 5 {
		e := w.Spawn(&prefab, Owner(i%3))
		*padded.Get(w, e) = canonPadded{Flag: i > 2, Big: 1 << 40, N: -i, F: 0.5, D: 1.5, Wide: uint(i), C: complex(1, 2), Z: complex(3, 4), I: -1}
		padded.Get(w, e).Bytes[i] = byte(i)
		*solid.Get(w, e) = canonSolid{X: float32(i), ID: 9}
	}
	require.Equal(t, uint64(0xf5e2da84d0c9909c), w.Hash(nil))
}
