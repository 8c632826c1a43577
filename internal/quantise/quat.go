package quantise

import (
	"math"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/internal/coder"
)

const (
	MaxQuatBits  = 14 // most bits of a component
	QuatDefault  = 10
	identity     = 3  // index of the real component, the greatest one of the identity rotation
	MaxQuatGrids = 15 // most bits of a component on the simulation grid
)

// Floats reports whether the rotation's four numbers are floats. Otherwise they are integers.
func (l *Leaf) Floats() bool { return l.Kind == reflect.Float32 || l.Kind == reflect.Float64 }

// quatSize returns the number of bits of a component's index on a grid.
func (l *Leaf) quatSize(g Grid) int { return coder.Width(l.Grid[g].lo, l.Grid[g].hi) }

func (l *Leaf) quatCodes(to []coder.Code, g Grid) []coder.Code {
	size := l.quatSize(g)
	to = append(to, coder.Code{Word: l.Word, Lo: 0, Hi: 3, Size: 2})
	for i := 1; i < coder.QuatWords; i++ {
		to = append(to, coder.Code{Word: l.Word + i, Lo: l.Grid[g].lo, Hi: l.Grid[g].hi, Size: size})
	}
	return to
}

// quantiseQuat writes the words of the rotation at src on the simulation grid.
func (l *Leaf) quantiseQuat(src unsafe.Pointer, dst []int32) {
	src = unsafe.Add(src, l.Offset)
	if !l.Floats() {
		half := int64(1) << (l.Bits - 1)
		dst[0] = int32(l.loadElem(src, 0) & 3)
		for i := 1; i < coder.QuatWords; i++ {
			dst[i] = int32(min(max(l.loadElem(src, i), 0), 2*half-1) - half)
		}
		return
	}
	var q [4]float64
	for i := range q {
		if l.Kind == reflect.Float32 {
			q[i] = float64(*(*float32)(unsafe.Add(src, 4*i)))
		} else {
			q[i] = *(*float64)(unsafe.Add(src, 8*i))
		}
	}
	l.quantiseRotation(q, dst)
}

// quantiseRotation writes the words of a rotation on the simulation grid.
func (l *Leaf) quantiseRotation(q [4]float64, dst []int32) {
	sum, top := 0.0, 0
	for i := range q {
		sum += float64(q[i] * q[i])
		if math.Abs(q[i]) > math.Abs(q[top]) {
			top = i
		}
	}
	if !(sum > 1e-30 && sum < 1e30) { // zero, not a number, or infinite
		q, sum, top = [4]float64{0, 0, 0, 1}, 1, identity
	}
	s := &l.Grid[GridSim]
	unit := s.inv / math.Sqrt(sum)
	if q[top] < 0 {
		unit = -unit
	}
	dst[0] = int32(top)
	k := 1
	for i := range q {
		if i != top {
			x := math.RoundToEven(float64(q[i] * unit))
			dst[k] = int32(min(max(x, float64(s.lo)), float64(s.hi)))
			k++
		}
	}
	settle(dst[:coder.QuatWords], l.quatSize(GridSim))
}

// settle lowers components until none could become the greatest when the words are
// restored and quantised again.
func settle(w []int32, size int) {
	for again := true; again; {
		again = false
		rest := int64(1) << (2*size - 1)
		for _, c := range w[1:] {
			rest -= int64(c) * int64(c)
		}
		for i, c := range w[1:] {
			if m := max(int64(c), -int64(c)) + 1; m*m > rest && c != 0 {
				if again = true; c > 0 {
					w[1+i]--
				} else {
					w[1+i]++
				}
				break
			}
		}
	}
}

// publicQuat converts words of the simulation grid to the public one. They are settled
// on that grid too: rounding may make two components equal. Then quantising the
// restored value again would choose the other one as the greatest.
func (l *Leaf) publicQuat(own, pub []int32) {
	pub[0] = own[0]
	for i := 1; i < coder.QuatWords; i++ {
		pub[i] = int32(min(int64(l.public(own[i])), l.Hi))
	}
	if l.Ratio > 1 {
		settle(pub[:coder.QuatWords], l.quatSize(GridPublic))
	}
}

// rotation restores the four components of a rotation's words.
func (l *Leaf) rotation(w []int32, g Grid) (q [4]float64) {
	step, sum, k := l.Grid[g].Step, 0.0, 1
	for i := range q {
		if i != int(w[0]) {
			q[i] = float64(w[k]) * step
			sum += float64(q[i] * q[i])
			k++
		}
	}
	q[w[0]&3] = math.Sqrt(max(1-sum, 0))
	return q
}

func (l *Leaf) restoreQuat(w []int32, g Grid, dst unsafe.Pointer) {
	if l.Floats() {
		l.storeQuat(l.rotation(w, g), dst)
		return
	}
	dst = unsafe.Add(dst, l.Offset)
	l.storeElem(dst, 0, int64(w[0]))
	for i := 1; i < coder.QuatWords; i++ {
		l.storeElem(dst, i, int64(w[i])+int64(1)<<(l.Bits-1))
	}
}

// blendQuat interpolates along the shorter arc. lerp is straight and normalised. For
// the small turns between two snapshots that is very close to slerp. Beyond b both
// continue straight.
func (l *Leaf) blendQuat(a, b []int32, f float64, g Grid, dst unsafe.Pointer) {
	p, q := l.rotation(a, g), l.rotation(b, g)
	d := float64(p[0]*q[0]) + float64(p[1]*q[1]) + float64(p[2]*q[2]) + float64(p[3]*q[3])
	u := f
	if d < 0 {
		u = -f
	}
	rest := 1 - f
	if l.Interpolation == Slerp && f < 1 {
		if angle := math.Acos(min(math.Abs(d), 1)); angle > 1e-4 {
			sin := 1 / math.Sin(angle)
			rest, u = math.Sin(float64(rest*angle))*sin, math.Copysign(math.Sin(float64(f*angle))*sin, u)
		}
	}
	sum := 0.0
	for i := range p {
		p[i] = float64(p[i]*rest) + float64(q[i]*u)
		sum += float64(p[i] * p[i])
	}
	if sum < 1e-12 {
		l.restoreQuat(a, g, dst)
		return
	}
	n := 1 / math.Sqrt(sum)
	for i := range p {
		p[i] *= n
	}
	l.storeQuat(p, dst)
}

func (l *Leaf) loadElem(p unsafe.Pointer, i int) int64 {
	e := Leaf{Class: IntegerOf(l.Size, l.Kind < reflect.Uint), Offset: uintptr(i) * l.Size}
	return e.loadInt(p)
}

// packQuat writes a rotation in its packed form: two bits and three components.
func (l *Leaf) packQuat(src unsafe.Pointer, w *coder.BitWriter) {
	var own, pub [coder.QuatWords]int32
	l.quantiseQuat(src, own[:])
	l.publicQuat(own[:], pub[:])
	w.Write(uint64(pub[0]), 2)
	for _, c := range pub[1:] {
		w.Write(uint64(int64(c)-l.Lo), l.Bits)
	}
}
