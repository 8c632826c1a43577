package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
)

// Interpolate lets the game interpolate a component with its own function. fn returns the
// value at t, above 0 and below 1, on the way from one value to the next. It is not called
// where both are equal. It decides every field, whatever the tags say. Clients draw with
// it: remote entities between two snapshots, and their own between two ticks. The server
// judges shots with it, so they hit what the shooter saw. So fn must depend on its
// arguments alone, use only fields that every player receives, and return the same on every
// machine: the command github.com/foretick/foretick/cmd/foretick-vet checks that. It may
// run on several goroutines at once.
//
// Beyond the newest value, and where there is only one value, the tags decide.
// Corrections fade in the fields that a tag interpolates. The component may hold no strings
// or slices. Call Interpolate after Component. It is not part of [Protocol.Hash].
func Interpolate[T any](p *Protocol, c *ecs.Component[T], fn func(from, to T, t float32) T) {
	if p.late("Interpolate") || !p.able("Interpolate", fn != nil) {
		return
	}
	i := p.replicated("Interpolate", c)
	if i < 0 {
		return
	}
	switch comp := &p.compiled.Components[i]; {
	case comp.Varies:
		p.faultf("Interpolate of %s, which holds strings or slices: put what moves into a component of its own", comp.Name)
	case comp.Schema.OwnInterpolation():
		p.faultf("Interpolate of %s was called twice", comp.Name)
	default:
		comp.Schema.UseInterpolation(func(dst, from, to unsafe.Pointer, t float32) {
			*(*T)(dst) = fn(*(*T)(from), *(*T)(to), t)
		})
		comp.Lerped = true
	}
}
