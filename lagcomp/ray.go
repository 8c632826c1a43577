package lagcomp

import "math"

// Ray is a line of fire: from X, Y, Z along DX, DY, DZ, whose length does not matter, as far as Range. It is
// flat so that it can travel as a message or a request; the tags then set its grid. A ray with a number that is
// not finite, without a direction, or with a Range that is not positive hits nothing; an infinite Range is
// allowed.
type Ray struct {
	X     float32 `net:"min=-1024,max=1024,step=0.01"`
	Y     float32 `net:"min=-1024,max=1024,step=0.01"`
	Z     float32 `net:"min=-1024,max=1024,step=0.01"`
	DX    float32 `net:"min=-1,max=1,step=0.0001"`
	DY    float32 `net:"min=-1,max=1,step=0.0001"`
	DZ    float32 `net:"min=-1,max=1,step=0.0001"`
	Range float32 `net:"min=0,max=1024,step=0.01"`
}

// Ray2D returns the ray of a game in two dimensions: angle in radians, 0 along X, growing towards Y.
func Ray2D(x, y, angle, rng float32) Ray {
	s, c := math.Sincos(float64(angle))
	return Ray{X: x, Y: y, DX: float32(c), DY: float32(s), Range: rng}
}

// RayTo returns the ray from one point to another. Its Range is their distance.
func RayTo(from, to Vec) Ray {
	d := to.sub(from)
	return Ray{X: from.X, Y: from.Y, Z: from.Z, DX: d.X, DY: d.Y, DZ: d.Z, Range: d.length()}
}

// line is a ray made ready for queries: its direction has length one.
type line struct {
	o, d Vec
	max  float32
}

// line normalises the ray. It returns false if the ray hits nothing.
func (r Ray) line() (line, bool) {
	if !(Vec{r.X, r.Y, r.Z}).finite() || !(Vec{r.DX, r.DY, r.DZ}).finite() || !(r.Range > 0) {
		return line{}, false
	}
	x, y, z := float64(r.DX), float64(r.DY), float64(r.DZ)
	l := math.Sqrt(x*x + y*y + z*z)
	if l == 0 {
		return line{}, false
	}
	d := Vec{float32(x / l), float32(y / l), float32(z / l)}
	return line{o: Vec{r.X, r.Y, r.Z}, d: d, max: min(r.Range, math.MaxFloat32)}, true
}
