package mathf

import (
	"math"
	"math/bits"
)

// Pi is rounded to float32, as results are.
const Pi = float32(math.Pi)

// Half of π in three parts. Products of the first two with fewer than 2²⁵ quarter turns
// are exact.
const (
	halfPi1 = 105414357.0 / (1 << 26)
	halfPi2 = 8935984.0 / (1 << 53)
	halfPi3 = math.Pi/2 - halfPi1 - halfPi2
)

// far is the least angle whose quarter turns are counted in integers.
const far = 1 << 25

// turns has the binary digits of 2/π after the point.
var turns = [4]uint64{0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561}

// reduce returns the difference between an angle and its nearest quarter turn, and which quarter turn that is.
func reduce(x float64) (r float64, quarter uint64) {
	size := math.Abs(x)
	switch {
	case size <= math.Pi/4:
		return x, 0
	case size < far:
		n := math.Floor(float64(x*(2/math.Pi)) + 0.5)
		r = x - float64(n*halfPi1)
		r -= float64(n * halfPi2)
		r -= float64(n * halfPi3)
		return r, uint64(int64(n)) & 3
	}
	r, quarter = reduceFar(size)
	if x < 0 {
		return -r, -quarter & 3
	}
	return r, quarter
}

// reduceFar multiplies by 2/π in integers. It leaves out the bits of 2/π that make whole
// turns.
func reduceFar(x float64) (r float64, quarter uint64) {
	b := math.Float64bits(x)
	m := (b&(1<<52-1) | 1<<52) >> 29 // a float32 has 24 bits, so the others are 0
	at := b>>52 - 1075 + 29 - 2      // at most 102
	i, shift := at/64, at%64
	high := turns[i]<<shift | turns[i+1]>>(64-shift)
	low := turns[i+1]<<shift | turns[i+2]>>(64-shift)
	carry, lo := bits.Mul64(m, low)
	hi := m*high + carry
	fraction := int64(hi<<2 | lo>>62)
	if quarter = hi >> 62; fraction < 0 {
		quarter++
	}
	return float64(float64(fraction) * (math.Pi / 2 / (1 << 64))), quarter & 3
}

// sine and cosine return those of an angle within π/4, from their series.
func sine(r float64) float64 {
	z := float64(r * r)
	return r + float64(r*float64(z*series(z, -1.0/6, 1.0/120, -1.0/5040, 1.0/362880, -1.0/39916800, 1.0/6227020800)))
}

func cosine(r float64) float64 {
	z := float64(r * r)
	return 1 + float64(z*series(z, -1.0/2, 1.0/24, -1.0/720, 1.0/40320, -1.0/3628800, 1.0/479001600, -1.0/87178291200))
}

// series returns c[0] + c[1]z + c[2]z² and so on.
func series(z float64, c ...float64) float64 {
	sum := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		sum = c[i] + float64(z*sum)
	}
	return sum
}

func sincos(x float32) (sin, cos float64) {
	switch {
	case x-x != 0: // NaN, infinite
		return math.NaN(), math.NaN()
	case x == 0:
		return float64(x), 1 // keeps the sign
	}
	r, quarter := reduce(float64(x))
	sin, cos = sine(r), cosine(r)
	switch quarter {
	case 1:
		return cos, -sin
	case 2:
		return -sin, -cos
	case 3:
		return -cos, sin
	}
	return sin, cos
}

// Sincos returns the sine and the cosine of x, in radians.
func Sincos(x float32) (sin, cos float32) {
	s, c := sincos(x)
	return float32(s), float32(c)
}

// Sin returns the sine of x, in radians.
func Sin(x float32) float32 {
	s, _ := sincos(x)
	return float32(s)
}

// Cos returns the cosine of x, in radians.
func Cos(x float32) float32 {
	_, c := sincos(x)
	return float32(c)
}

// Tan returns the tangent of x, in radians.
func Tan(x float32) float32 {
	s, c := sincos(x)
	return float32(s / c)
}

const tanPi8 = 0.41421356237309503

// arctan returns the angle of a tangent that is not negative.
func arctan(t float64) float64 {
	switch {
	case t > 1:
		return math.Pi/2 - arctan(1/t)
	case t > tanPi8:
		return math.Pi/4 + arcseries((t-1)/(t+1))
	}
	return arcseries(t)
}

func arcseries(t float64) float64 {
	z := float64(t * t)
	return t + float64(t*float64(z*series(z, -1.0/3, 1.0/5, -1.0/7, 1.0/9, -1.0/11, 1.0/13, -1.0/15, 1.0/17, -1.0/19, 1.0/21, -1.0/23, 1.0/25, -1.0/27, 1.0/29, -1.0/31)))
}

// arctan2 returns the angle of a direction that is no corner case.
func arctan2(y, x float64) float64 {
	a := arctan(math.Abs(y / x))
	if x < 0 {
		a = math.Pi - a
	}
	return math.Copysign(a, y)
}

// Atan returns the angle whose tangent is x, from -π/2 to π/2.
func Atan(x float32) float32 { return Atan2(x, 1) }

// Atan2 returns the angle of the direction (x, y), from -π to π.
func Atan2(y, x float32) float32 {
	fx, fy := float64(x), float64(y)
	switch {
	case x != x || y != y:
		return float32(math.NaN())
	case y == 0 && (x > 0 || x == 0 && !math.Signbit(fx)):
		return y
	case y == 0:
		return float32(math.Copysign(math.Pi, fy))
	case x == 0:
		return float32(math.Copysign(math.Pi/2, fy))
	case math.IsInf(fx, 0) && math.IsInf(fy, 0):
		fx, fy = math.Copysign(1, fx), math.Copysign(1, fy)
	case math.IsInf(fx, 1):
		return float32(math.Copysign(0, fy))
	case math.IsInf(fx, -1):
		return float32(math.Copysign(math.Pi, fy))
	}
	return float32(arctan2(fy, fx))
}

// Asin returns the angle whose sine is x, from -π/2 to π/2, or NaN beyond 1.
func Asin(x float32) float32 {
	if x == 0 {
		return x
	}
	return float32(math.Copysign(arctan(math.Abs(float64(x))/beside(x)), float64(x)))
}

// Acos returns the angle whose cosine is x, from 0 to π, or NaN beyond 1.
func Acos(x float32) float32 {
	switch x {
	case 0:
		return Pi / 2
	case -1:
		return Pi
	}
	return float32(arctan2(beside(x), float64(x)))
}

// beside returns √(1-x²).
func beside(x float32) float64 { return math.Sqrt(float64((1 - float64(x)) * (1 + float64(x)))) }
