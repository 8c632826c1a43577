package schematest

import (
	"math"
	"math/rand/v2"
	"reflect"
)

// Wild has a field of each sort, with a range and without, alone, in arrays, in vectors and
// in slices. R is the type of references.
type Wild[R ~uint64] struct {
	F32     float32
	F64     float64
	Vec     [3]float32 `net:"vec"`
	Stepped float32    `net:"min=-100,max=100,step=0.01"`
	Wide    float64    `net:"min=-1e6,max=1e6,step=0.01"`
	At      [3]float32 `net:"vec,min=-512,max=512,step=0.01"`
	Angle   float32    `net:"angle,bits=12"`
	Angle64 float64    `net:"angle,bits=16"`
	Turn    [4]float32 `net:"quat,bits=9"`
	Fine    [4]float64 `net:"quat,bits=14"`
	Packed  [4]uint16  `net:"quat,bits=9"`
	On      [9]bool
	I8      int8  `net:"min=-5,max=90"`
	I16     int16 `net:"min=7,max=9"`
	I32     int32
	I64     int64
	Ranged  int64 `net:"min=-5,max=10000000000"`
	U8      uint8 `net:"min=3"`
	U16     uint16
	U32     uint32 `net:"max=4000000000"`
	U64     uint64
	Capped  uint64 `net:"max=1000000000"`
	For     R
	Name    string    `net:"max=7"`
	Floats  []float32 `net:"max=4"`
	Doubles []float64 `net:"max=3"`
	Steps   []float32 `net:"max=3;min=-8,max=8,step=0.25"`
	Parts   []Part    `net:"max=3"`
}

// Part is an element of a slice in [Wild].
type Part struct {
	At   [2]float32 `net:"vec"`
	Deep [2]float64
	Turn [4]float32 `net:"quat"`
	Heat float32
	Name string `net:"max=5"`
	N    int8   `net:"min=5,max=90"`
}

// edges are patterns of 64 bits, and of 32 in their lower half.
var edges = func() (out []uint64) {
	out = []uint64{0, 1, math.MaxUint64, 1 << 63, 1<<63 - 1, 1 << 31, 1<<31 - 1, 0x7ff0000000000001, 0x7f800001}
	for _, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64, math.MaxFloat32, 1e300, 1, -0.25} {
		out = append(out, math.Float64bits(v), uint64(math.Float32bits(float32(v))))
	}
	return out
}()

// Scatter writes any pattern of bits into a value: to each number, to the bytes of strings,
// and to the elements of slices, which may be more than their tag allows. Half of the
// numbers are at an edge of some type.
func Scatter(r *rand.Rand, v reflect.Value) {
	bits := r.Uint64()
	if r.IntN(2) == 0 {
		bits = edges[r.IntN(len(edges))]
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			Scatter(r, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			Scatter(r, v.Index(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(6), 6))
		for i := range v.Len() {
			Scatter(r, v.Index(i))
		}
	case reflect.String:
		b := make([]byte, r.IntN(10))
		for i := range b {
			if b[i] = byte(r.Uint64()); r.IntN(2) == 0 {
				b[i] &= 0x7f
			}
		}
		v.SetString(string(b))
	case reflect.Bool:
		v.SetBool(bits&1 != 0)
	case reflect.Float32:
		*(v.Addr().Interface().(*float32)) = math.Float32frombits(uint32(bits))
	case reflect.Float64:
		v.SetFloat(math.Float64frombits(bits))
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(bits) << (64 - v.Type().Bits()) >> (64 - v.Type().Bits()))
	default:
		v.SetUint(bits << (64 - v.Type().Bits()) >> (64 - v.Type().Bits()))
	}
}
