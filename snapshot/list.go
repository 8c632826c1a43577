package snapshot

import (
	"math/bits"
	"reflect"
	"unsafe"
)

// list is a slice: a word with its length, and room for the words of as many
// elements as there may be. Words from the length on are those of zero values.
type list struct {
	offset uintptr      // of its header
	typ    reflect.Type // nil: its length and its elements lie in place
	stride uintptr      // of elements in memory
	most   int          // elements
	from   int          // first leaf of the first element; that of the length is before it
	each   int          // leaves of an element
	word   int          // first word of the first element
	words  int          // of an element
	vecs   int          // vectors of an element, of a schema that was read
	plan   copyPlan     // of an element
}

const (
	maxElements = 1024
	// maxSpread is how many words all components with slices may have together, each
	// counted once for every set of audiences that makes a difference.
	maxSpread = 1 << 15
)

// spread is how many of these a schema has.
func (s *Schema) spread() int {
	classes := audience(0)
	for i := range s.leaves {
		classes |= s.leaves[i].aud
	}
	if len(s.lists) == 0 {
		return 0
	}
	return s.words << bits.OnesCount8(uint8(classes|ToOwner))
}

// inline is how many bytes lie before the elements of a list in place.
const inline = 8

// get is the elements, and how many there are.
func (l *list) get(p unsafe.Pointer) (unsafe.Pointer, int) {
	p = unsafe.Add(p, l.offset)
	if l.typ == nil {
		return unsafe.Add(p, inline), int(*(*uint64)(p))
	}
	h := (*sliceHeader)(p)
	return h.data, h.len
}

// own tells whether the array behind a slice is one that this package made, which it
// may write to: the game's own may be anybody's. None of the game's that fits has
// just this capacity, unless by chance.
func (l *list) own(h *sliceHeader) bool { return h.cap == l.most+1 }

// make gives a slice an array of this package's own.
func (l *list) make(n int) sliceHeader {
	v := reflect.MakeSlice(l.typ, n, max(n, l.most+1))
	return sliceHeader{v.UnsafePointer(), n, v.Cap()}
}

// fit makes the list n elements long for them to be written in place, and returns
// them. What an element held that is not sent stays, and new ones are zero.
func (l *list) fit(p unsafe.Pointer, n int) unsafe.Pointer {
	p = unsafe.Add(p, l.offset)
	if l.typ == nil {
		at := unsafe.Add(p, inline)
		if was := int(*(*uint64)(p)); n > was {
			clear(unsafe.Slice((*byte)(unsafe.Add(at, uintptr(was)*l.stride)), uintptr(n-was)*l.stride))
		}
		*(*uint64)(p) = uint64(n)
		return at
	}
	h := (*sliceHeader)(p)
	if !l.own(h) {
		to := sliceHeader{}
		if n > 0 {
			to = l.make(n)
			l.move(to.data, h.data, min(n, h.len))
		}
		*h = to
		return to.data
	}
	for i := h.len; i < n; i++ {
		l.plan.clear(unsafe.Add(h.data, uintptr(i)*l.stride))
	}
	h.len = n
	return h.data
}

// move copies elements.
func (l *list) move(dst, src unsafe.Pointer, n int) {
	if len(l.plan.texts) == 0 {
		size := uintptr(n) * l.stride
		copy(unsafe.Slice((*byte)(dst), size), unsafe.Slice((*byte)(src), size))
		return
	}
	for i := range uintptr(n) {
		l.plan.copy(unsafe.Add(dst, i*l.stride), unsafe.Add(src, i*l.stride))
	}
}

// copy makes the list at dst one with the elements of that at src, of any length.
func (l *list) copy(dst, src unsafe.Pointer) {
	to, from := (*sliceHeader)(unsafe.Add(dst, l.offset)), (*sliceHeader)(unsafe.Add(src, l.offset))
	switch {
	case l.own(to) && from.len <= to.cap:
		to.len = from.len
	case from.len == 0:
		*to = sliceHeader{}
	default:
		*to = l.make(from.len)
	}
	if to.data != from.data {
		l.move(to.data, from.data, from.len)
	}
}

// cut shortens what is too long.
func (l *list) cut(p unsafe.Pointer) {
	if h := (*sliceHeader)(unsafe.Add(p, l.offset)); l.typ != nil && h.len > l.most {
		h.len, h.cap = l.most, l.most
	}
}

// length is the number of elements in a component's words.
func (l *list) length(words []int32) int { return int(words[l.word-1]) }

// leaves are those of the elements below n.
func (l *list) leaves(s *Schema, n int) []leaf { return s.leaves[l.from : l.from+n*l.each] }

// end is the leaf behind the last element.
func (l *list) end() int { return l.from + l.most*l.each }

// parts calls visit for the leaves outside of lists, run by run, and each for every
// list in between.
func (s *Schema) parts(visit func(leaves []leaf), each func(l *list)) {
	at := 0
	for i := range s.lists {
		l := &s.lists[i]
		visit(s.leaves[at : l.from-1])
		each(l)
		at = l.end()
	}
	visit(s.leaves[at:])
}

// listOf is the list that a field is an element's of, and which; nil: of none.
func (s *Schema) listOf(field int) (*list, int) {
	for i := range s.lists {
		if l := &s.lists[i]; field >= l.from && field < l.end() {
			return l, (field - l.from) / l.each
		}
	}
	return nil, 0
}

// together tells whether two leaves are of one element, or both of none.
func (s *Schema) together(i, k int) bool {
	l, n := s.listOf(i)
	m, o := s.listOf(k)
	return l == m && n == o
}

// entry is a leaf's place among the fields of which a schema's bytes tell: of a
// slice's elements, those of the first.
func (s *Schema) entry(leaf int) int {
	n := leaf
	for i := range s.lists {
		if l := &s.lists[i]; l.end() <= leaf {
			n -= (l.most - 1) * l.each
		}
	}
	return n
}

// Has tells whether a field, by its index in [Schema.Fields], is there in a
// component's words: all are, but for those of a slice's elements from its length on.
func (s *Schema) Has(field int, words []int32) bool {
	l, i := s.listOf(field)
	return l == nil || i < l.length(words)
}

// Varies returns the index in [Schema.Fields] of the first string or slice, or −1.
// What has none is packed in the same number of bytes always.
func (s *Schema) Varies() int {
	for i := range s.leaves {
		if s.leaves[i].op >= opText {
			return i
		}
	}
	return -1
}

// Unfit returns the index in [Schema.Fields] of the first field of the value at p
// that cannot travel whole: a string that is too long or no UTF-8, a slice that is
// too long; −1 if there is none. Such a value is sent cut, and [Schema.Snap] cuts it
// in place.
func (s *Schema) Unfit(p unsafe.Pointer) int {
	if s.via != nil {
		s = s.via.own
	}
	if !s.varies {
		return -1
	}
	for i := 0; i < len(s.leaves); i++ {
		switch l := &s.leaves[i]; {
		case l.op == opText && !l.fits(p):
			return i
		case l.op == opLength:
			li := &s.lists[l.list]
			data, n := li.get(p)
			if n > li.most {
				return i
			}
			if len(li.plan.texts) > 0 {
				for k, e := range li.leaves(s, n) {
					if e.op == opText && !e.fits(data) {
						return li.from + k
					}
				}
			}
			i = li.end() - 1
		}
	}
	return -1
}
