package plan

import (
	"math"
	"unicode/utf8"
	"unsafe"

	"github.com/foretick/foretick/internal/coder"
)

// PackedSize is [schema.Schema.PackedSize].
func (s *Plan) PackedSize() int { return (s.PackBits + 7) / 8 }

// PackedFields is [schema.Schema.PackedFields].
func (s *Plan) PackedFields() (bits []uint8) {
	if s.via != nil {
		s = s.via.Wire
	}
	for i := range s.Leaves {
		b := uint8(s.Leaves[i].Bits)
		if s.Leaves[i].Class == Quat {
			bits = append(bits, 2, b, b)
		}
		bits = append(bits, b)
	}
	return bits
}

// Pack appends the packed value at src to dst.
func (s *Plan) Pack(src unsafe.Pointer, refs Refs, dst []byte) []byte {
	if s.via != nil {
		src, s = s.via.load(src), s.via.Wire
	}
	var w coder.BitWriter
	w.Reset(dst)
	if len(s.Lists) == 0 {
		pack(s.Leaves, src, refs, &w)
		return w.Bytes()
	}
	s.parts(func(leaves []Leaf) { pack(leaves, src, refs, &w) }, func(l *List) {
		data, n := l.get(src)
		n = min(n, l.Most)
		w.Write(uint64(n), s.Leaves[l.From-1].Bits)
		pack(l.leaves(s, n), data, refs, &w)
	})
	return w.Bytes()
}

// pack packs some leaves.
func pack(leaves []Leaf, src unsafe.Pointer, refs Refs, w *coder.BitWriter) {
	for i := range leaves {
		l := &leaves[i]
		if l.Class == Quat {
			l.packQuat(src, w)
			continue
		}
		if l.Class == Text {
			l.packText(src, w)
			continue
		}
		var v uint64
		switch {
		case l.Stepped():
			v = uint64(int64(l.public(l.index(l.loadFloat(src), GridSim))) - l.Lo)
		case l.Class.Integer() && l.Wide:
			v = uint64(l.clampInt(l.loadInt(src)))
		case l.Class.Integer():
			v = uint64(l.clampInt(l.loadInt(src)) - l.Lo)
		case l.Class == Float32:
			v = uint64(math.Float32bits(float32(finite(l.loadFloat(src)))))
		case l.Class == Float64:
			v = math.Float64bits(finite(l.loadFloat(src)))
		default:
			if e := *(*uint64)(unsafe.Add(src, l.Offset)); e != 0 && refs != nil {
				if n := refs.Net(e); n <= math.MaxUint16 {
					v = uint64(n)
				}
			}
		}
		w.Write(v, l.Bits)
	}
}

func finite(v float64) float64 {
	if v != v || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// Unpack reads a packed value into dst. If b is not a packed value, ok is false. field
// is then the first field at fault, or −1 for the padding.
func (s *Plan) Unpack(b []byte, refs Refs, dst unsafe.Pointer) (field int, ok bool) {
	if v := s.via; v != nil {
		if field, ok = v.Wire.Unpack(b, refs, v.in); ok {
			v.store(v.in, dst, Everything)
		}
		return field, ok
	}
	var r coder.BitReader
	r.Reset(b)
	for i := 0; i < len(s.Leaves); i++ {
		l := &s.Leaves[i]
		if l.Class != Length {
			if !l.unpackFrom(&r, refs, dst) {
				return i, false
			}
			continue
		}
		li := &s.Lists[l.List]
		n := int(r.Read(l.Bits))
		if n > li.Most || r.Bad {
			return i, false
		}
		at := li.fit(dst, n)
		for k := range li.leaves(s, n) {
			if !s.Leaves[li.From+k].unpackFrom(&r, refs, at) {
				return li.From + k, false
			}
		}
		i = li.End() - 1
	}
	return -1, r.End()
}

func (l *Leaf) unpackFrom(r *coder.BitReader, refs Refs, dst unsafe.Pointer) bool {
	switch l.Class {
	case Quat:
		l.unpackQuat(r, dst)
		return true
	case Text:
		return l.unpackText(r, dst)
	}
	return l.unpack(r.Read(l.Bits), refs, dst)
}

func (l *Leaf) unpack(v uint64, refs Refs, dst unsafe.Pointer) bool {
	switch {
	case l.Class.Raw():
		x := math.Float64frombits(v)
		if l.Class == Float32 {
			x = float64(math.Float32frombits(uint32(v)))
		}
		if x != finite(x) {
			return false
		}
		l.storeFloat(dst, x)
	case l.Class == Ref:
		var e uint64
		if v != 0 && refs != nil {
			e = refs.Entity(uint32(v))
		}
		*(*uint64)(unsafe.Add(dst, l.Offset)) = e
	case l.Wide:
		if l.clampInt(int64(v)) != int64(v) {
			return false
		}
		l.storeInt(dst, int64(v))
	case v > uint64(l.Hi-l.Lo):
		return false
	case l.Stepped():
		l.storeFloat(dst, l.value(int32(l.Lo+int64(v)), GridPublic))
	default:
		l.storeInt(dst, l.Lo+int64(v))
	}
	return true
}

// packText packs a string, cut to what fits.
func (l *Leaf) packText(src unsafe.Pointer, w *coder.BitWriter) {
	var buf [coder.MaxText]byte
	b := l.sent(buf[:0], src)
	w.Write(uint64(len(b)), l.Bits)
	for _, c := range b {
		w.Write(uint64(c), 8)
	}
}

func (l *Leaf) unpackText(r *coder.BitReader, dst unsafe.Pointer) bool {
	var buf [coder.MaxText]byte
	n := int(r.Read(l.Bits))
	if int64(n) > l.Hi {
		return false
	}
	b := buf[:0]
	for range n {
		b = append(b, byte(r.Read(8)))
	}
	if r.Bad || !utf8.Valid(b) {
		return false
	}
	l.setText(dst, b)
	return true
}
