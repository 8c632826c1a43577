package schema

import "github.com/foretick/foretick/internal/quantise"

// Difference lists the differences between two schemas of one component, by the names
// of fields; see [Schema.Bind].
type Difference struct {
	// Missing are the fields of the own type that the other schema lacks, or has with
	// another meaning, such as a rotation instead of a number.
	Missing []string
	// Unknown are the fields of the other schema that the own type lacks.
	Unknown []string
	// Changed are the fields of both that differ in type, range, grid or audience.
	Changed []string
}

// Bind turns a schema that was read ([Read]) into one that takes and returns values of
// own's type. It codes and decodes the bits of s.
//
// Fields are matched by name. Numbers are converted; a number that does not fit into
// the other type becomes the nearest that does. A field that own lacks is decoded and
// dropped. When a value is written, that field has the zero value, brought into its
// range. Decoding leaves a field that only own has unchanged.
//
// The returned schema may be used by one goroutine at a time. Bind also works on a
// schema that was compiled or bound, and then binds the bits that it codes.
func (s *Schema) Bind(own *Schema) (*Schema, Difference) {
	v := quantise.NewBinding(s.plan, own.plan, len(s.names))
	wire := &Schema{plan: v.Wire, names: s.names, all: s.all}
	var d Difference
	byName := map[string]int{}
	for i, entry := range own.plan.Written() {
		byName[own.names[entry].Name] = i
	}
	matched := map[int]bool{}
	for i, entry := range v.Wire.Written() {
		name := s.names[entry].Name
		k, ok := byName[name]
		if !ok || !v.Pair(i, k) {
			d.Unknown = append(d.Unknown, name)
			v.Void[entry] = true
			continue
		}
		matched[k] = true
		if !sameField(wire.Field(i), own.Field(k)) {
			d.Changed = append(d.Changed, name)
		}
	}
	for k, entry := range own.plan.Written() {
		if !matched[k] {
			d.Missing = append(d.Missing, own.names[entry].Name)
		}
	}
	return &Schema{plan: v.Bound(), names: s.names, all: s.all}, d
}

// sameField reports whether two fields differ only in their place.
func sameField(a, b Field) bool {
	a.Word, b.Word = 0, 0
	return a == b
}
