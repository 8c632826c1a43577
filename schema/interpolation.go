package schema

import "github.com/foretick/foretick/internal/quantise"

// Interpolation is how a field moves from one received value to the next. A tag sets
// it. Both ends must agree on it, because the server judges shots by the frame that the
// shooter saw.
type Interpolation uint8

const (
	// Snap holds the older value until the newer. It is the default.
	Snap Interpolation = iota
	// Lerp moves straight, and turns angles the shorter way. A rotation is interpolated
	// straight on its shorter side and normalised: it follows the arc, at an uneven
	// speed.
	Lerp
	// Slerp turns along the shorter arc at constant speed. It is for rotations.
	Slerp
	// Hermite moves along a cubic curve, see [Knots]. It is for numbers.
	Hermite
)

// String returns the tag's word.
func (h Interpolation) String() string { return quantise.Interpolation(h).String() }

// HermiteSpan is the greatest number of ticks between two values for which a hermite
// field uses their speeds. If values are further apart, it moves straight.
const HermiteSpan = quantise.HermiteSpan

// Knots are the values of a component that a frame between two of them depends on, for
// [Schema.Interpolate]. All are words on one grid.
//
// A field tagged hermite moves from From to To along a cubic curve. Its speeds at the
// two ends are:
//
//   - with a velocity (tag hermite=NAME), the velocity field's values in From and in To.
//     The curve may reach beyond its ends, as a ball does between two ticks, but not
//     beyond the field's range. If neither value nor velocity differs, the field holds.
//   - without one, the mean speed from Before to From, and that from From to To. The
//     curve never leaves the interval between its ends. The first speed is 0 if the
//     motion turns back or ends, and at most four times the second. It uses nothing
//     later than To, so a frame does not depend on values received since.
//
// The field moves straight if a value that it needs is missing, or is more than
// [HermiteSpan] ticks away from the next.
type Knots struct {
	// Before is the value received before From. It is nil if there is none, or if a
	// teleport separates them. See [snapshot.Ghost.Before].
	Before []int32
	// From and To are the values around the frame: see [snapshot.Ghost.Sample]. If To is
	// nil, all fields hold From.
	From, To []int32
	// Lead is the number of ticks from Before to From, and Span the number from From to
	// To. 0 means unknown.
	Lead, Span float32
	// Rate is the number of ticks a second. 0 means unknown, and velocities are not
	// used.
	Rate float32
	// Fraction is the position of the frame between From and To, 0 to 1.
	Fraction float32
}

// Keyframe is a known value of a component, or of several one after another.
type Keyframe struct {
	Tick Tick
	// Words are nil if no value is known, or if nothing may be interpolated across: the
	// entity teleported, or changed its owner or components.
	Words []int32
}

// Between returns the knots of a frame at fraction f of the way from one keyframe to the
// next, at a number of ticks a second. Both ends use it, so the server judges the frame
// that a client drew.
//
// The knots hold from if to has no words, or if f is 0, below 0 or NaN. They hold to if
// from has no words. before is the keyframe before from, and matters to curves only.
func Between(before, from, to Keyframe, f, rate float32) Knots {
	return Knots(quantise.Between(quantise.Keyframe(before), quantise.Keyframe(from), quantise.Keyframe(to), f, rate))
}
