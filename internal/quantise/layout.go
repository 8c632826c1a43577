package quantise

import (
	"reflect"
	"unsafe"
)

// LayOut assigns each leaf an offset in the memory layout of a schema without a Go
// type. Strings and slices are stored in place, after their lengths.
func (s *Plan) LayOut() {
	s.size = 0
	for i := 0; i < len(s.Leaves); i++ {
		l := &s.Leaves[i]
		s.size = l.placeAt(s.size)
		if l.Class != Length {
			continue
		}
		li := &s.Lists[l.List]
		li.Type, li.Offset = nil, l.Offset
		end := uintptr(0)
		for k := range li.Each {
			end = s.Leaves[li.From+k].placeAt(end)
		}
		li.Stride = (end + 7) &^ 7
		for k := li.Each; k < li.Most*li.Each; k++ {
			e := &s.Leaves[li.From+k]
			e.Offset = s.Leaves[li.From+k-li.Each].Offset + li.Stride
			e.inline = e.Class == Text
		}
		s.size += uintptr(li.Most) * li.Stride
		i = li.End() - 1
	}
}

// placeAt puts a leaf at the first place from an offset on, and returns its end.
func (l *Leaf) placeAt(at uintptr) (end uintptr) {
	size, align := l.Class.Size(), l.Class.Size()
	switch l.Class {
	case Quat:
		size, align = 4*l.Size, l.Size
	case Text:
		l.inline = true
		size = inline + uintptr(l.Hi+7)&^7
	}
	l.Offset = (at + align - 1) &^ (align - 1)
	return l.Offset + size
}

// Size is [schema.Schema.Size].
func (s *Plan) Size() uintptr {
	if s.Type != nil {
		return s.Type.Size()
	}
	return s.size
}

// Block allocates memory for a value.
func (s *Plan) Block() unsafe.Pointer {
	if s.Type != nil {
		return reflect.New(s.Type).UnsafePointer()
	}
	return unsafe.Pointer(unsafe.SliceData(make([]uint64, s.size/8+1)))
}

// Unfold gives each slice the leaves of all its elements.
func (s *Plan) Unfold() {
	if len(s.Lists) == 0 {
		return
	}
	n := len(s.Leaves)
	for i := range s.Lists {
		n += (s.Lists[i].Most - 1) * s.Lists[i].Each
	}
	first, at := s.Leaves, 0
	s.Leaves = make([]Leaf, 0, n)
	for i := range s.Lists {
		l := &s.Lists[i]
		s.Leaves = append(s.Leaves, first[at:l.From]...)
		elem := first[l.From : l.From+l.Each]
		at, l.From = l.From+l.Each, len(s.Leaves)
		for nth := range l.Most {
			s.Leaves = append(s.Leaves, elem...)
			for k := range elem {
				e := &s.Leaves[l.From+nth*l.Each+k]
				if e.Word += nth * l.Words; e.Vec != 0 {
					e.Vec += uint16(nth * l.Vecs)
				}
			}
		}
	}
	s.Leaves = append(s.Leaves, first[at:]...)
}
