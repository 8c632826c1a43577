// Package schematest holds the types that the tests of schemas and of snapshots share.
package schematest

import "math"

// The types have the names that texts and golden files have of them, and others by which
// tests reach them.
type (
	position struct {
		X, Y float32 `net:"min=-512,max=512,step=0.01,lerp"`
		Aim  float32 `net:"angle,bits=12,lerp"`
	}
	gun struct {
		Ammo   uint8  `net:"max=60,owner"`
		Secret uint64 `net:"owner"`
		Kind   int16  `net:"max=300"`
	}
	everything struct {
		B   bool
		I8  int8
		I16 int16
		I32 int32
		I64 int64
		I   int64
		U8  uint8
		U16 uint16
		U32 uint32
		U64 uint64
		U   uint64
		F32 float32
		F64 float64
		R   int64   `net:"min=-70000,max=5000000000"`
		RU  uint64  `net:"max=4000000000"`
		S64 float64 `net:"min=-1000,max=1000,step=0.001"`
		A64 float64 `net:"angle,bits=16"`
		In  struct {
			X float32 `net:"min=0,max=10,step=0.5"`
			Y [2]int8
		} `net:"lerp"`
		Skipped string `net:"-"`
		_       [3]byte
	}
)

type (
	// Position is a component whose fields are interpolated.
	Position = position
	// Gun is a component with fields for its owner alone.
	Gun = gun
	// Everything has a field of each kind of number.
	Everything = everything
)

// AngleBetween returns the angle between two rotations, in radians.
func AngleBetween(a, b [4]float32) float64 {
	d, m, n := 0.0, 0.0, 0.0
	for i := range a {
		d += float64(a[i]) * float64(b[i])
		m += float64(a[i]) * float64(a[i])
		n += float64(b[i]) * float64(b[i])
	}
	return 2 * math.Acos(min(math.Abs(d)/math.Sqrt(m*n), 1))
}
