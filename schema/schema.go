package schema

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/foretick/foretick/internal/quantise"
)

const (
	maxWords     = 4096    // words of one component
	maxIndex32   = 1 << 22 // |index| up to which float32 distinguishes neighbours, with a margin
	maxIndex64   = 1 << 30 // |index| of a float64, so that differences fit an int32
	defaultRatio = 16      // simulation steps in a public step
	maxAngleBits = 18
	ratioBits    = 4
)

// Name returns the component's name.
func (s *Schema) Name() string { return s.plan.Name }

// Type returns the type that the schema was compiled from, or nil for one that was
// read.
func (s *Schema) Type() reflect.Type { return s.plan.Type }

// Predicted reports whether the owner receives the component on the simulation grid.
func (s *Schema) Predicted() bool { return s.plan.Predicted }

// Words returns the number of int32 words of a quantised value.
func (s *Schema) Words() int { return s.plan.Words }

// Plan returns the schema as this module's coding packages use it.
func (s *Schema) Plan() *quantise.Plan { return s.plan }

// Describe returns everything that both ends must agree on, one line a field. The text
// is the same for the same schema on every machine.
func (s *Schema) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "component %s predicted=%t\n", s.plan.Name, s.plan.Predicted)
	for i := range s.plan.Written() {
		f, l := s.Field(i), &s.plan.Leaves[i]
		fmt.Fprintf(&b, "%s.%s %s words=%d", s.plan.Name, f.Name, f.Type, f.Words)
		if l.Ranged() {
			fmt.Fprintf(&b, " lo=%d hi=%d", l.Lo, l.Hi)
		}
		if f.Step != 0 {
			fmt.Fprintf(&b, " step=%g ratio=%d", f.Step, l.Ratio)
		}
		if f.Quat {
			fmt.Fprintf(&b, " bits=%d ratio=%d", l.Bits, l.Ratio)
		}
		if f.Most != 0 {
			fmt.Fprintf(&b, " max=%d", f.Most)
		}
		if l.Vec != 0 {
			fmt.Fprintf(&b, " vec=%d", l.Vec)
		}
		if l.Audience&^quantise.ToOwner != 0 {
			fmt.Fprintf(&b, " to=%d", l.Audience)
		}
		if f.Tolerance != 0 {
			fmt.Fprintf(&b, " tol=%g", f.Tolerance)
		}
		for _, flag := range []struct {
			on   bool
			name string
		}{{f.Angle, "angle"}, {f.Ref, "ref"}, {f.Quat, "quat"}, {f.Audience == ToOwner, "owner"}, {f.OneShot, "oneshot"}, {f.Sum, "sum"}, {f.Lerp, f.Interpolation.String()}} {
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
