package simtest_test

import (
	"fmt"
	"hash/maphash"
	"math"

	"github.com/foretick/foretick/ecs"
)

// The shapes of component that generated games draw from.
type (
	madeI8  struct{ A int8 }
	madeU8  struct{ A, B uint8 }
	madeI16 struct {
		A int16 `net:"min=-500,max=500"`
	}
	madeU16 struct {
		A uint16 `net:"max=1000"`
	}
	madeU32  struct{ A uint32 }
	madeI64  struct{ A int64 }
	madeF32  struct{ A float32 }
	madeF64  struct{ A float64 }
	madeStep struct {
		A float32 `net:"min=-50,max=50,step=0.01"`
	}
	madeLerp struct {
		X, Y float32 `net:"min=-50,max=50,step=0.05,lerp"`
	}
	madeTol struct {
		A float32 `net:"min=-50,max=50,step=0.01,tol=0.02"`
		N uint8
	}
	madeAngle struct {
		A float32 `net:"angle,bits=12,lerp"`
	}
	madeQuat struct {
		Q [4]float32 `net:"quat,bits=11,slerp"`
	}
	madeVec struct {
		V [3]float32 `net:"vec,min=-50,max=50,step=0.02,lerp"`
	}
	madeCurve struct {
		X, Y   float32 `net:"min=-50,max=50,step=0.01,hermite"`
		VX, VY float32 `net:"min=-10,max=10,step=0.01"`
	}
	madeBool  struct{ A, B, C bool }
	madeArray struct {
		A [4]uint8 `net:"max=9"`
	}
	madeRow struct {
		A [3]float32 `net:"min=-4,max=4,step=0.125"`
	}
	madeRef struct {
		To ecs.Entity
		N  uint8
	}
	madeIn struct {
		X, Y int16 `net:"min=-99,max=99"`
	}
	madeNest struct {
		In  madeIn
		Two [2]madeIn
		On  bool
	}
	madeText struct {
		S string `net:"max=8"`
	}
	madeList struct {
		L []uint8 `net:"max=4;max=20"`
	}
	madeOwner struct {
		A uint8
		B uint8 `net:"owner"`
	}
	madeAllies struct {
		A uint8
		B uint8 `net:"allies"`
	}
	madeLong struct {
		L []uint32 `net:"max=512"`
	}
)

// twistLong changes one number of a value that is longer than a packet, and sometimes all numbers.
func twistLong(v *madeLong, x uint64) {
	if len(v.L) > 0 && x%8 > 0 {
		v.L = append([]uint32(nil), v.L...)
		v.L[x>>8%uint64(len(v.L))] += uint32(x >> 32)
		return
	}
	v.L = make([]uint32, 250+x>>8%200)
	for i := range v.L {
		x = madeMix(x, uint64(i))
		v.L[i] = uint32(x >> 16)
	}
}

var madeHash = maphash.MakeSeed()

// shape is a component of a generated game, whatever its Go type.
type shape interface {
	handle() ecs.Handle
	turn(v ecs.Rows, i int, x uint64)
	turnOf(w *ecs.World, e ecs.Entity, x uint64) bool
	read(rows ecs.Rows, i int) uint64
	digest(rows ecs.Rows, i int) uint64 // digest of all fields
	add(w *ecs.World, e ecs.Entity, x uint64)
	remove(w *ecs.World, e ecs.Entity)
	has(w *ecs.World, e ecs.Entity) bool
	coarse() bool // others receive fewer or less precise fields than the owner
}

type shaped[T any] struct {
	c     ecs.Component[T]
	twist func(v *T, e ecs.Entity, x uint64)
	sum   func(v *T) uint64
	kept  bool
}

func (s *shaped[T]) handle() ecs.Handle { return &s.c }
func (s *shaped[T]) coarse() bool       { return s.kept }
func (s *shaped[T]) turn(rows ecs.Rows, i int, x uint64) {
	s.twist(&s.c.Slice(rows)[i], rows.Entity(i), x)
}
func (s *shaped[T]) read(rows ecs.Rows, i int) uint64 { return s.sum(&s.c.Slice(rows)[i]) }
func (s *shaped[T]) digest(rows ecs.Rows, i int) uint64 {
	v := &s.c.Slice(rows)[i]
	if _, ok := any(v).(*madeRef); ok { // handles differ between the ends
		return s.sum(v)
	}
	return maphash.String(madeHash, fmt.Sprint(*v))
}
func (s *shaped[T]) remove(w *ecs.World, e ecs.Entity)   { s.c.Remove(w, e) }
func (s *shaped[T]) has(w *ecs.World, e ecs.Entity) bool { return s.c.Has(w, e) }

func (s *shaped[T]) turnOf(w *ecs.World, e ecs.Entity, x uint64) bool {
	at := s.c.Find(w, e)
	if at != nil {
		s.twist(at, e, x)
	}
	return at != nil
}

func (s *shaped[T]) add(w *ecs.World, e ecs.Entity, x uint64) {
	var v T
	s.twist(&v, e, x)
	s.c.Add(w, e, v)
}

// turned changes a float to another value within ±45.
func turned(v float32, x uint64) float32 {
	if v += float32(x%32+1) / 8; v > 45 {
		v -= 90
	}
	return v
}

func notch(v float32) uint64 { return uint64(int64(math.Floor(float64(v)*32 + 0.5))) }

// madeShapes returns new instances of all shapes.
func madeShapes() []shape {
	type E = ecs.Entity
	return []shape{
		&shaped[madeI8]{twist: func(v *madeI8, _ E, x uint64) { v.A = v.A*3 + int8(x) | 1 }, sum: func(v *madeI8) uint64 { return uint64(v.A) }},
		&shaped[madeU8]{twist: func(v *madeU8, _ E, x uint64) { v.A, v.B = v.B+uint8(x), v.A+1 }, sum: func(v *madeU8) uint64 { return uint64(v.A) ^ uint64(v.B) }},
		&shaped[madeI16]{twist: func(v *madeI16, _ E, x uint64) { v.A = (v.A+500+int16(x%97)+1)%1000 - 500 }, sum: func(v *madeI16) uint64 { return uint64(v.A) }},
		&shaped[madeU16]{twist: func(v *madeU16, _ E, x uint64) { v.A = (v.A + uint16(x%97) + 1) % 1000 }, sum: func(v *madeU16) uint64 { return uint64(v.A) }},
		&shaped[madeU32]{twist: func(v *madeU32, _ E, x uint64) { v.A = v.A*5 + uint32(x)*2 + 1 }, sum: func(v *madeU32) uint64 { return uint64(v.A) }},
		&shaped[madeI64]{twist: func(v *madeI64, _ E, x uint64) { v.A += int64(x%1e12) - 4e11 }, sum: func(v *madeI64) uint64 { return uint64(v.A) }},
		&shaped[madeF32]{twist: func(v *madeF32, _ E, x uint64) { v.A = turned(v.A, x) + 1.0/3 }, sum: func(v *madeF32) uint64 { return notch(v.A) }},
		&shaped[madeF64]{twist: func(v *madeF64, _ E, x uint64) { v.A = float64(turned(float32(v.A), x)) + 1.0/3 }, sum: func(v *madeF64) uint64 { return notch(float32(v.A)) }},
		&shaped[madeStep]{twist: func(v *madeStep, _ E, x uint64) { v.A = turned(v.A, x) }, sum: func(v *madeStep) uint64 { return notch(v.A) }},
		&shaped[madeLerp]{twist: func(v *madeLerp, _ E, x uint64) { v.X, v.Y = turned(v.X, x), turned(v.Y, x>>8) }, sum: func(v *madeLerp) uint64 { return notch(v.X) ^ notch(v.Y) }},
		&shaped[madeTol]{twist: func(v *madeTol, _ E, x uint64) { v.A, v.N = turned(v.A, x), v.N+1 }, sum: func(v *madeTol) uint64 { return uint64(v.N) }},
		&shaped[madeAngle]{twist: func(v *madeAngle, _ E, x uint64) { v.A = float32(math.Mod(float64(v.A)+float64(x%10+1)/10, 3)) }, sum: func(v *madeAngle) uint64 { return notch(v.A) }},
		&shaped[madeQuat]{twist: func(v *madeQuat, _ E, x uint64) {
			v.Q = [4]float32{}
			v.Q[x%4], v.Q[(x+1)%4] = 0.8, 0.6
		}, sum: func(v *madeQuat) uint64 { return notch(v.Q[0]) }},
		&shaped[madeVec]{twist: func(v *madeVec, _ E, x uint64) { v.V[x%3] = turned(v.V[x%3], x>>8) }, sum: func(v *madeVec) uint64 { return notch(v.V[0]) ^ notch(v.V[1]) }},
		&shaped[madeCurve]{twist: func(v *madeCurve, _ E, x uint64) {
			v.VX, v.VY = float32(x%16)/2-4, float32(x>>8%16)/2-4
			v.X, v.Y = turned(v.X, x>>16), turned(v.Y, x>>24)
		}, sum: func(v *madeCurve) uint64 { return notch(v.X) ^ notch(v.VY) }},
		&shaped[madeBool]{twist: func(v *madeBool, _ E, x uint64) { v.A, v.B, v.C = !v.A, v.A, x&1 == 0 }, sum: func(v *madeBool) uint64 {
			n := uint64(0)
			for _, b := range [...]bool{v.A, v.B, v.C} {
				if n *= 2; b {
					n++
				}
			}
			return n
		}},
		&shaped[madeArray]{twist: func(v *madeArray, _ E, x uint64) { v.A[x%4] = (v.A[x%4] + 1) % 10 }, sum: func(v *madeArray) uint64 { return uint64(v.A[0]) + uint64(v.A[3]) }},
		&shaped[madeRow]{twist: func(v *madeRow, _ E, x uint64) { v.A[x%3] = float32(x>>8%64)/8 - 4 }, sum: func(v *madeRow) uint64 { return notch(v.A[1]) }},
		&shaped[madeRef]{twist: func(v *madeRef, e E, x uint64) {
			if v.To, v.N = ecs.None, v.N+1; x%2 == 0 {
				v.To = e
			}
		}, sum: func(v *madeRef) uint64 { return uint64(v.N) }},
		&shaped[madeNest]{twist: func(v *madeNest, _ E, x uint64) {
			v.In.X, v.Two[1].Y, v.On = int16(x%99), (v.Two[1].Y+1)%90, !v.On
		}, sum: func(v *madeNest) uint64 { return uint64(v.In.X) + uint64(v.Two[1].Y) }},
		&shaped[madeText]{twist: func(v *madeText, _ E, x uint64) { v.S = "foretick"[x%8:] }, sum: func(v *madeText) uint64 { return uint64(len(v.S)) }},
		&shaped[madeList]{twist: func(v *madeList, _ E, x uint64) {
			v.L = append(append([]uint8(nil), v.L...), uint8(x%21))
			v.L = v.L[max(0, len(v.L)-4):]
		}, sum: func(v *madeList) uint64 { return uint64(len(v.L)) }},
		&shaped[madeOwner]{kept: true, twist: func(v *madeOwner, _ E, x uint64) { v.A, v.B = v.A+1, v.B+uint8(x) }, sum: func(v *madeOwner) uint64 { return uint64(v.A) }},
		&shaped[madeAllies]{kept: true, twist: func(v *madeAllies, _ E, x uint64) { v.A, v.B = v.A+1, v.B+uint8(x) }, sum: func(v *madeAllies) uint64 { return uint64(v.A) }},
		&shaped[madeLong]{twist: func(v *madeLong, _ E, x uint64) { twistLong(v, x) }, sum: func(v *madeLong) uint64 { return uint64(len(v.L)) }},
	}
}
