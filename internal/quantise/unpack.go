package quantise

import (
	"math"
	"reflect"
	"unicode/utf8"
	"unsafe"

	"github.com/foretick/foretick/internal/coder"
)

// This file reads the bits of a packed value into memory, and writes leaves to memory.

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

func (l *Leaf) unpackQuat(r *coder.BitReader, dst unsafe.Pointer) {
	var w [coder.QuatWords]int32
	w[0] = int32(r.Read(2))
	for i := 1; i < coder.QuatWords; i++ {
		w[i] = int32(l.Lo + int64(r.Read(l.Bits)))
	}
	l.restoreQuat(w[:], GridPublic, dst)
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

func (l *Leaf) unpack(v uint64, refs Refs, dst unsafe.Pointer) bool {
	switch {
	case l.Class.Raw():
		x := math.Float64frombits(v)
		if l.Class == Float32 {
			x = float64(math.Float32frombits(uint32(v)))
		}
		if x-x != 0 {
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
		l.storeFloat(dst, l.floatOf(int32(l.Lo+int64(v)), GridPublic))
	default:
		l.storeInt(dst, l.Lo+int64(v))
	}
	return true
}

func (l *Leaf) storeInt(p unsafe.Pointer, v int64) {
	p = unsafe.Add(p, l.Offset)
	switch l.Class {
	case Bool:
		*(*bool)(p) = v != 0
	case Uint8:
		*(*uint8)(p) = uint8(v)
	case Int8:
		*(*int8)(p) = int8(v)
	case Int16:
		*(*int16)(p) = int16(v)
	case Int32:
		*(*int32)(p) = int32(v)
	case Uint16:
		*(*uint16)(p) = uint16(v)
	case Uint32:
		*(*uint32)(p) = uint32(v)
	default:
		*(*int64)(p) = v
	}
}

func (l *Leaf) storeFloat(p unsafe.Pointer, v float64) {
	p = unsafe.Add(p, l.Offset)
	if l.Class.single() {
		*(*float32)(p) = float32(v)
	} else {
		*(*float64)(p) = v
	}
}

func (l *Leaf) storeQuat(q [4]float64, dst unsafe.Pointer) {
	dst = unsafe.Add(dst, l.Offset)
	for i, v := range q {
		if l.Kind == reflect.Float32 {
			*(*float32)(unsafe.Add(dst, 4*i)) = float32(v)
		} else {
			*(*float64)(unsafe.Add(dst, 8*i)) = v
		}
	}
}

func (l *Leaf) storeElem(p unsafe.Pointer, i int, v int64) {
	e := Leaf{Class: IntegerOf(l.Size, false), Offset: uintptr(i) * l.Size}
	e.storeInt(p, v)
}

// setText writes the string to memory. It allocates only if the string differs.
func (l *Leaf) setText(p unsafe.Pointer, b []byte) {
	p = unsafe.Add(p, l.Offset)
	if l.inline {
		*(*uint64)(p) = uint64(copy(unsafe.Slice((*byte)(unsafe.Add(p, inline)), l.Hi), b))
	} else if s := (*string)(p); *s != string(b) {
		*s = string(b)
	}
}
