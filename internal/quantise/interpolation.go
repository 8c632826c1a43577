package quantise

// Interpolation is [schema.Interpolation].
type Interpolation uint8

// Ways from one value to the next.
const (
	Snap Interpolation = iota
	Lerp
	Slerp
	Hermite
)

// String returns the tag's word.
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
