package lagcomp

import "math"

// frameOf is a box's own coordinate frame.
type frameOf struct{ x, y, z Vec }

func (f *frameOf) in(v Vec) Vec { return Vec{v.dot(f.x), v.dot(f.y), v.dot(f.z)} }

func (f *frameOf) out(v Vec) Vec {
	return Vec{
		f.x.X*v.X + f.y.X*v.Y + f.z.X*v.Z,
		f.x.Y*v.X + f.y.Y*v.Y + f.z.Y*v.Z,
		f.x.Z*v.X + f.y.Z*v.Y + f.z.Z*v.Z,
	}
}

// castBox moves a ball of some radius against an oriented box.
func castBox(o, d Vec, v *Hitbox, max, radius float32) (Contact, bool) {
	var f frameOf
	f.x, f.y, f.z = v.rotation().axes()
	h := v.half()
	lo, ld := f.in(o.sub(v.c)), f.in(d)
	near := clampBox(lo, h)
	if w := lo.sub(near); w.dot(w) <= radius*radius {
		return inside(o, d), true
	}
	t, ok := enterRounded(lo, ld, h, radius)
	if !ok || t > max {
		return Contact{}, false
	}
	at := lo.along(ld, t)
	point := clampBox(at, h)
	n := at.sub(point)
	if radius == 0 || n.dot(n) < 1e-12 {
		n = faceNormal(at, h)
	} else {
		n = n.unit(ld.scale(-1))
	}
	return Contact{Distance: t, Point: v.c.add(f.out(point)), Normal: f.out(n)}, true
}

// clampBox returns the point of the box ±h nearest to p.
func clampBox(p, h Vec) Vec {
	return Vec{clamp(p.X, -h.X, h.X), clamp(p.Y, -h.Y, h.Y), clamp(p.Z, -h.Z, h.Z)}
}

// faceNormal returns the normal of the face that p is nearest to.
func faceNormal(p, h Vec) Vec {
	dx, dy, dz := h.X-abs(p.X), h.Y-abs(p.Y), h.Z-abs(p.Z)
	switch {
	case dx <= dy && dx <= dz:
		return Vec{X: sign(p.X)}
	case dy <= dz:
		return Vec{Y: sign(p.Y)}
	}
	return Vec{Z: sign(p.Z)}
}

func sign(x float32) float32 {
	if x < 0 {
		return -1
	}
	return 1
}

// enterAligned returns where a line that begins outside enters the box ±h.
func enterAligned(o, d, h Vec) (float32, bool) {
	enter, leave := float32(math.Inf(-1)), float32(math.Inf(1))
	slab := func(o, d, h float32) bool {
		if d == 0 {
			return abs(o) <= h
		}
		inv := 1 / d
		a, b := (-h-o)*inv, (h-o)*inv
		if a > b {
			a, b = b, a
		}
		enter, leave = max(enter, a), min(leave, b)
		return true
	}
	ok := slab(o.X, d.X, h.X) && slab(o.Y, d.Y, h.Y) && slab(o.Z, d.Z, h.Z)
	return enter, ok && enter <= leave && enter >= 0
}

// enterRounded returns where a line enters the box ±h, grown by r in every direction. The grown box is the
// union of three boxes, each grown along one axis, and of a capsule around each edge.
func enterRounded(o, d, h Vec, r float32) (float32, bool) {
	if r == 0 {
		return enterAligned(o, d, h)
	}
	if !touchesGrown(o, d, Vec{h.X + r, h.Y + r, h.Z + r}) {
		return 0, false
	}
	best, found := float32(0), false
	try := func(t float32, ok bool) {
		if ok && t >= 0 && (!found || t < best) {
			best, found = t, true
		}
	}
	try(enterAligned(o, d, Vec{h.X + r, h.Y, h.Z}))
	try(enterAligned(o, d, Vec{h.X, h.Y + r, h.Z}))
	try(enterAligned(o, d, Vec{h.X, h.Y, h.Z + r}))
	for i := range 4 {
		s, u := float32(i&1)*2-1, float32(i>>1)*2-1
		try(enterCapsule(o, d, Vec{0, s * h.Y, u * h.Z}, Vec{X: h.X}, r))
		try(enterCapsule(o, d, Vec{s * h.X, 0, u * h.Z}, Vec{Y: h.Y}, r))
		try(enterCapsule(o, d, Vec{s * h.X, u * h.Y, 0}, Vec{Z: h.Z}, r))
	}
	return best, found
}

// touchesGrown reports whether a line touches the box ±h. A line that begins within the box touches it.
func touchesGrown(o, d, h Vec) bool {
	if abs(o.X) <= h.X && abs(o.Y) <= h.Y && abs(o.Z) <= h.Z {
		return true
	}
	_, ok := enterAligned(o, d, h)
	return ok
}

// closestBox returns the nearest point of an oriented box.
func closestBox(p Vec, v *Hitbox) Contact {
	var f frameOf
	f.x, f.y, f.z = v.rotation().axes()
	h := v.half()
	lp := f.in(p.sub(v.c))
	near := clampBox(lp, h)
	w := lp.sub(near)
	dist := w.length()
	if dist > 0 {
		return Contact{Distance: dist, Point: v.c.add(f.out(near)), Normal: f.out(w.unit(Vec{X: 1}))}
	}
	n := faceNormal(lp, h)
	switch {
	case n.X != 0:
		near.X = n.X * h.X
	case n.Y != 0:
		near.Y = n.Y * h.Y
	default:
		near.Z = n.Z * h.Z
	}
	return Contact{Point: v.c.add(f.out(near)), Normal: f.out(n)}
}
