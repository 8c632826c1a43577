package snapshot

import (
	"math"
	"unsafe"
)

// PackedSize is the number of bytes of a packed value.
func (s *Schema) PackedSize() int { return (s.packBits + 7) / 8 }

// Pack appends the value at src to dst at the public step in PackedSize bytes:
// each field in its [Field.Bits], unsigned from the lower end of its range, least
// significant bit first. For commands and events. References are packed as none:
// see [Schema.PackRefs].
func (s *Schema) Pack(src unsafe.Pointer, dst []byte) []byte { return s.PackRefs(src, nil, dst) }

// PackRefs is Pack with references translated by refs into wire ids, 16 bits each.
func (s *Schema) PackRefs(src unsafe.Pointer, refs Refs, dst []byte) []byte {
	if s.via != nil {
		src, s = s.via.load(src), s.via.wire
	}
	var w BitWriter
	w.Reset(dst)
	for i := range s.leaves {
		l := &s.leaves[i]
		if l.op == opQuat {
			l.packQuat(src, &w)
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
	return w.Bytes()
}

func finite(v float64) float64 {
	if v != v || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// Unpack reads a value packed by Pack into dst; b is exactly PackedSize bytes. A
// value outside its range, a NaN, an infinity or a set padding bit is
// [ErrMalformed], and dst is then unchanged but for fields before the fault.
// Stepped floats arrive on the public grid: a client that predicts with a command
// must use what Unpack makes of it. References become none: see UnpackRefs.
func (s *Schema) Unpack(b []byte, dst unsafe.Pointer) error { return s.UnpackRefs(b, nil, dst) }

// UnpackRefs is Unpack with references, wire ids, translated by refs.
func (s *Schema) UnpackRefs(b []byte, refs Refs, dst unsafe.Pointer) error {
	if len(b) != s.PackedSize() {
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
	for i := range s.leaves {
		if l := &s.leaves[i]; l.op == opQuat {
			l.unpackQuat(&r, dst)
		} else if !l.unpack(r.Read(l.bits), refs, dst) {
			return malformed("packed " + s.name + "." + s.fields[i].Name)
		}
	}
	if !r.end() {
		return malformed("padding")
	}
	return nil
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
