package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
)

// Read reads a schema that [Schema.AppendSchema] appended, and returns the rest of b.
// Every claim in b is checked before it is used. The error is [ErrMalformed].
//
// The schema has no Go type: Type is nil. It codes the same bits as the one it was
// written from. [Schema.Value] reads its words. Methods that take the address of a
// value expect [Schema.Size] bytes in the schema's layout, aligned to 8. To use a Go
// type, see [Schema.Bind].
func Read(b []byte) (s *Schema, rest []byte, err error) {
	r := schemaReader{b: b}
	s = r.schema()
	return s, r.b, r.err()
}

func (r *schemaReader) schema() *Schema {
	s := &Schema{plan: &quantise.Plan{Name: r.readText("name"), Few: &quantise.Codings{}}, all: &allFields{}}
	if s.plan.Name == "" {
		r.failAt("name")
	}
	s.plan.Predicted = r.uint(1, "predicted") == 1
	n, before := int(r.uint(maxWords, "number of fields")), ""
	if n > len(r.b)/leastField {
		r.failAt("number of fields")
		return s
	}
	if n > 0 {
		s.plan.Leaves, s.names, r.shapes = make([]quantise.Leaf, 0, n), make([]fieldName, 0, n), make([]quantise.Shape, n)
	}
	r.vec = 0
	elems := 0 // fields of the current slice's element that are still to come
	for range n {
		if r.fault != "" {
			return s
		}
		before = r.field(s, before)
		if s.plan.Words > maxWords || r.words+s.plan.Words > maxSchemaWords {
			r.failAt("fields")
		}
		if r.fault == "" {
			elems = r.element(s, elems)
		}
	}
	if elems != 0 {
		r.failAt("slice")
	}
	r.words += s.plan.Words
	if r.spread += s.plan.Spread(); r.spread > quantise.MaxSpread {
		r.failAt("slices")
	}
	r.checkNames(s)
	if r.fault != "" {
		return s
	}
	s.plan.Unfold()
	r.checkVectors(s)
	r.checkSpeeds(s)
	if r.fault == "" {
		s.plan.LayOut()
		s.plan.Finish()
	}
	return s
}

// element processes the field just read. A slice's length is followed by the fields of its first element, which
// stand for all elements. left is the number of fields that were still to come, and element returns the number
// of those that are now.
func (r *schemaReader) element(s *Schema, left int) int {
	at := len(s.plan.Leaves) - 1
	l := &s.plan.Leaves[at]
	if l.Class == quantise.Length {
		each := int(r.uint(maxWords, "fields of an element"))
		if left > 0 || each == 0 {
			r.failAt("slice")
			return 0
		}
		s.plan.Lists = append(s.plan.Lists, quantise.List{Most: int(l.Hi), From: at + 1, Each: each, Word: s.plan.Words})
		r.ahead, r.bits = r.vec, s.plan.PackBits
		return each
	}
	if left == 0 {
		return 0
	}
	li := &s.plan.Lists[len(s.plan.Lists)-1]
	length, prefix, name := &s.plan.Leaves[li.From-1], s.names[li.From-1].Name, s.names[at].Name
	rest, ok := strings.CutPrefix(name, prefix+"[0]")
	if !ok || rest != "" && rest[0] != '.' && rest[0] != '[' || l.OneShot || l.Sum || length.Audience != 0 && (l.Audience == 0 || l.Audience&^length.Audience != 0) {
		r.failAt("element")
		return 0
	}
	if len(name)-1+len(strconv.Itoa(li.Most-1)) > maxSchemaText {
		r.failAt("field's name")
		return 0
	}
	if left > 1 {
		return left - 1
	}
	li.Words, li.Vecs = s.plan.Words-li.Word, r.vec-r.ahead
	more := li.Most - 1
	if words := s.plan.Words + more*li.Words; words > maxWords || r.words+words > maxSchemaWords {
		r.failAt("fields")
		return 0
	}
	s.plan.Words += more * li.Words
	s.plan.PackBits += more * (s.plan.PackBits - r.bits)
	r.vec += more * li.Vecs
	return 0
}

// checkNames refuses names that occur twice, and names of the form that a slice's
// elements have.
func (r *schemaReader) checkNames(s *Schema) {
	names := make([]string, len(s.names))
	for i := range names {
		names[i] = s.names[i].Name
	}
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			r.failAt("field's name")
		}
	}
	for i := range s.plan.Lists {
		l := &s.plan.Lists[i]
		of := s.names[l.From-1].Name
		from, _ := slices.BinarySearch(names, of+"[")
		to, _ := slices.BinarySearch(names, of+string(rune('['+1)))
		if to-from != l.Each {
			r.failAt("field's name")
		}
	}
}

// checkSpeeds refuses velocities that Compile would not take, and gives those of a
// slice's first element to all.
func (r *schemaReader) checkSpeeds(s *Schema) {
	entries := make([]int, 0, len(s.names)) // the leaves of the fields that the bytes list
	speeds := false
	for i := range s.plan.Written() {
		entries, speeds = append(entries, i), speeds || s.plan.Leaves[i].Speed != 0
	}
	if !speeds {
		return
	}
	for _, i := range entries {
		if k := int(s.plan.Leaves[i].Speed) - 1; k >= 0 {
			if k >= len(entries) {
				r.failAt("velocity")
				return
			}
			if problem, _ := s.setSpeed(i, entries[k], ""); problem != "" {
				r.failAt("velocity")
				return
			}
		}
	}
	for i := range s.plan.Lists {
		l := &s.plan.Lists[i]
		for k := l.From + l.Each; k < l.End(); k++ {
			if before := s.plan.Leaves[k-l.Each].Speed; before != 0 {
				s.plan.Leaves[k].Speed = before + uint16(l.Each)
			}
		}
	}
}

// checkVectors refuses vectors that Compile would not make.
func (r *schemaReader) checkVectors(s *Schema) {
	for i := 0; i < len(s.plan.Leaves); {
		first, n := &s.plan.Leaves[i], 1
		if first.Vec == 0 {
			i++
			continue
		}
		for i+n < len(s.plan.Leaves) && s.plan.Leaves[i+n].Vec == first.Vec {
			if l := &s.plan.Leaves[i+n]; l.Class != first.Class || l.Audience != first.Audience || l.Wide {
				r.failAt("vector")
			}
			n++
		}
		if n < 2 || n > coder.MaxVector || first.Wide || !first.Class.Moves() {
			r.failAt("vector")
		}
		i += n
	}
	for i := range s.plan.Lists { // a vector must not continue after the elements
		if end := s.plan.Lists[i].End(); end < len(s.plan.Leaves) && s.plan.Leaves[end].Vec != 0 && s.plan.Leaves[end].Vec == s.plan.Leaves[end-1].Vec {
			r.failAt("vector")
			return
		}
	}
	last := uint16(0)
	for i := range s.plan.Leaves { // a vector must not continue after another field
		l := &s.plan.Leaves[i]
		if l.Vec != 0 && l.Vec <= last && s.plan.Leaves[i-1].Vec != l.Vec {
			r.failAt("vector")
			return
		}
		last = max(last, l.Vec)
	}
}
