package game

import (
	"math"

	"github.com/foretick/foretick/mathf"
)

// Wall is a solid rectangle.
type Wall struct{ X0, Y0, X1, Y1 float32 }

// Field is half the arena's side.
const Field = 20

// Walls block bodies, bolts and rays.
var Walls = [...]Wall{
	{-14, -2, -8, -1}, {8, 1, 14, 2},
	{-2, 6, -1, 13}, {1, -13, 2, -6},
	{-3.5, -3.5, -2, -2}, {2, 2, 3.5, 3.5},
	{-14, 10, -10, 11}, {10, -11, 14, -10},
}

// collide pushes a disc out of the Walls and keeps it in the field. It reports
// which axes of its motion were stopped.
func collide(x, y *float32, r float32) (stopX, stopY bool) {
	for i := range Walls {
		w := &Walls[i]
		nx, ny := min(max(*x, w.X0), w.X1), min(max(*y, w.Y0), w.Y1)
		dx, dy := *x-nx, *y-ny
		d2 := float32(dx*dx) + float32(dy*dy)
		if d2 >= r*r {
			continue
		}
		if d2 > 0 {
			d := float32(math.Sqrt(float64(d2)))
			*x, *y = nx+float32(dx/d*r), ny+float32(dy/d*r)
			stopX, stopY = stopX || dx != 0, stopY || dy != 0
			continue
		}
		sx, sy := w.leave(x, y, r)
		stopX, stopY = stopX || sx, stopY || sy
	}
	const edge = Field - BodyRadius
	if *x < -edge || *x > edge {
		*x, stopX = min(max(*x, -edge), edge), true
	}
	if *y < -edge || *y > edge {
		*y, stopY = min(max(*y, -edge), edge), true
	}
	return stopX, stopY
}

// leave moves a centre that is inside the wall out by the shortest way.
func (w *Wall) leave(x, y *float32, r float32) (stopX, stopY bool) {
	left, right, down, up := *x-w.X0, w.X1-*x, *y-w.Y0, w.Y1-*y
	switch min(left, right, down, up) {
	case left:
		*x = w.X0 - r
		return true, false
	case right:
		*x = w.X1 + r
		return true, false
	case down:
		*y = w.Y0 - r
	default:
		*y = w.Y1 + r
	}
	return false, true
}

// sight returns how long a ray is before it hits a wall, at most limit.
func sight(x, y, angle, limit float32) float32 {
	sin, cos := mathf.Sincos(angle)
	for i := range Walls {
		if d, ok := Walls[i].hit(x, y, cos, sin); ok && d < limit {
			limit = d
		}
	}
	return limit
}

// hit returns the distance at which a ray enters the wall.
func (w *Wall) hit(x, y, dx, dy float32) (float32, bool) {
	near, far := float32(0), float32(math.MaxFloat32)
	for _, a := range [2][4]float32{{x, dx, w.X0, w.X1}, {y, dy, w.Y0, w.Y1}} {
		at, d, lo, hi := a[0], a[1], a[2], a[3]
		if d == 0 {
			if at < lo || at > hi {
				return 0, false
			}
			continue
		}
		t0, t1 := (lo-at)/d, (hi-at)/d
		near, far = max(near, min(t0, t1)), min(far, max(t0, t1))
	}
	return near, near <= far
}
