package mathf

import "math"

// Sqrt returns the square root of x, or NaN if x is negative.
func Sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// Hypot returns the length of the vector (x, y).
func Hypot(x, y float32) float32 {
	if math.IsInf(float64(x), 0) || math.IsInf(float64(y), 0) {
		return float32(math.Inf(1))
	}
	return float32(math.Sqrt(float64(float64(x)*float64(x)) + float64(float64(y)*float64(y))))
}

// ln2High and ln2Low are ln 2 in two parts. Products of the first with an exponent are exact.
const (
	ln2High = 1488522235.0 / (1 << 31)
	ln2Low  = math.Ln2 - ln2High
)

// exp returns e to the power of x, or 0 or infinity where a float32 would have them.
func exp(x float64) float64 {
	switch {
	case x > 90:
		return math.Inf(1)
	case x < -110:
		return 0
	case x != x:
		return x
	}
	k := math.Floor(float64(x*(1/math.Ln2)) + 0.5)
	r := x - float64(k*ln2High) - float64(k*ln2Low)
	e := series(r, 1, 1, 1.0/2, 1.0/6, 1.0/24, 1.0/120, 1.0/720, 1.0/5040, 1.0/40320, 1.0/362880, 1.0/3628800, 1.0/39916800)
	return e * math.Float64frombits(uint64(int64(k)+1023)<<52)
}

// log returns the natural logarithm of a normal number above 0.
func log(x float64) float64 {
	b := math.Float64bits(x)
	k := int64(b>>52) - 1023
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	if m > math.Sqrt2 {
		m, k = m/2, k+1
	}
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	l := float64(2*s) + float64(float64(2*s)*float64(z*series(z, 1.0/3, 1.0/5, 1.0/7, 1.0/9, 1.0/11, 1.0/13, 1.0/15, 1.0/17, 1.0/19)))
	return float64(float64(k)*ln2High) + (float64(float64(k)*ln2Low) + l)
}

// Exp returns e to the power of x.
func Exp(x float32) float32 { return float32(exp(float64(x))) }

// Log returns the natural logarithm of x, or NaN if x is negative.
func Log(x float32) float32 {
	switch {
	case x < 0 || x != x:
		return float32(math.NaN())
	case x == 0:
		return float32(math.Inf(-1))
	case math.IsInf(float64(x), 1):
		return x
	}
	return float32(log(float64(x)))
}

// Pow returns x to the power of y.
func Pow(x, y float32) float32 {
	fx, fy := float64(x), float64(y)
	size := math.Abs(fx)
	whole := math.Floor(fy) == fy
	negative := math.Signbit(fx) && whole && math.Abs(fy) < 1<<24 && int64(fy)&1 == 1
	var p float64
	switch {
	case y == 0 || x == 1:
		return 1
	case x != x || y != y || x < 0 && !whole && !math.IsInf(fx, 0):
		return float32(math.NaN())
	case size == 1:
		p = 1
	case math.IsInf(fy, 0) || x == 0 || math.IsInf(size, 0):
		if (size > 1) == (fy > 0) {
			p = math.Inf(1)
		}
	default:
		p = exp(float64(fy * log(size)))
	}
	if negative {
		p = -p
	}
	return float32(p)
}
