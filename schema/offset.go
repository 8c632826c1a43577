package schema

import "math"

// Offset is the difference between two values of a field. For a number it is in the
// field's units, in the first element. For a rotation it is the axis times the angle in
// radians. Multiply it by a number from 0 to 1 to get that share of the difference.
type Offset [3]float32

// Size returns the length of the offset in the field's units, or the angle of a
// rotation.
func (o Offset) Size() float32 {
	return float32(math.Sqrt(float64(o[0])*float64(o[0]) + float64(o[1])*float64(o[1]) + float64(o[2])*float64(o[2])))
}
