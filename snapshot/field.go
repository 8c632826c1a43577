package snapshot

import (
	"iter"
	"slices"
	"strconv"
	"sync"
)

// fieldName is what a field's leaf does not say of it.
type fieldName struct{ name, typ string }

// allFields are the fields of a schema with slices, made when they are asked for: a
// few bytes can claim very many elements.
type allFields struct {
	once sync.Once
	list []Field
}

// Fields lists the fields in the order of their words. The slice is the schema's
// own: do not write to it. The first call makes it; [Schema.Field] makes one alone.
func (s *Schema) Fields() []Field {
	s.all.once.Do(func() {
		s.all.list = make([]Field, len(s.leaves))
		for i := range s.all.list {
			s.all.list[i] = s.Field(i)
		}
	})
	return s.all.list
}

// NumFields returns how many fields there are, those of every element of a slice
// counted.
func (s *Schema) NumFields() int { return len(s.leaves) }

// Field returns one field, by its index in [Schema.Fields]. It panics when the index is
// out of range.
func (s *Schema) Field(i int) Field {
	l, n := &s.leaves[i], s.nameOf(i)
	f := Field{Name: n.name, Type: n.typ, Word: l.word, Words: l.words(), Audience: l.aud, Owner: l.aud&ToOwner != 0, OneShot: l.shot, Press: l.press, Lerp: l.how != Snap, Interpolation: l.how, Angle: l.angle(), Ref: l.op == opRef, Tolerance: l.tol, Bits: l.packed()}
	switch l.op {
	case opQuat:
		f.Quat = true
	case opText:
		f.Text, f.Most = true, int(l.hi)
	case opLength:
		f.Slice, f.Most = true, int(l.hi)
	}
	switch {
	case l.stepped():
		f.Step, f.Sim = l.grid[GridPublic].step, l.grid[GridSim].step
		f.Min, f.Max = float64(l.lo)*f.Step, float64(l.hi)*f.Step
	case l.ranged() && !l.wide:
		f.Min, f.Max = float64(l.lo), float64(l.hi)
	}
	if l.speed != 0 {
		f.Velocity = s.nameOf(int(l.speed) - 1).name
	}
	return f
}

// packed is how many bits a leaf takes in a packed value, at most.
func (l *leaf) packed() int {
	switch l.op {
	case opQuat:
		return 2 + 3*l.bits
	case opText:
		return l.bits + 8*int(l.hi)
	}
	return l.bits
}

// nameOf is a field's name and type.
func (s *Schema) nameOf(field int) fieldName {
	l, nth := s.listOf(field)
	if nth == 0 {
		return s.names[s.entry(field)]
	}
	n, of := s.names[s.entry(field-nth*l.each)], s.names[s.entry(l.from-1)].name
	n.name = of + "[" + strconv.Itoa(nth) + "]" + n.name[len(of)+len("[0]"):]
	return n
}

// fieldOf is the field that a word belongs to.
func (s *Schema) fieldOf(word int) int {
	i, ok := slices.BinarySearchFunc(s.leaves, word, func(l leaf, word int) int { return l.word - word })
	if !ok {
		i--
	}
	return i
}

// written are the leaves whose fields have a name of their own, all but those of the
// elements behind the first of a slice, and which of the names it is.
func (s *Schema) written() iter.Seq2[int, int] {
	return func(yield func(leaf, entry int) bool) {
		list := 0
		for i, entry := 0, 0; ; i, entry = i+1, entry+1 {
			if list < len(s.lists) && i == s.lists[list].from+s.lists[list].each {
				i = s.lists[list].end()
				list++
			}
			if i >= len(s.leaves) || !yield(i, entry) {
				return
			}
		}
	}
}

// addLeaf puts a leaf behind those there, and names it.
func (s *Schema) addLeaf(name, typ string, l leaf) {
	l.word = s.words
	s.words += l.words()
	s.packBits += l.packed()
	s.leaves = append(s.leaves, l)
	s.names = append(s.names, fieldName{name, typ})
}
