package quantise

import (
	"math/bits"
	"reflect"
	"unsafe"
)

// List is a slice: a word for its length, then words for Most elements. Elements from
// the length on have the words of zero values.
type List struct {
	Offset uintptr      // Offset is the offset of the slice's header.
	Type   reflect.Type // Type is nil if the length and the elements are stored in place.
	Stride uintptr      // Stride is the distance of elements in memory.
	Most   int          // Most is the greatest number of elements.
	From   int          // From is the first leaf of the first element. The leaf of the length is before it.
	Each   int          // Each is the number of leaves of an element.
	Word   int          // Word is the first word of the first element.
	Words  int          // Words is the number of words of an element.
	Vecs   int          // Vecs is the number of vectors of an element, for a schema that was read.
	Copies Copies       // Copies describes how an element is copied.
}

const (
	MaxElements = 1024
	// MaxSpread is the greatest number of words of all components with slices. Each is
	// counted once for every set of audiences that makes a difference.
	MaxSpread = 1 << 15
)

// Spread returns the number of words of a schema that count for MaxSpread.
func (s *Plan) Spread() int {
	classes := Audience(0)
	for i := range s.Leaves {
		classes |= s.Leaves[i].Audience
	}
	if len(s.Lists) == 0 {
		return 0
	}
	return s.Words << bits.OnesCount8(uint8(classes|ToOwner))
}

// inline is the number of bytes before the elements of a list that is stored in place.
const inline = 8

// get returns the elements and their number.
func (l *List) get(p unsafe.Pointer) (unsafe.Pointer, int) {
	p = unsafe.Add(p, l.Offset)
	if l.Type == nil {
		return unsafe.Add(p, inline), int(*(*uint64)(p))
	}
	h := (*sliceHeader)(p)
	return h.data, h.len
}

// own reports whether this package made the array of a slice, and so may write to it. An array that the game
// made may be shared. It has this capacity only by chance.
func (l *List) own(h *sliceHeader) bool { return h.cap == l.Most+1 }

// make allocates an array of this package for a slice.
func (l *List) make(n int) sliceHeader {
	v := reflect.MakeSlice(l.Type, n, max(n, l.Most+1))
	return sliceHeader{v.UnsafePointer(), n, v.Cap()}
}

// fit makes the list n elements long and returns the elements, to be written in place.
// Fields of an element that are not sent stay unchanged. New elements are zero.
func (l *List) fit(p unsafe.Pointer, n int) unsafe.Pointer {
	p = unsafe.Add(p, l.Offset)
	if l.Type == nil {
		at := unsafe.Add(p, inline)
		if was := int(*(*uint64)(p)); n > was {
			clear(unsafe.Slice((*byte)(unsafe.Add(at, uintptr(was)*l.Stride)), uintptr(n-was)*l.Stride))
		}
		*(*uint64)(p) = uint64(n)
		return at
	}
	h := (*sliceHeader)(p)
	if !l.own(h) {
		to := sliceHeader{}
		if n > 0 {
			to = l.make(n)
			l.copyElements(to.data, h.data, min(n, h.len))
		}
		*h = to
		return to.data
	}
	for i := h.len; i < n; i++ {
		l.Copies.clearValue(unsafe.Add(h.data, uintptr(i)*l.Stride))
	}
	h.len = n
	return h.data
}

func (l *List) copyElements(dst, src unsafe.Pointer, n int) {
	if len(l.Copies.texts) == 0 {
		size := uintptr(n) * l.Stride
		copy(unsafe.Slice((*byte)(dst), size), unsafe.Slice((*byte)(src), size))
		return
	}
	for i := range uintptr(n) {
		l.Copies.copyValue(unsafe.Add(dst, i*l.Stride), unsafe.Add(src, i*l.Stride))
	}
}

// copyList makes the list at dst equal to the one at src, of any length.
func (l *List) copyList(dst, src unsafe.Pointer) {
	to, from := (*sliceHeader)(unsafe.Add(dst, l.Offset)), (*sliceHeader)(unsafe.Add(src, l.Offset))
	switch {
	case l.own(to) && from.len <= to.cap:
		to.len = from.len
	case from.len == 0:
		*to = sliceHeader{}
	default:
		*to = l.make(from.len)
	}
	if to.data != from.data {
		l.copyElements(to.data, from.data, from.len)
	}
}

// cut shortens a list that is too long.
func (l *List) cut(p unsafe.Pointer) {
	if h := (*sliceHeader)(unsafe.Add(p, l.Offset)); l.Type != nil && h.len > l.Most {
		h.len, h.cap = l.Most, l.Most
	}
}

// Length returns the number of elements in a component's words.
func (l *List) Length(words []int32) int { return int(words[l.Word-1]) }

// leaves returns the leaves of the elements below n.
func (l *List) leaves(s *Plan, n int) []Leaf { return s.Leaves[l.From : l.From+n*l.Each] }

// End returns the index of the leaf after the last element.
func (l *List) End() int { return l.From + l.Most*l.Each }

// parts calls visit for each run of leaves outside lists, and each for every List in
// between.
func (s *Plan) parts(visit func(leaves []Leaf), each func(l *List)) {
	at := 0
	for i := range s.Lists {
		l := &s.Lists[i]
		visit(s.Leaves[at : l.From-1])
		each(l)
		at = l.End()
	}
	visit(s.Leaves[at:])
}

// ListOf returns the list that a field's element belongs to, and the element's index.
// It returns nil if there is none.
func (s *Plan) ListOf(field int) (*List, int) {
	for i := range s.Lists {
		if l := &s.Lists[i]; field >= l.From && field < l.End() {
			return l, (field - l.From) / l.Each
		}
	}
	return nil, 0
}

// Together reports whether two leaves belong to the same element of a slice, or both to
// none.
func (s *Plan) Together(i, k int) bool {
	l, n := s.ListOf(i)
	m, o := s.ListOf(k)
	return l == m && n == o
}

// Entry returns a leaf's index among the fields listed in a schema's bytes. For a
// slice, those list the fields of its first element only.
func (s *Plan) Entry(leaf int) int {
	n := leaf
	for i := range s.Lists {
		if l := &s.Lists[i]; l.End() <= leaf {
			n -= (l.Most - 1) * l.Each
		}
	}
	return n
}

// Has is [schema.Schema.Has].
func (s *Plan) Has(field int, words []int32) bool {
	l, i := s.ListOf(field)
	return l == nil || i < l.Length(words)
}

// Varies is [schema.Schema.Varies].
func (s *Plan) Varies() int {
	for i := range s.Leaves {
		if s.Leaves[i].Class.Varies() {
			return i
		}
	}
	return -1
}

// Unfit is [schema.Schema.Unfit].
func (s *Plan) Unfit(p unsafe.Pointer) int {
	if s.via != nil {
		s = s.via.own
	}
	if !s.Varying {
		return -1
	}
	for i := 0; i < len(s.Leaves); i++ {
		switch l := &s.Leaves[i]; {
		case l.Class == Text && !l.fits(p):
			return i
		case l.Class == Length:
			li := &s.Lists[l.List]
			data, n := li.get(p)
			if n > li.Most {
				return i
			}
			if len(li.Copies.texts) > 0 {
				for k, e := range li.leaves(s, n) {
					if e.Class == Text && !e.fits(data) {
						return li.From + k
					}
				}
			}
			i = li.End() - 1
		}
	}
	return -1
}
