package schema

import (
	"strconv"
	"sync"

	"github.com/foretick/foretick/internal/quantise"
)

// fieldName is the part of a field that its leaf does not hold.
type fieldName struct{ Name, typ string }

// allFields are the fields of a schema with slices. They are made when first needed,
// because a few bytes can claim very many elements.
type allFields struct {
	once sync.Once
	list []Field
}

// Fields returns the fields in the order of their words. The slice belongs to the
// schema: do not write to it. The first call makes it; [Schema.Field] makes a single
// field.
func (s *Schema) Fields() []Field {
	s.all.once.Do(func() {
		s.all.list = make([]Field, len(s.plan.Leaves))
		for i := range s.all.list {
			s.all.list[i] = s.Field(i)
		}
	})
	return s.all.list
}

// NumFields returns the number of fields, including those of every element of a slice.
func (s *Schema) NumFields() int { return len(s.plan.Leaves) }

// Field returns one field, by its index in [Schema.Fields]. It panics when the index is
// out of range.
func (s *Schema) Field(i int) Field {
	l, n := &s.plan.Leaves[i], s.nameOf(i)
	f := Field{Name: n.Name, Type: n.typ, Word: l.Word, Words: l.Words(), Audience: Audience(l.Audience), Owner: l.Audience&quantise.ToOwner != 0, OneShot: l.OneShot, Sum: l.Sum, Press: l.Press, Lerp: l.Interpolation != quantise.Snap, Interpolation: Interpolation(l.Interpolation), Angle: l.Angle(), Ref: l.Class == quantise.Ref, Tolerance: l.Tolerance, Bits: l.Packed()}
	switch l.Class {
	case quantise.Quat:
		f.Quat = true
	case quantise.Text:
		f.Text, f.Most = true, int(l.Hi)
	case quantise.Length:
		f.Slice, f.Most = true, int(l.Hi)
	}
	switch {
	case l.Stepped():
		f.Step, f.Sim = l.Grid[quantise.GridPublic].Step, l.Grid[quantise.GridSim].Step
		f.Min, f.Max = float64(l.Lo)*f.Step, float64(l.Hi)*f.Step
	case l.Ranged() && !l.Wide:
		f.Min, f.Max = float64(l.Lo), float64(l.Hi)
	}
	if l.Speed != 0 {
		f.Velocity = s.nameOf(int(l.Speed) - 1).Name
	}
	return f
}

// nameOf returns a field's name and type.
func (s *Schema) nameOf(field int) fieldName {
	l, nth := s.plan.ListOf(field)
	if nth == 0 {
		return s.names[s.plan.Entry(field)]
	}
	n, of := s.names[s.plan.Entry(field-nth*l.Each)], s.names[s.plan.Entry(l.From-1)].Name
	n.Name = of + "[" + strconv.Itoa(nth) + "]" + n.Name[len(of)+len("[0]"):]
	return n
}

// addLeaf appends a leaf and its name.
func (s *Schema) addLeaf(name, typ string, l quantise.Leaf) {
	l.Word = s.plan.Words
	s.plan.Words += l.Words()
	s.plan.PackBits += l.Packed()
	s.plan.Leaves = append(s.plan.Leaves, l)
	s.names = append(s.names, fieldName{name, typ})
}
