package quantise

import (
	"math"
	"unsafe"

	"github.com/foretick/foretick/internal/coder"
)

// blend writes the value at fraction f from a to b, in a straight line.
func (l *Leaf) blend(a, b []int32, f float64, g Grid, dst unsafe.Pointer) {
	if l.Stepped() {
		d := int64(b[l.Word]) - int64(a[l.Word])
		if l.Angle() {
			n := l.Grid[g].hi - l.Grid[g].lo + 1
			d = coder.Wrap(d, n)
		}
		v := (float64(a[l.Word]) + float64(float64(d)*f)) * l.Grid[g].Step
		if l.Angle() && v >= math.Pi {
			v -= 2 * math.Pi
		} else if l.Angle() && v < -math.Pi {
			v += 2 * math.Pi
		}
		l.storeFloat(dst, v)
		return
	}
	x, y := l.float(a, g), l.float(b, g)
	v := float64(x*(1-f)) + float64(y*f)
	if l.Class.Integer() {
		// From 2⁶³ on, converting to int64 would not be defined.
		if v >= math.MaxInt64 {
			l.restore(a, g, nil, dst)
			return
		}
		l.storeInt(dst, int64(math.RoundToEven(v)))
		return
	}
	l.storeFloat(dst, v)
}
