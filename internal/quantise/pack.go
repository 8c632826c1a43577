package quantise

import (
	"math"
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
		src, s = s.via.toWire(src), s.via.Wire
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
			v = uint64(math.Float32bits(float32(l.finite(l.loadFloat(src)))))
		case l.Class == Float64:
			v = math.Float64bits(l.finite(l.loadFloat(src)))
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

// packText packs a string, cut to what fits.
func (l *Leaf) packText(src unsafe.Pointer, w *coder.BitWriter) {
	var buf [coder.MaxText]byte
	b := l.appendSent(buf[:0], src)
	w.Write(uint64(len(b)), l.Bits)
	for _, c := range b {
		w.Write(uint64(c), 8)
	}
}
