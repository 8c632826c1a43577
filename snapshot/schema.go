package snapshot

import (
	"fmt"
	"reflect"
	"strings"
)

// Grid chooses one of the two quantisations of a component.
type Grid uint8

const (
	// GridPublic is the grid of the tag's step: what every viewer receives.
	GridPublic Grid = iota
	// GridSim is the finer simulation grid: what the owner of a predicted
	// component receives. For components that are not predicted it is GridPublic.
	GridSim
)

const (
	maxWords     = 4096    // of one component
	maxIndex32   = 1 << 22 // |index| for which float32 tells neighbours apart with room to spare
	maxIndex64   = 1 << 30 // |index| of a float64, so that differences fit an int32
	defaultRatio = 16      // simulation steps in a step
	maxAngleBits = 18
	ratioBits    = 4
)

// SchemaOptions says what a component is besides its type.
type SchemaOptions struct {
	// Name is the component's name in descriptions and errors; "" takes the type's.
	Name string
	// Predicted gives the component a simulation grid, on which its owner receives it.
	Predicted bool
	// Exact has everybody receive what is predicted on the simulation grid, as far
	// as a rotation's or an angle's most bits go: for those who are to compute with
	// it themselves. It costs others about four bits more for a number that moves.
	Exact bool
	// Ref is the type whose fields are references to entities; its kind is uint64.
	// Nil: there are none.
	Ref reflect.Type
	// Audiences are the names of the game's own audiences, for the tag to=NAME; at
	// most MaxAudiences, in the same order for all components of a [Registry].
	Audiences []string
	// Audience is who receives those fields that name no audience themselves. The
	// zero value is everybody.
	Audience Audience
}

// Schema is the compiled description of a component, command or event type. It
// never changes and is safe for use by many goroutines, unless it comes from
// [Schema.Bind]. Methods that take an unsafe.Pointer expect the address of a value
// of the type it was compiled from.
type Schema struct {
	name      string
	typ       reflect.Type
	predicted bool
	size      uintptr // in memory, without a Go type
	words     int
	names     []fieldName // of the fields but those of further elements: see nameOf
	all       *allFields
	leaves    []leaf
	lists     []list   // in the order of their leaves
	varies    bool     // it has strings or slices
	codings   []coding // per audience; none in a schema that was read
	few       *codings // then: those that were asked for
	classes   audience // those that make a difference
	refWords  []int
	packBits  int
	zero      [lanes][]int32 // the zero value, brought into range
	rest      [2][]int32     // the same by grid, with what only some receive
	sameLanes bool           // others receive the owner's words as they are
	via       *binding       // its values lie in memory as another schema says
	press     press
	bounds    []bound // of a compiled one
}

// Field describes one number or string of a component: arrays and structs are
// flattened, and so are slices, behind a field for their length.
type Field struct {
	Name  string // path within the component, such as "Pos.X" or "Slots[2]"
	Type  string // Go type
	Word  int    // index of its first word
	Words int    // 1, or 2 for 64-bit values, or 4 for rotations, or more for strings

	Audience Audience // who receives it; 0: everybody
	Owner    bool     // its owner receives it, and not everybody does
	OneShot  bool     // an action that is never repeated
	Press    bool     // of the frame in which a oneshot was pressed; neither described nor sent
	Lerp     bool     // interpolated, in whatever way
	Angle    bool     // radians, wrapping
	Ref      bool     // reference to an entity
	Quat     bool     // rotation: the greatest component's index, and the other three
	Text     bool     // string
	Slice    bool     // the length of a slice
	Most     int      // bytes of the string, or elements of the slice

	Interpolation Interpolation // how it goes from value to value
	Velocity      string        // with Hermite: the field that is its velocity; "": none is

	Min, Max  float64 // range in the field's unit; both 0 where there is none
	Step, Sim float64 // width of the public and simulation grid; 0 where there is none
	Tolerance float64 // of FirstDifference, in the field's unit
	Bits      int     // in a packed command or event, at most
}

// Name is the component's name.
func (s *Schema) Name() string { return s.name }

// Type is the type that the schema was compiled from; nil for one that was read.
func (s *Schema) Type() reflect.Type { return s.typ }

// Predicted tells whether the owner receives the component on the simulation grid.
func (s *Schema) Predicted() bool { return s.predicted }

// Words is the number of int32 words of a quantised value.
func (s *Schema) Words() int { return s.words }

// Describe writes all that both ends must agree on, one line a field, in a form
// that is the same for the same schema on every machine.
func (s *Schema) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "component %s predicted=%t\n", s.name, s.predicted)
	for i := range s.written() {
		f, l := s.Field(i), &s.leaves[i]
		fmt.Fprintf(&b, "%s.%s %s words=%d", s.name, f.Name, f.Type, f.Words)
		if l.ranged() {
			fmt.Fprintf(&b, " lo=%d hi=%d", l.lo, l.hi)
		}
		if f.Step != 0 {
			fmt.Fprintf(&b, " step=%g ratio=%d", f.Step, l.ratio)
		}
		if f.Quat {
			fmt.Fprintf(&b, " bits=%d ratio=%d", l.bits, l.ratio)
		}
		if f.Most != 0 {
			fmt.Fprintf(&b, " max=%d", f.Most)
		}
		if l.vec != 0 {
			fmt.Fprintf(&b, " vec=%d", l.vec)
		}
		if l.aud&^ToOwner != 0 {
			fmt.Fprintf(&b, " to=%d", l.aud)
		}
		if f.Tolerance != 0 {
			fmt.Fprintf(&b, " tol=%g", f.Tolerance)
		}
		for _, flag := range []struct {
			on   bool
			name string
		}{{f.Angle, "angle"}, {f.Ref, "ref"}, {f.Quat, "quat"}, {f.Audience == ToOwner, "owner"}, {f.OneShot, "oneshot"}, {f.Lerp, f.Interpolation.String()}} {
			if flag.on {
				b.WriteString(" " + flag.name)
			}
		}
		if f.Velocity != "" {
			b.WriteString("=" + f.Velocity)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
