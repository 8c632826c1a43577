package quantise

import (
	"math"
	"slices"
	"unsafe"

	"github.com/foretick/foretick/internal/coder"
)

// Quantise is [schema.Schema.Quantise].
func (s *Plan) Quantise(src unsafe.Pointer, g Grid, refs Refs, dst []int32) {
	if s.via != nil {
		src, s = s.via.toWire(src), s.via.Wire
	}
	dst = dst[:s.Words]
	if len(s.Lists) == 0 {
		quantise(s.Leaves, src, g, refs, dst)
		return
	}
	s.parts(func(leaves []Leaf) { quantise(leaves, src, g, refs, dst) }, func(l *List) {
		data, n := l.get(src)
		n = min(n, l.Most)
		dst[l.Word-1] = int32(n)
		quantise(l.leaves(s, n), data, g, refs, dst)
		from, to := l.Word+n*l.Words, l.Word+l.Most*l.Words
		copy(dst[from:to], s.rest[g][from:to])
	})
}

// quantise does the same as Quantise for some leaves.
func quantise(leaves []Leaf, src unsafe.Pointer, g Grid, refs Refs, dst []int32) {
	for i := range leaves {
		l := &leaves[i]
		switch {
		case l.Class == Quat:
			var own [coder.QuatWords]int32
			l.quantiseQuat(src, own[:])
			if g == GridPublic {
				l.publicQuat(own[:], dst[l.Word:])
			} else {
				copy(dst[l.Word:], own[:])
			}
		case l.Stepped():
			// Go by way of the simulation grid, so that the word is the one that Publish makes.
			w := l.index(l.loadFloat(src), GridSim)
			if g == GridPublic {
				w = l.public(w)
			}
			dst[l.Word] = w
		case l.Class.Integer():
			v := l.clampInt(l.loadInt(src))
			dst[l.Word] = int32(v)
			if l.Wide {
				dst[l.Word+1] = int32(v >> 32)
			}
		case l.Class == Float32:
			dst[l.Word] = int32(math.Float32bits(float32(l.finite(l.loadFloat(src)))))
		case l.Class == Float64:
			u := math.Float64bits(l.finite(l.loadFloat(src)))
			dst[l.Word], dst[l.Word+1] = int32(u), int32(u>>32)
		case l.Class == Text:
			l.quantiseText(src, dst)
		default:
			dst[l.Word] = 0
			if e := *(*uint64)(unsafe.Add(src, l.Offset)); e != 0 && refs != nil {
				dst[l.Word] = int32(refs.Net(e))
			}
		}
	}
}

// Dequantise writes the value of the words src on grid g to dst, for an audience.
// Fields that the audience does not receive stay unchanged in dst.
func (s *Plan) Dequantise(src []int32, g Grid, refs Refs, dst unsafe.Pointer, a Audience) {
	if v := s.via; v != nil {
		v.Wire.Dequantise(src, g, refs, v.in, a)
		v.store(v.in, dst, a)
		return
	}
	src = src[:s.Words]
	if len(s.Lists) == 0 {
		restore(s.Leaves, src, g, refs, dst, a)
		return
	}
	s.parts(func(leaves []Leaf) { restore(leaves, src, g, refs, dst, a) }, func(l *List) {
		if s.Leaves[l.From-1].SeenBy(a) {
			n := l.Length(src)
			restore(l.leaves(s, n), src, g, refs, l.fit(dst, n), a)
		}
	})
}

// restore writes the values of some leaves.
func restore(leaves []Leaf, src []int32, g Grid, refs Refs, dst unsafe.Pointer, a Audience) {
	for i := range leaves {
		if l := &leaves[i]; l.SeenBy(a) {
			l.restore(src, g, refs, dst)
		}
	}
}

func (l *Leaf) restore(src []int32, g Grid, refs Refs, dst unsafe.Pointer) {
	switch {
	case l.Stepped():
		l.storeFloat(dst, l.floatOf(src[l.Word], g))
	case l.Class.Integer():
		l.storeInt(dst, l.wordInt(src))
	case l.Class == Float32:
		*(*uint32)(unsafe.Add(dst, l.Offset)) = uint32(src[l.Word])
	case l.Class == Float64:
		*(*uint64)(unsafe.Add(dst, l.Offset)) = l.wide64(src)
	case l.Class == Quat:
		l.restoreQuat(src[l.Word:], g, dst)
	case l.Class == Text:
		l.restoreText(src, dst)
	default:
		var e uint64
		if src[l.Word] != 0 && refs != nil {
			e = refs.Entity(uint32(src[l.Word]))
		}
		*(*uint64)(unsafe.Add(dst, l.Offset)) = e
	}
}

func (l *Leaf) wide64(src []int32) uint64 {
	return uint64(uint32(src[l.Word])) | uint64(uint32(src[l.Word+1]))<<32
}

func (l *Leaf) wordInt(src []int32) int64 {
	switch {
	case l.Wide:
		return int64(l.wide64(src))
	case l.Hi > math.MaxInt32:
		return int64(uint32(src[l.Word]))
	default:
		return int64(src[l.Word])
	}
}

// Snap is [schema.Schema.Snap].
func (s *Plan) Snap(p unsafe.Pointer) {
	if v := s.via; v != nil {
		v.Wire.Snap(v.toWire(p))
		v.store(v.out, p, Everything)
		return
	}
	if len(s.Lists) == 0 {
		snap(s.Leaves, p)
		return
	}
	s.parts(func(leaves []Leaf) { snap(leaves, p) }, func(l *List) {
		l.cut(p)
		data, n := l.get(p)
		snap(l.leaves(s, n), data)
	})
}

// DropRefs is [schema.Schema.DropRefs].
func (s *Plan) DropRefs(p unsafe.Pointer, alive func(entity uint64) bool) {
	if v := s.via; v != nil {
		v.Wire.DropRefs(v.toWire(p), alive)
		v.store(v.out, p, Everything)
		return
	}
	if len(s.Lists) == 0 {
		dropRefs(s.Leaves, p, alive)
		return
	}
	s.parts(func(leaves []Leaf) { dropRefs(leaves, p, alive) }, func(l *List) {
		data, n := l.get(p)
		dropRefs(l.leaves(s, min(n, l.Most)), data, alive)
	})
}

func dropRefs(leaves []Leaf, p unsafe.Pointer, alive func(entity uint64) bool) {
	for i := range leaves {
		if l := &leaves[i]; l.Class == Ref {
			if e := (*uint64)(unsafe.Add(p, l.Offset)); *e != 0 && !alive(*e) {
				*e = 0
			}
		}
	}
}

// snap rounds the values of some leaves.
func snap(leaves []Leaf, p unsafe.Pointer) {
	for i := range leaves {
		l := &leaves[i]
		switch {
		case l.Class == Quat:
			var w [coder.QuatWords]int32
			l.quantiseQuat(p, w[:])
			l.restoreQuat(w[:], GridSim, p)
		case l.Stepped():
			l.storeFloat(p, l.floatOf(l.index(l.loadFloat(p), GridSim), GridSim))
		case l.Class.Integer():
			if v := l.loadInt(p); l.clampInt(v) != v {
				l.storeInt(p, l.clampInt(v))
			}
		case l.Class.Raw():
			if v := l.loadFloat(p); v-v != 0 {
				l.storeFloat(p, l.finite(v))
			}
		case l.Class == Text:
			l.snapText(p)
		}
	}
}

// Publish converts a vector for the owner into one for all others. Fields for the owner
// alone become 0, and indices become those of the public grid.
func (s *Plan) Publish(own, pub []int32) {
	copy(pub, own)
	if s.sameLanes {
		return
	}
	for i := range s.Leaves {
		if l := &s.Leaves[i]; l.Audience == ToOwner {
			l.blank(pub)
		} else {
			l.publish(own, pub)
		}
	}
}

// publish converts words on the simulation grid to the public grid.
func (l *Leaf) publish(own, pub []int32) {
	switch {
	case l.Class == Quat:
		l.publicQuat(own[l.Word:], pub[l.Word:])
	case l.Stepped():
		pub[l.Word] = l.public(own[l.Word])
	}
}

// FirstDifference is [schema.Schema.FirstDifference].
func (s *Plan) FirstDifference(a, b []int32) int {
	a, b = a[:s.Words], b[:s.Words]
	for i := range s.Leaves {
		l := &s.Leaves[i]
		if a[l.Word] == b[l.Word] && (!l.Wide || a[l.Word+1] == b[l.Word+1]) && (!l.Class.long() || slices.Equal(a[l.Word:l.Word+l.Words()], b[l.Word:l.Word+l.Words()])) {
			continue
		}
		if (l.Tolerance == 0 || l.distance(a, b) > l.Tolerance) && (s.via == nil || !s.via.same(i, a, b)) {
			return i
		}
	}
	return -1
}

// Differs is [schema.Schema.Differs].
func (s *Plan) Differs(field int, a, b []int32) bool {
	l := &s.Leaves[field]
	if slices.Equal(a[l.Word:l.Word+l.Words()], b[l.Word:l.Word+l.Words()]) {
		return false
	}
	return (l.Tolerance == 0 || l.distance(a, b) > l.Tolerance) && (s.via == nil || !s.via.same(field, a, b))
}

// distance returns the distance between two values, in the field's unit.
func (l *Leaf) distance(a, b []int32) float64 {
	x, y := l.float(a, GridSim), l.float(b, GridSim)
	if l.Angle() {
		n := l.Grid[GridSim].hi - l.Grid[GridSim].lo + 1
		return math.Abs(float64(coder.Wrap(int64(a[l.Word])-int64(b[l.Word]), n))) * l.Grid[GridSim].Step
	}
	return math.Abs(x - y)
}

// float returns a leaf's words as a number.
func (l *Leaf) float(w []int32, g Grid) float64 {
	switch {
	case l.Stepped():
		return l.floatOf(w[l.Word], g)
	case l.Class == Float32:
		return float64(math.Float32frombits(uint32(w[l.Word])))
	case l.Class == Float64:
		return math.Float64frombits(l.wide64(w))
	default:
		return float64(l.wordInt(w))
	}
}
