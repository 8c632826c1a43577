package ecs

import (
	"encoding/binary"
	"math"
	"reflect"
	"unsafe"
)

// appendValues writes n values that follow one another in memory.
func (wt *worldType) appendValues(b []byte, p unsafe.Pointer, n int) []byte {
	d := wt.d
	switch {
	case wt.node.least == 0:
		return b
	case wt.fixed && d.solid:
		return append(b, unsafe.Slice((*byte)(p), uintptr(n)*d.size)...)
	}
	for i := range uintptr(n) {
		v := unsafe.Add(p, i*d.size)
		switch {
		case d.coder != nil:
			var room [binary.MaxVarintLen32]byte
			from := len(b)
			b = d.coder.appendTo(append(b, room[:]...), v)
			size := len(b) - from - len(room)
			head := binary.AppendUvarint(b[:from], uint64(size))
			b = append(head, b[from+len(room):]...)
		case wt.fixed:
			for _, s := range d.spans {
				b = append(b, unsafe.Slice((*byte)(unsafe.Add(v, s.from)), s.to-s.from)...)
			}
		default:
			b = wt.node.appendValue(b, v)
		}
	}
	return b
}

// appendValue writes a value of a Go type.
func (n *typeNode) appendValue(b []byte, p unsafe.Pointer) []byte {
	switch n.kind {
	case reflect.String:
		return appendText(b, *(*string)(p))
	case reflect.Slice:
		v := reflect.NewAt(n.rtype, p).Elem()
		b = binary.AppendUvarint(b, uint64(v.Len()))
		return n.elem.appendArray(b, v.UnsafePointer(), v.Len())
	case reflect.Array:
		return n.elem.appendArray(b, p, n.n)
	case reflect.Struct:
		for _, f := range n.fields {
			b = f.node.appendValue(b, unsafe.Add(p, f.at))
		}
		return b
	}
	v := loadMemory(n.rtype.Size(), p)
	if n.kind == reflect.Int && n.rtype.Size() == 4 {
		v = uint64(int32(v))
	}
	for range numberSize(n.kind) {
		b, v = append(b, byte(v)), v>>8
	}
	return b
}

func (n *typeNode) appendArray(b []byte, p unsafe.Pointer, count int) []byte {
	if n.least == 0 {
		return b
	}
	for i := range uintptr(count) {
		b = n.appendValue(b, unsafe.Add(p, i*n.rtype.Size()))
	}
	return b
}

// loadMemory returns a number of 1, 2, 4 or 8 bytes.
func loadMemory(size uintptr, p unsafe.Pointer) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

// skipValue checks a value and passes over it. own is the type that it will be read into, nil for none.
func (r *worldReader) skipValue(n, own *typeNode) {
	switch {
	case r.err != nil:
	case n.kind == reflect.String:
		r.bytes(r.number(len(r.b)))
	case n.kind == reflect.Slice:
		count := r.number(len(r.b))
		if own = own.as(reflect.Slice); own != nil {
			// The other build's elements may be smaller than this one's.
			if size := uint64(own.elem.rtype.Size()); uint64(count)*size > 64*uint64(len(r.b))+64<<10 {
				r.fail("a slice is too long")
			}
			own = own.elem
		}
		r.skipArray(n.elem, own, count)
	case n.kind == reflect.Array:
		if own = own.as(reflect.Array); own != nil {
			own = own.elem
		}
		r.skipArray(n.elem, own, n.n)
	case n.kind == reflect.Struct:
		own = own.as(reflect.Struct)
		for i := range n.fields {
			r.skipValue(n.fields[i].node, own.field(i, n.fields[i].name).node)
		}
	case n.kind == reflect.Bool:
		if r.byte() > 1 {
			r.fail("a bool is neither true nor false")
		}
	default:
		r.bytes(numberSize(n.kind))
	}
}

func (r *worldReader) skipArray(n, own *typeNode, count int) {
	if n.least == 0 {
		return
	}
	if count > len(r.b)/n.least {
		r.fail("a list is too long")
	}
	for i := 0; i < count && r.err == nil; i++ {
		r.skipValue(n, own)
	}
}

// as returns a type if it has the kind, and nil otherwise.
func (n *typeNode) as(kind reflect.Kind) *typeNode {
	if n == nil || n.kind != kind {
		return nil
	}
	return n
}

// field returns the field of a name, which is usually the i-th. Its node is nil if there is none.
func (n *typeNode) field(i int, name string) typeField {
	if n == nil {
		return typeField{}
	}
	if i < len(n.fields) && n.fields[i].name == name {
		return n.fields[i]
	}
	for _, f := range n.fields {
		if f.name == name {
			return f
		}
	}
	return typeField{}
}

// takeValue reads a value that skipValue has checked into the memory of this build's type, which is zero. What
// this build does not have is passed over. own is nil where nothing is read.
func (r *worldReader) takeValue(n, own *typeNode, p unsafe.Pointer) {
	switch n.kind {
	case reflect.String:
		b := r.bytes(r.number(len(r.b)))
		if own.as(reflect.String) != nil {
			*(*string)(p) = string(b)
		}
	case reflect.Slice:
		count := r.number(len(r.b))
		if own = own.as(reflect.Slice); own == nil || count == 0 {
			r.takeArray(n.elem, nil, nil, count, 0)
			return
		}
		v := reflect.MakeSlice(own.rtype, count, count)
		reflect.NewAt(own.rtype, p).Elem().Set(v)
		r.takeArray(n.elem, own.elem, v.UnsafePointer(), count, count)
	case reflect.Array:
		if own = own.as(reflect.Array); own == nil {
			r.takeArray(n.elem, nil, nil, n.n, 0)
			return
		}
		r.takeArray(n.elem, own.elem, p, n.n, own.n)
	case reflect.Struct:
		own = own.as(reflect.Struct)
		for i := range n.fields {
			f := own.field(i, n.fields[i].name)
			r.takeValue(n.fields[i].node, f.node, unsafe.Add(p, f.at))
		}
	default:
		b := r.bytes(numberSize(n.kind))
		if own == nil || own.kind < reflect.Bool || own.kind > reflect.Float64 {
			return
		}
		var v uint64
		for i := len(b) - 1; i >= 0; i-- {
			v = v<<8 | uint64(b[i])
		}
		storeNumber(n.kind, v, own, p)
	}
}

// takeArray reads count values, of which this build has room for the first have.
func (r *worldReader) takeArray(n, own *typeNode, p unsafe.Pointer, count, have int) {
	if n.least == 0 {
		return
	}
	for i := range count {
		if i >= have {
			r.takeValue(n, nil, nil)
			continue
		}
		r.takeValue(n, own, unsafe.Add(p, uintptr(i)*own.rtype.Size()))
	}
}

// storeNumber stores a number of one kind as another. A number that does not fit becomes the nearest that does.
func storeNumber(kind reflect.Kind, v uint64, own *typeNode, p unsafe.Pointer) {
	size := own.rtype.Size()
	if kind == own.kind && int(size) == numberSize(kind) {
		storeMemory(size, v, p)
		return
	}
	// A number is negative or not; whole holds its whole part without the sign.
	var whole uint64
	var negative bool
	var f float64
	switch {
	case kind <= reflect.Int64 && kind >= reflect.Int:
		shift := 64 - 8*numberSize(kind)
		i := int64(v<<shift) >> shift
		negative, f, whole = i < 0, float64(i), uint64(i)
		if negative {
			whole = -whole
		}
	case kind <= reflect.Uintptr:
		whole, f = v, float64(v)
	default:
		if f = math.Float64frombits(v); kind == reflect.Float32 {
			f = float64(math.Float32frombits(uint32(v)))
		}
		negative = f < 0
		switch a := math.Abs(f); {
		case a >= 1<<64:
			whole = math.MaxUint64
		case a == a: // not a NaN
			whole = uint64(a)
		}
	}
	switch k := own.kind; {
	case k == reflect.Bool:
		v = 0
		if f != 0 {
			v = 1
		}
	case k == reflect.Float32:
		if a := math.Abs(f); a > math.MaxFloat32 && !math.IsInf(f, 0) {
			f = math.Copysign(math.MaxFloat32, f)
		}
		v = uint64(math.Float32bits(float32(f)))
	case k == reflect.Float64:
		v = math.Float64bits(f)
	case k <= reflect.Int64: // signed
		most := uint64(1)<<(8*size-1) - 1
		if negative {
			v = -min(whole, most+1)
		} else {
			v = min(whole, most)
		}
	default:
		v = min(whole, math.MaxUint64>>(64-8*size))
		if negative {
			v = 0
		}
	}
	storeMemory(size, v, p)
}

func storeMemory(size uintptr, v uint64, p unsafe.Pointer) {
	switch size {
	case 1:
		*(*uint8)(p) = uint8(v)
	case 2:
		*(*uint16)(p) = uint16(v)
	case 4:
		*(*uint32)(p) = uint32(v)
	default:
		*(*uint64)(p) = v
	}
}
