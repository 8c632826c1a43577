package schema

import (
	"reflect"

	"github.com/foretick/foretick/internal/quantise"
)

// Options describes a component, in addition to its type.
type Options struct {
	// Name is the component's name in descriptions and errors; "" takes the type's.
	Name string
	// Predicted adds a simulation grid, on which the owner receives the component.
	Predicted bool
	// FullPrecision sends a predicted component to every viewer on the simulation grid, for
	// viewers that simulate with it. Rotations and angles are limited to their greatest
	// number of bits. It costs other viewers about four bits more for a number that
	// moves.
	FullPrecision bool
	// Ref is the type of fields that are references to entities; its kind is uint64.
	// Nil means that there are none.
	Ref reflect.Type
	// Audiences are the names of game-defined audiences, for the tag to=NAME. At most
	// MaxAudiences, and in the same order for all components of a [Registry].
	Audiences []string
	// Audience receives the fields that name no audience themselves. The zero value
	// means every viewer.
	Audience Audience
}

// Field describes one number or string of a component. Arrays and structs are
// flattened. So are slices, after a field for their length.
type Field struct {
	Name  string // path within the component, such as "Pos.X" or "Slots[2]"
	Type  string // Go type
	Word  int    // index of the field's first word
	Words int    // number of words: 1, or 2 for 64-bit values, or 4 for rotations, or more for strings

	Audience Audience // classes of viewers that receive the field; 0: every viewer
	Owner    bool     // the entity's owner receives the field, but not every viewer
	OneShot  bool     // an action, or which of several, that is never repeated (tag oneshot)
	Sum      bool     // movement, added up over the frames of a tick and never repeated (tag sum)
	Press    bool     // in a command: taken from the frame with the press of a oneshot (tag press); neither described nor sent
	Lerp     bool     // the field is interpolated, in whatever way
	Angle    bool     // radians, wrapping
	Ref      bool     // reference to an entity
	Quat     bool     // rotation: the greatest component's index, and the other three
	Text     bool     // string
	Slice    bool     // the length of a slice
	Most     int      // the most bytes of a string, or elements of a slice

	Interpolation Interpolation // how the field moves from value to value
	Velocity      string        // with Hermite: the path of the field that is the velocity of this one, or ""

	Min, Max  float64 // range in the field's unit; both 0 where there is none
	Step, Sim float64 // width of the public and simulation grid; 0 where there is none
	Tolerance float64 // the tolerance of FirstDifference, in the field's unit
	Bits      int     // the most bits that the field takes in a packed command or event
}

// Schema is the compiled description of a component, command or event type. It never
// changes and is safe for use by many goroutines, unless it comes from [Schema.Bind].
// Methods with an unsafe.Pointer expect the address of a value of the compiled type.
type Schema struct {
	plan *quantise.Plan
	// names has the names of the fields, without those of slice elements after the first: see nameOf.
	names []fieldName
	all   *allFields
}
