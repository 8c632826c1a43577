package quantise

import "reflect"

// Plan holds a component's leaves, its slices, and the data derived from them, for
// quantising and coding. It never changes, unless it is bound.
type Plan struct {
	Name      string
	Type      reflect.Type // Type is nil in a schema that was read.
	Predicted bool
	size      uintptr // size is the size in memory of a schema without a Go type.
	Words     int
	Leaves    []Leaf
	Lists     []List   // Lists are in the order of their leaves.
	Varying   bool     // Varying is true if there are strings or slices.
	codings   []Coding // codings has the coding of each audience. A schema that was read has none.
	Few       *Codings // Few has the codings of a schema that was read, as far as they were asked for.
	Classes   Audience // Classes are the audiences that make a difference.
	RefWords  []int
	PackBits  int
	Zero      [Lanes][]int32 // Zero has the words of the zero value, brought into range.
	// rest has the words of the zero value by grid, with the fields that only some viewers receive.
	rest      [2][]int32
	sameLanes bool     // sameLanes is true if others receive the owner's words unchanged.
	via       *Binding // via is set if values have another plan's memory layout.
	Press     Press
	bounds    []bound // bounds has the fields that can leave their range, in a compiled schema.
	own       *OwnInterpolation
}
