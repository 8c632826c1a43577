package schema

import "github.com/foretick/foretick/internal/quantise"

// Mask is a set of components, by their ids in a [Registry]. Make one with [MaskOf]. Its zero
// value is empty. a.Equal(b) compares two masks.
//
// m.Has(c) reports whether a component is in it, m.With(c) returns it with one more, and
// m.Len() is the number of components. The loop for c := m.Next(0); c >= 0; c = m.Next(c + 1)
// visits each in the order of ids.
type Mask = quantise.Mask

// MaskBuilder makes a [Mask], component by component: Set adds one, and Mask returns the set. Its
// zero value is an empty set.
type MaskBuilder = quantise.MaskBuilder

// MaskOf returns the set of some components. It panics if an id is not 0 to 255.
func MaskOf(comps ...int) Mask { return quantise.MaskOf(comps...) }
