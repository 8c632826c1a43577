package schema

import (
	"unsafe"

	"github.com/foretick/foretick/internal/quantise"
)

// Copier returns a function that copies a value of the schema's type into another. The
// two then share no memory that may be written later. It returns nil if copying the
// bytes is enough. The copy reuses slices that this package made, and allocates only
// new ones. The error is a [*TagError], or several joined by [errors.Join], for a type
// that holds pointers other than strings and slices that are sent.
func (s *Schema) Copier() (func(dst, src unsafe.Pointer), error) {
	copier, pointers := s.plan.Copier()
	var errs []*TagError
	for _, path := range pointers {
		errs = append(errs, &TagError{s.plan.Name, path, "holds a pointer that does not travel", "keep it out of the component: of pointers it may hold strings, and slices that are sent"})
	}
	if len(errs) > 0 {
		return nil, joinTags(errs)
	}
	return copier, nil
}

// Cover copies each field that an audience does not receive from from into words. Then
// the two can be compared as a whole.
func (s *Schema) Cover(a Audience, words, from []int32) {
	s.plan.Cover(quantise.Audience(a), words, from)
}

// Reaches reports whether viewers of an audience receive any part of the component.
func (s *Schema) Reaches(a Audience) bool { return s.plan.Reaches(quantise.Audience(a)) }

// Coarse returns the index in [Schema.Fields] of the first field that other viewers
// receive in coarser steps than the owner, or −1. See [Options].FullPrecision.
func (s *Schema) Coarse() int { return s.plan.Coarse() }

// Rounded reports whether some field is sent on a grid: a float with a step, an angle or a
// rotation. A value that no end rounds in place then differs from what a client has of it.
func (s *Schema) Rounded() bool { return s.plan.Rounded() }

// Size returns the number of bytes that a value of the schema takes in memory.
func (s *Schema) Size() uintptr { return s.plan.Size() }

// Known writes to dst the words on a grid that this end knows. Those are all words,
// unless the schema was bound to a type that lacks some fields: these become zero.
func (s *Schema) Known(words []int32, g Grid, dst []int32) {
	s.plan.Known(words, quantise.Grid(g), dst)
}

// Knows reports whether this end knows a field, by its index in [Schema.Fields]. It
// knows every field, except those that the type of a bound schema lacks.
func (s *Schema) Knows(field int) bool { return s.plan.Knows(field) }
