package lagcomp

import "math"

// Vec is a point or a direction. A game in two dimensions leaves Z zero.
type Vec struct{ X, Y, Z float32 }

func (a Vec) add(b Vec) Vec              { return Vec{a.X + b.X, a.Y + b.Y, a.Z + b.Z} }
func (a Vec) sub(b Vec) Vec              { return Vec{a.X - b.X, a.Y - b.Y, a.Z - b.Z} }
func (a Vec) scale(s float32) Vec        { return Vec{a.X * s, a.Y * s, a.Z * s} }
func (a Vec) dot(b Vec) float32          { return a.X*b.X + a.Y*b.Y + a.Z*b.Z }
func (a Vec) along(d Vec, t float32) Vec { return Vec{a.X + d.X*t, a.Y + d.Y*t, a.Z + d.Z*t} }
func (a Vec) length() float32            { return sqrt(a.dot(a)) }

func (a Vec) lerp(b Vec, f float32) Vec {
	return Vec{a.X + (b.X-a.X)*f, a.Y + (b.Y-a.Y)*f, a.Z + (b.Z-a.Z)*f}
}

// unit returns a with length one, or fallback when a has no direction.
func (a Vec) unit(fallback Vec) Vec {
	l := a.length()
	if !(l > 1e-12) || l > math.MaxFloat32 {
		return fallback
	}
	return a.scale(1 / l)
}

func (a Vec) finite() bool { return finite(a.X) && finite(a.Y) && finite(a.Z) }

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

func abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// finite reports whether x is neither NaN nor infinite.
func finite(x float32) bool { return x-x == 0 }

// clamp keeps x inside lo..hi; NaN becomes lo.
func clamp(x, lo, hi float32) float32 {
	if !(x > lo) {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

// Quat is a rotation as a quaternion. Its length does not matter; the zero
// Quat means no rotation.
type Quat struct{ X, Y, Z, W float32 }

// Turn returns the rotation by angle radians about the Z axis: the only one that a game in two dimensions has.
func Turn(angle float32) Quat {
	s, c := math.Sincos(float64(angle) / 2)
	return Quat{Z: float32(s), W: float32(c)}
}

func (q Quat) unit() Quat {
	l := sqrt(q.X*q.X + q.Y*q.Y + q.Z*q.Z + q.W*q.W)
	if l == 0 {
		return Quat{W: 1}
	}
	return Quat{q.X / l, q.Y / l, q.Z / l, q.W / l}
}

// lerp blends along the shorter way; the caller normalises.
func (q Quat) lerp(p Quat, f float32) Quat {
	if q.X*p.X+q.Y*p.Y+q.Z*p.Z+q.W*p.W < 0 {
		p = Quat{-p.X, -p.Y, -p.Z, -p.W}
	}
	return Quat{q.X + (p.X-q.X)*f, q.Y + (p.Y-q.Y)*f, q.Z + (p.Z-q.Z)*f, q.W + (p.W-q.W)*f}
}

// axes returns the rotated unit vectors of a quaternion of length one.
func (q Quat) axes() (x, y, z Vec) {
	xx, yy, zz := q.X*q.X, q.Y*q.Y, q.Z*q.Z
	xy, xz, yz := q.X*q.Y, q.X*q.Z, q.Y*q.Z
	wx, wy, wz := q.W*q.X, q.W*q.Y, q.W*q.Z
	x = Vec{1 - 2*(yy+zz), 2 * (xy + wz), 2 * (xz - wy)}
	y = Vec{2 * (xy - wz), 1 - 2*(xx+zz), 2 * (yz + wx)}
	z = Vec{2 * (xz + wy), 2 * (yz - wx), 1 - 2*(xx+yy)}
	return x, y, z
}
