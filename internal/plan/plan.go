package plan

import "reflect"

// Plan holds a component's leaves, its slices, and the data derived from them, for
// quantising and coding. It never changes, unless it is bound.
type Plan struct {
	Name      string
	Type      reflect.Type // nil: of a schema that was read
	Predicted bool
	size      uintptr // in memory, without a Go type
	Words     int
	Leaves    []Leaf
	Lists     []List   // in the order of their leaves
	Varying   bool     // it has strings or slices
	codings   []Coding // per audience; none in a schema that was read
	Few       *Codings // then: those that were asked for
	Classes   Audience // those that make a difference
	RefWords  []int
	PackBits  int
	Zero      [Lanes][]int32 // the zero value, brought into range
	rest      [2][]int32     // the same by grid, with what only some receive
	sameLanes bool           // others receive the owner's words as they are
	via       *Binding       // its values have another plan's memory layout
	Press     Press
	bounds    []bound // of a compiled one
	own       *OwnInterpolation
}
