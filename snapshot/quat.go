package snapshot

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

const (
	maxQuatBits  = 14 // of a component
	quatDefault  = 10
	identity     = 3 // the real component is the fourth
	quatWords    = 4
	maxQuatGrids = 15 // bits on the simulation grid
)

// quat compiles a field tagged quat: four floats x, y, z, w, or four integers that
// are a rotation in the smallest-three form already.
func (c *compiler) quat(t reflect.Type, offset uintptr, path string, g tag) {
	elem, ok := fourOf(t)
	if !ok {
		c.fail(path, "is no quaternion", "use [4]float32 or a struct of four, in the order x, y, z, w; or four integers: the index of the greatest component, and the others")
		return
	}
	if problem, fix, ok := layoutOf(elem); !ok {
		c.fail(path, problem, fix)
		return
	}
	if g.hasMin || g.hasMax || g.hasStep || g.hasSim || g.angle || g.vec || g.tol != 0 {
		c.fail(path, "a rotation has no min, max, step, sim, angle, vec or tol", "choose its bits, as in `net:\"quat,bits=9\"`")
		return
	}
	if !g.hasBits {
		g.bits = quatDefault
	}
	if g.bits > maxQuatBits {
		c.fail(path, fmt.Sprintf("bits=%d is out of range", g.bits), fmt.Sprintf("use 2 to %d", maxQuatBits))
		return
	}
	l := leaf{op: opQuat, offset: offset, shape: &shape{kind: elem.Kind(), size: elem.Size(), bits: g.bits, ratio: 1, lo: -1 << (g.bits - 1), hi: 1<<(g.bits-1) - 1}}
	if l.size < 2 && g.bits > 8 {
		c.fail(path, "the integers are too small", "use wider ones, or bits=8")
		return
	}
	if c.opt.Predicted && l.floats() {
		for k := ratioBits; k > 0 && l.ratio == 1; k-- {
			if g.bits+k <= maxQuatGrids {
				l.ratio = 1 << k
			}
		}
	}
	if c.opt.Exact {
		l.refine(maxQuatBits)
	}
	if g.how() != Snap && !l.floats() {
		c.fail(path, "integers are not interpolated", "drop "+g.how().String()+", or use floats")
		return
	}
	l.setGrids(math.Sqrt2 / float64(int64(1)<<l.bits))
	c.add(t, path, g, l)
}

// fourOf returns the type of the elements of an array or struct of four.
func fourOf(t reflect.Type) (reflect.Type, bool) {
	var elem reflect.Type
	switch {
	case t.Kind() == reflect.Array && t.Len() == 4:
		elem = t.Elem()
	case t.Kind() == reflect.Struct && t.NumField() == 4:
		elem = t.Field(0).Type
		for i := range 4 {
			if f := t.Field(i); f.Type != elem || !f.IsExported() || f.Tag.Get("net") != "" {
				return nil, false
			}
		}
	default:
		return nil, false
	}
	k := elem.Kind()
	return elem, k == reflect.Float32 || k == reflect.Float64 || k >= reflect.Int && k <= reflect.Uint64
}

func (l *leaf) floats() bool { return l.kind == reflect.Float32 || l.kind == reflect.Float64 }

// quatSize is the number of bits of a component's index on a grid.
func (l *leaf) quatSize(g Grid) int { return width(l.grid[g].lo, l.grid[g].hi) }

func (l *leaf) quatCodes(to []wordCode, g Grid) []wordCode {
	size := l.quatSize(g)
	to = append(to, wordCode{word: l.word, lo: 0, hi: 3, size: 2})
	for i := 1; i < quatWords; i++ {
		to = append(to, wordCode{word: l.word + i, lo: l.grid[g].lo, hi: l.grid[g].hi, size: size})
	}
	return to
}

// quantiseQuat writes the words of the rotation at src on the simulation grid.
func (l *leaf) quantiseQuat(src unsafe.Pointer, dst []int32) {
	src = unsafe.Add(src, l.offset)
	if !l.floats() {
		half := int64(1) << (l.bits - 1)
		dst[0] = int32(l.loadElem(src, 0) & 3)
		for i := 1; i < quatWords; i++ {
			dst[i] = int32(min(max(l.loadElem(src, i), 0), 2*half-1) - half)
		}
		return
	}
	var q [4]float64
	for i := range q {
		if l.kind == reflect.Float32 {
			q[i] = float64(*(*float32)(unsafe.Add(src, 4*i)))
		} else {
			q[i] = *(*float64)(unsafe.Add(src, 8*i))
		}
	}
	l.quantiseRotation(q, dst)
}

// quantiseRotation writes the words of a rotation on the simulation grid.
func (l *leaf) quantiseRotation(q [4]float64, dst []int32) {
	sum, top := 0.0, 0
	for i := range q {
		sum += float64(q[i] * q[i])
		if math.Abs(q[i]) > math.Abs(q[top]) {
			top = i
		}
	}
	if !(sum > 1e-30 && sum < 1e30) { // none, not a number, or infinite
		q, sum, top = [4]float64{0, 0, 0, 1}, 1, identity
	}
	s := &l.grid[GridSim]
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
	settle(dst[:quatWords], l.quatSize(GridSim))
}

// settle lowers components until none could be taken for the greatest when the
// words are restored and quantised again.
func settle(w []int32, size int) {
	for again := true; again; {
		again = false
		rest := int64(1) << (2*size - 1)
		for _, c := range w[1:] {
			rest -= int64(c) * int64(c)
		}
		for i, c := range w[1:] {
			if m := abs(int64(c)) + 1; m*m > rest && c != 0 {
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

// publicQuat turns words of the simulation grid into those of the public one. They are
// settled on that grid too: rounding may make two components equal, and who restores
// and quantises them again would take the other one for the greatest.
func (l *leaf) publicQuat(own, pub []int32) {
	pub[0] = own[0]
	for i := 1; i < quatWords; i++ {
		pub[i] = int32(min(int64(l.public(own[i])), l.hi))
	}
	if l.ratio > 1 {
		settle(pub[:quatWords], l.quatSize(GridPublic))
	}
}

// rotation restores the four components of a rotation's words.
func (l *leaf) rotation(w []int32, g Grid) (q [4]float64) {
	step, sum, k := l.grid[g].step, 0.0, 1
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

func (l *leaf) restoreQuat(w []int32, g Grid, dst unsafe.Pointer) {
	if l.floats() {
		l.storeQuat(l.rotation(w, g), dst)
		return
	}
	dst = unsafe.Add(dst, l.offset)
	l.storeElem(dst, 0, int64(w[0]))
	for i := 1; i < quatWords; i++ {
		l.storeElem(dst, i, int64(w[i])+int64(1)<<(l.bits-1))
	}
}

func (l *leaf) storeQuat(q [4]float64, dst unsafe.Pointer) {
	dst = unsafe.Add(dst, l.offset)
	for i, v := range q {
		if l.kind == reflect.Float32 {
			*(*float32)(unsafe.Add(dst, 4*i)) = float32(v)
		} else {
			*(*float64)(unsafe.Add(dst, 8*i)) = v
		}
	}
}

// blendQuat interpolates along the shorter arc: lerp straight and brought back to
// length 1, which for the small turns between two snapshots is within a hair of what
// slerp does. Beyond b both go on straight.
func (l *leaf) blendQuat(a, b []int32, f float64, g Grid, dst unsafe.Pointer) {
	p, q := l.rotation(a, g), l.rotation(b, g)
	d := float64(p[0]*q[0]) + float64(p[1]*q[1]) + float64(p[2]*q[2]) + float64(p[3]*q[3])
	u := f
	if d < 0 {
		u = -f
	}
	rest := 1 - f
	if l.how == Slerp && f < 1 {
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

func (l *leaf) loadElem(p unsafe.Pointer, i int) int64 {
	e := leaf{op: opInt8, offset: uintptr(i) * l.size}
	if l.kind >= reflect.Uint {
		e.op = opUint8
	}
	for s := uintptr(1); s < l.size; s *= 2 {
		e.op++
	}
	return e.loadInt(p)
}

func (l *leaf) storeElem(p unsafe.Pointer, i int, v int64) {
	e := leaf{op: opUint8, offset: uintptr(i) * l.size}
	for s := uintptr(1); s < l.size; s *= 2 {
		e.op++
	}
	e.storeInt(p, v)
}

// packQuat writes a rotation in its packed form: two bits and three components.
func (l *leaf) packQuat(src unsafe.Pointer, w *BitWriter) {
	var own, pub [quatWords]int32
	l.quantiseQuat(src, own[:])
	l.publicQuat(own[:], pub[:])
	w.Write(uint64(pub[0]), 2)
	for _, c := range pub[1:] {
		w.Write(uint64(int64(c)-l.lo), l.bits)
	}
}

func (l *leaf) unpackQuat(r *BitReader, dst unsafe.Pointer) {
	var w [quatWords]int32
	w[0] = int32(r.Read(2))
	for i := 1; i < quatWords; i++ {
		w[i] = int32(l.lo + int64(r.Read(l.bits)))
	}
	l.restoreQuat(w[:], GridPublic, dst)
}
