package snapshot

// Interpolation is how a field goes from one received value to the next. A tag names
// it; it is part of what both ends must agree on, so that a server that judges what
// was on a screen takes the same way as the screen did.
type Interpolation uint8

const (
	// Snap holds the older value until the newer. It is the default.
	Snap Interpolation = iota
	// Lerp goes straight; angles the shorter way round. A rotation goes straight too,
	// by the shorter side, and is brought back to length 1: that is the arc, but not
	// at an even speed.
	Lerp
	// Slerp goes along the shorter arc at an even speed. It is for rotations.
	Slerp
	// Hermite goes along a cubic, see [Knots]. It is for numbers.
	Hermite
)

// String is the tag's word.
func (h Interpolation) String() string {
	switch h {
	case Lerp:
		return "lerp"
	case Slerp:
		return "slerp"
	case Hermite:
		return "hermite"
	}
	return "snap"
}
