package snapshot

import (
	"math"
	"slices"
	"unsafe"
)

// Quantise writes the words of the value at src to dst, which holds at least
// [Schema.Words]. NaN becomes 0, and what lies outside its range the nearest end.
// References go through refs; with nil refs they are none. Fields for the owner
// are written on either grid.
func (s *Schema) Quantise(src unsafe.Pointer, g Grid, refs Refs, dst []int32) {
	if s.via != nil {
		src, s = s.via.load(src), s.via.wire
	}
	dst = dst[:s.words]
	if len(s.lists) == 0 {
		quantise(s.leaves, src, g, refs, dst)
		return
	}
	s.parts(func(leaves []leaf) { quantise(leaves, src, g, refs, dst) }, func(l *list) {
		data, n := l.get(src)
		n = min(n, l.most)
		dst[l.word-1] = int32(n)
		quantise(l.leaves(s, n), data, g, refs, dst)
		from, to := l.word+n*l.words, l.word+l.most*l.words
		copy(dst[from:to], s.rest[g][from:to])
	})
}

// quantise does so for some leaves.
func quantise(leaves []leaf, src unsafe.Pointer, g Grid, refs Refs, dst []int32) {
	for i := range leaves {
		l := &leaves[i]
		switch {
		case l.op == opQuat:
			var own [quatWords]int32
			l.quantiseQuat(src, own[:])
			if g == GridPublic {
				l.publicQuat(own[:], dst[l.word:])
			} else {
				copy(dst[l.word:], own[:])
			}
		case l.op >= opStep32 && l.op <= opAngle64:
			// By way of the simulation grid, so that both ends of a word agree.
			w := l.index(l.loadFloat(src), GridSim)
			if g == GridPublic {
				w = l.public(w)
			}
			dst[l.word] = w
		case l.op <= opUint64:
			v := l.clampInt(l.loadInt(src))
			dst[l.word] = int32(v)
			if l.wide {
				dst[l.word+1] = int32(v >> 32)
			}
		case l.op == opFloat32:
			v := *(*float32)(unsafe.Add(src, l.offset))
			if v != v {
				v = 0
			}
			dst[l.word] = int32(math.Float32bits(v))
		case l.op == opFloat64:
			v := l.loadFloat(src)
			if v != v {
				v = 0
			}
			u := math.Float64bits(v)
			dst[l.word], dst[l.word+1] = int32(u), int32(u>>32)
		case l.op == opText:
			l.quantiseText(src, dst)
		default:
			dst[l.word] = 0
			if e := *(*uint64)(unsafe.Add(src, l.offset)); e != 0 && refs != nil {
				dst[l.word] = int32(refs.Net(e))
			}
		}
	}
}

// Dequantise writes the value of the words src on grid g to dst. Fields that are
// not sent keep what dst has.
func (s *Schema) Dequantise(src []int32, g Grid, refs Refs, dst unsafe.Pointer) {
	s.dequantise(src, g, refs, dst, everything)
}

// DequantiseMasked is Dequantise for a viewer of no class: fields that are not for
// everybody keep what dst has.
func (s *Schema) DequantiseMasked(src []int32, g Grid, refs Refs, dst unsafe.Pointer) {
	s.dequantise(src, g, refs, dst, audiencePublic)
}

// DequantiseFor is Dequantise for a viewer of the given classes: fields that it does
// not receive keep what dst has.
func (s *Schema) DequantiseFor(a Audience, src []int32, g Grid, refs Refs, dst unsafe.Pointer) {
	s.dequantise(src, g, refs, dst, a)
}

func (s *Schema) dequantise(src []int32, g Grid, refs Refs, dst unsafe.Pointer, a audience) {
	if v := s.via; v != nil {
		v.wire.dequantise(src, g, refs, v.in, a)
		v.store(v.in, dst, a)
		return
	}
	src = src[:s.words]
	if len(s.lists) == 0 {
		restore(s.leaves, src, g, refs, dst, a)
		return
	}
	s.parts(func(leaves []leaf) { restore(leaves, src, g, refs, dst, a) }, func(l *list) {
		if s.leaves[l.from-1].seenBy(a) {
			n := l.length(src)
			restore(l.leaves(s, n), src, g, refs, l.fit(dst, n), a)
		}
	})
}

// restore writes the values of some leaves.
func restore(leaves []leaf, src []int32, g Grid, refs Refs, dst unsafe.Pointer, a audience) {
	for i := range leaves {
		if l := &leaves[i]; l.seenBy(a) {
			l.restore(src, g, refs, dst)
		}
	}
}

func (l *leaf) restore(src []int32, g Grid, refs Refs, dst unsafe.Pointer) {
	switch {
	case l.op >= opStep32 && l.op <= opAngle64:
		l.storeFloat(dst, l.value(src[l.word], g))
	case l.op <= opUint64:
		l.storeInt(dst, l.wordInt(src))
	case l.op == opFloat32:
		*(*uint32)(unsafe.Add(dst, l.offset)) = uint32(src[l.word])
	case l.op == opFloat64:
		*(*uint64)(unsafe.Add(dst, l.offset)) = l.wide64(src)
	case l.op == opQuat:
		l.restoreQuat(src[l.word:], g, dst)
	case l.op == opText:
		l.restoreText(src, dst)
	default:
		var e uint64
		if src[l.word] != 0 && refs != nil {
			e = refs.Entity(uint32(src[l.word]))
		}
		*(*uint64)(unsafe.Add(dst, l.offset)) = e
	}
}

func (l *leaf) wide64(src []int32) uint64 {
	return uint64(uint32(src[l.word])) | uint64(uint32(src[l.word+1]))<<32
}

func (l *leaf) wordInt(src []int32) int64 {
	switch {
	case l.wide:
		return int64(l.wide64(src))
	case l.hi > math.MaxInt32:
		return int64(uint32(src[l.word]))
	default:
		return int64(src[l.word])
	}
}

// Snap rounds the value at p to the simulation grid, in place: what its owner will
// read from a snapshot. Both ends call it after each tick of predicted components.
// Snapping twice changes nothing. References are left alone.
func (s *Schema) Snap(p unsafe.Pointer) {
	if v := s.via; v != nil {
		v.wire.Snap(v.load(p))
		v.store(v.out, p, everything)
		return
	}
	if len(s.lists) == 0 {
		snap(s.leaves, p)
		return
	}
	s.parts(func(leaves []leaf) { snap(leaves, p) }, func(l *list) {
		l.cut(p)
		data, n := l.get(p)
		snap(l.leaves(s, n), data)
	})
}

// DropRefs makes those references of the value at p none whose entity is not alive, as
// alive reports. Both ends call it after each tick of predicted components: the wire
// cannot tell a reference to what is gone from none.
func (s *Schema) DropRefs(p unsafe.Pointer, alive func(entity uint64) bool) {
	if v := s.via; v != nil {
		v.wire.DropRefs(v.load(p), alive)
		v.store(v.out, p, everything)
		return
	}
	if len(s.lists) == 0 {
		dropRefs(s.leaves, p, alive)
		return
	}
	s.parts(func(leaves []leaf) { dropRefs(leaves, p, alive) }, func(l *list) {
		data, n := l.get(p)
		dropRefs(l.leaves(s, min(n, l.most)), data, alive)
	})
}

func dropRefs(leaves []leaf, p unsafe.Pointer, alive func(entity uint64) bool) {
	for i := range leaves {
		if l := &leaves[i]; l.op == opRef {
			if e := (*uint64)(unsafe.Add(p, l.offset)); *e != 0 && !alive(*e) {
				*e = 0
			}
		}
	}
}

// snap rounds the values of some leaves.
func snap(leaves []leaf, p unsafe.Pointer) {
	for i := range leaves {
		l := &leaves[i]
		switch {
		case l.op == opQuat:
			var w [quatWords]int32
			l.quantiseQuat(p, w[:])
			l.restoreQuat(w[:], GridSim, p)
		case l.stepped():
			l.storeFloat(p, l.value(l.index(l.loadFloat(p), GridSim), GridSim))
		case l.op <= opUint64:
			if v := l.loadInt(p); l.clampInt(v) != v {
				l.storeInt(p, l.clampInt(v))
			}
		case l.op <= opFloat64:
			if v := l.loadFloat(p); v != v {
				l.storeFloat(p, 0)
			}
		case l.op == opText:
			l.snapText(p)
		}
	}
}

// publish turns a vector for the owner into one for all others: fields for the
// owner alone are 0, and indices are those of the public grid.
func (s *Schema) publish(own, pub []int32) {
	copy(pub, own)
	if s.sameLanes {
		return
	}
	for i := range s.leaves {
		if l := &s.leaves[i]; l.aud == ToOwner {
			l.blank(pub)
		} else {
			l.publish(own, pub)
		}
	}
}

// publish turns words on the simulation grid into those on the public one.
func (l *leaf) publish(own, pub []int32) {
	switch {
	case l.op == opQuat:
		l.publicQuat(own[l.word:], pub[l.word:])
	case l.stepped():
		pub[l.word] = l.public(own[l.word])
	}
}

// FirstDifference returns the index in [Schema.Fields] of the first field in which
// two vectors on the simulation grid differ by more than its tolerance, or −1.
func (s *Schema) FirstDifference(a, b []int32) int {
	a, b = a[:s.words], b[:s.words]
	for i := range s.leaves {
		l := &s.leaves[i]
		if a[l.word] == b[l.word] && (!l.wide || a[l.word+1] == b[l.word+1]) && (l.op < opQuat || slices.Equal(a[l.word:l.word+l.words()], b[l.word:l.word+l.words()])) {
			continue
		}
		if (l.tol == 0 || l.distance(a, b) > l.tol) && (s.via == nil || !s.via.same(i, a, b)) {
			return i
		}
	}
	return -1
}

// Differs reports whether one field, by its index in [Schema.Fields], differs as
// [Schema.FirstDifference] sees it.
func (s *Schema) Differs(field int, a, b []int32) bool {
	l := &s.leaves[field]
	if slices.Equal(a[l.word:l.word+l.words()], b[l.word:l.word+l.words()]) {
		return false
	}
	return (l.tol == 0 || l.distance(a, b) > l.tol) && (s.via == nil || !s.via.same(field, a, b))
}

// distance is how far apart two values are, in the field's unit.
func (l *leaf) distance(a, b []int32) float64 {
	x, y := l.float(a, GridSim), l.float(b, GridSim)
	if l.angle() {
		n := l.grid[GridSim].hi - l.grid[GridSim].lo + 1
		return math.Abs(float64(wrap(int64(a[l.word])-int64(b[l.word]), n))) * l.grid[GridSim].step
	}
	return math.Abs(x - y)
}

// float is the value of a leaf's words as a number.
func (l *leaf) float(w []int32, g Grid) float64 {
	switch {
	case l.stepped():
		return l.value(w[l.word], g)
	case l.op == opFloat32:
		return float64(math.Float32frombits(uint32(w[l.word])))
	case l.op == opFloat64:
		return math.Float64frombits(l.wide64(w))
	default:
		return float64(l.wordInt(w))
	}
}

// wrap brings d into [−n/2, n/2), n being a power of two.
func wrap(d, n int64) int64 { return (d+n/2)&(n-1) - n/2 }
