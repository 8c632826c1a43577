package snapshot

import (
	"math"
	"unicode/utf8"
	"unsafe"
)

// PackedSize is the number of bytes of a packed value; of one with strings or
// slices (see [Schema.Varies]) the greatest.
func (s *Schema) PackedSize() int { return (s.packBits + 7) / 8 }

// Pack appends the value at src to dst at the public step in PackedSize bytes:
// each field in its [Field.Bits], unsigned from the lower end of its range, least
// significant bit first. A string is its length and its bytes, a slice its length and
// its elements, and no more. For commands and events. References are packed as none:
// see [Schema.PackRefs].
func (s *Schema) Pack(src unsafe.Pointer, dst []byte) []byte { return s.PackRefs(src, nil, dst) }

// PackRefs is Pack with references translated by refs into wire ids, 16 bits each.
func (s *Schema) PackRefs(src unsafe.Pointer, refs Refs, dst []byte) []byte {
	if s.via != nil {
		src, s = s.via.load(src), s.via.wire
	}
	var w BitWriter
	w.Reset(dst)
	if len(s.lists) == 0 {
		pack(s.leaves, src, refs, &w)
		return w.Bytes()
	}
	s.parts(func(leaves []leaf) { pack(leaves, src, refs, &w) }, func(l *list) {
		data, n := l.get(src)
		n = min(n, l.most)
		w.Write(uint64(n), s.leaves[l.from-1].bits)
		pack(l.leaves(s, n), data, refs, &w)
	})
	return w.Bytes()
}

// pack packs some leaves.
func pack(leaves []leaf, src unsafe.Pointer, refs Refs, w *BitWriter) {
	for i := range leaves {
		l := &leaves[i]
		if l.op == opQuat {
			l.packQuat(src, w)
			continue
		}
		if l.op == opText {
			l.packText(src, w)
			continue
		}
		var v uint64
		switch {
		case l.stepped():
			v = uint64(int64(l.public(l.index(l.loadFloat(src), GridSim))) - l.lo)
		case l.op <= opUint64 && l.wide:
			v = uint64(l.clampInt(l.loadInt(src)))
		case l.op <= opUint64:
			v = uint64(l.clampInt(l.loadInt(src)) - l.lo)
		case l.op == opFloat32:
			v = uint64(math.Float32bits(float32(finite(l.loadFloat(src)))))
		case l.op == opFloat64:
			v = math.Float64bits(finite(l.loadFloat(src)))
		default:
			if e := *(*uint64)(unsafe.Add(src, l.offset)); e != 0 && refs != nil {
				if n := refs.Net(e); n <= math.MaxUint16 {
					v = uint64(n)
				}
			}
		}
		w.Write(v, l.bits)
	}
}

func finite(v float64) float64 {
	if v != v || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// Unpack reads a value packed by Pack into dst; b is all of it. A value outside its range, a NaN, an infinity or a set padding bit is
// [ErrMalformed], and dst is then unchanged but for fields before the fault.
// Stepped floats arrive on the public grid: a client that predicts with a command
// must use what Unpack makes of it. References become none: see UnpackRefs.
func (s *Schema) Unpack(b []byte, dst unsafe.Pointer) error { return s.UnpackRefs(b, nil, dst) }

// UnpackRefs is Unpack with references, wire ids, translated by refs.
func (s *Schema) UnpackRefs(b []byte, refs Refs, dst unsafe.Pointer) error {
	if len(b) > s.PackedSize() || len(b) < s.PackedSize() && s.Varies() < 0 {
		return malformed("packed size")
	}
	if v := s.via; v != nil {
		if err := v.wire.UnpackRefs(b, refs, v.in); err != nil {
			return err
		}
		v.store(v.in, dst, everything)
		return nil
	}
	var r BitReader
	r.Reset(b)
	for i := 0; i < len(s.leaves); i++ {
		l := &s.leaves[i]
		if l.op != opLength {
			if !l.unpackFrom(&r, refs, dst) {
				return malformed("packed " + s.name + "." + s.nameOf(i).name)
			}
			continue
		}
		li := &s.lists[l.list]
		n := int(r.Read(l.bits))
		if n > li.most || r.bad {
			return malformed("packed " + s.name + "." + s.nameOf(i).name)
		}
		at := li.fit(dst, n)
		for k := range li.leaves(s, n) {
			if !s.leaves[li.from+k].unpackFrom(&r, refs, at) {
				return malformed("packed " + s.name + "." + s.nameOf(li.from+k).name)
			}
		}
		i = li.end() - 1
	}
	if !r.end() {
		return malformed("padding")
	}
	return nil
}

func (l *leaf) unpackFrom(r *BitReader, refs Refs, dst unsafe.Pointer) bool {
	switch l.op {
	case opQuat:
		l.unpackQuat(r, dst)
		return true
	case opText:
		return l.unpackText(r, dst)
	}
	return l.unpack(r.Read(l.bits), refs, dst)
}

func (l *leaf) unpack(v uint64, refs Refs, dst unsafe.Pointer) bool {
	switch {
	case l.op == opFloat32 || l.op == opFloat64:
		x := math.Float64frombits(v)
		if l.op == opFloat32 {
			x = float64(math.Float32frombits(uint32(v)))
		}
		if x != finite(x) {
			return false
		}
		l.storeFloat(dst, x)
	case l.op == opRef:
		var e uint64
		if v != 0 && refs != nil {
			e = refs.Entity(uint32(v))
		}
		*(*uint64)(unsafe.Add(dst, l.offset)) = e
	case l.wide:
		if l.clampInt(int64(v)) != int64(v) {
			return false
		}
		l.storeInt(dst, int64(v))
	case v > uint64(l.hi-l.lo):
		return false
	case l.stepped():
		l.storeFloat(dst, l.value(int32(l.lo+int64(v)), GridPublic))
	default:
		l.storeInt(dst, l.lo+int64(v))
	}
	return true
}

// ClearOneShots sets every field tagged oneshot to false: when a command is repeated.
func (s *Schema) ClearOneShots(p unsafe.Pointer) {
	if s.via != nil {
		s = s.via.own
	}
	for i := range s.leaves {
		if l := &s.leaves[i]; l.shot {
			l.storeInt(p, 0)
		}
	}
}

// MergeOneShots sets the fields tagged oneshot of dst that are set in src: when two
// commands fall into one tick.
func (s *Schema) MergeOneShots(dst, src unsafe.Pointer) {
	if s.via != nil {
		s = s.via.own
	}
	for i := range s.leaves {
		if l := &s.leaves[i]; l.shot && l.loadInt(src) != 0 {
			l.storeInt(dst, 1)
		}
	}
}

// packText packs a string, cut to what fits.
func (l *leaf) packText(src unsafe.Pointer, w *BitWriter) {
	var buf [maxText]byte
	b := l.sent(buf[:0], src)
	w.Write(uint64(len(b)), l.bits)
	for _, c := range b {
		w.Write(uint64(c), 8)
	}
}

func (l *leaf) unpackText(r *BitReader, dst unsafe.Pointer) bool {
	var buf [maxText]byte
	n := int(r.Read(l.bits))
	if int64(n) > l.hi {
		return false
	}
	b := buf[:0]
	for range n {
		b = append(b, byte(r.Read(8)))
	}
	if r.bad || !utf8.Valid(b) {
		return false
	}
	l.setText(dst, b)
	return true
}
