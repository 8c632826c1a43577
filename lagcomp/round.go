package lagcomp

// enterSphere returns how far along o, d the surface of a ball is entered. The result is negative if o is past
// the entry. Working from the point of closest approach keeps float32 exact enough at any distance.
func enterSphere(o, d, c Vec, r float32) (float32, bool) {
	oc := c.sub(o)
	tca := oc.dot(d)
	perp := oc.along(d, -tca)
	h := r*r - perp.dot(perp)
	if !(h >= 0) {
		return 0, false
	}
	return tca - sqrt(h), true
}

// castSphere moves a ball of some radius against a sphere.
func castSphere(o, d, c Vec, r, max, radius float32) (Contact, bool) {
	if oc := o.sub(c); oc.dot(oc) <= (r+radius)*(r+radius) {
		return inside(o, d), true
	}
	t, ok := enterSphere(o, d, c, r+radius)
	if !ok || t < 0 || t > max {
		return Contact{}, false
	}
	at := o.along(d, t)
	n := at.sub(c).unit(d.scale(-1))
	return Contact{Distance: t, Point: c.along(n, r), Normal: n}, true
}

// inside returns the contact of a ray that begins within a hitbox.
func inside(o, d Vec) Contact {
	return Contact{Point: o, Normal: d.scale(-1)}
}

// nearestOnAxis returns the point of the segment c−h … c+h nearest to p.
func nearestOnAxis(p, c, h Vec) Vec {
	hh := h.dot(h)
	if hh == 0 {
		return c
	}
	return c.along(h, clamp(p.sub(c).dot(h)/hh, -1, 1))
}

// enterCapsule is enterSphere for a capsule that o lies outside of. The
// capsule is the union of a cylinder and two balls, so it is entered where the
// first of them is.
func enterCapsule(o, d, c, h Vec, r float32) (float32, bool) {
	best, found := float32(0), false
	try := func(t float32) {
		if t >= 0 && (!found || t < best) {
			best, found = t, true
		}
	}
	if t, ok := enterSphere(o, d, c.sub(h), r); ok {
		try(t)
	}
	if t, ok := enterSphere(o, d, c.add(h), r); ok {
		try(t)
	}
	if t, ok := enterSide(o, d, c, h, r); ok {
		try(t)
	}
	return best, found
}

// enterSide returns where the cylinder of a capsule is entered. It leaves out the ends.
func enterSide(o, d, c, h Vec, r float32) (float32, bool) {
	hh := h.dot(h)
	shift := c.sub(o).dot(d)
	w := o.along(d, shift).sub(c) // seen from the centre, near closest approach
	hd, hw := h.dot(d), h.dot(w)
	a := hh - hd*hd
	if !(a > 1e-6*hh) {
		return 0, false // along the axis: an end is met first
	}
	b := hh*w.dot(d) - hw*hd
	k := hh*(w.dot(w)-r*r) - hw*hw
	disc := b*b - a*k
	if !(disc >= 0) {
		return 0, false
	}
	t := (-b - sqrt(disc)) / a
	if y := hw + t*hd; y < -hh || y > hh {
		return 0, false
	}
	return t + shift, true
}

// castCapsule moves a ball of some radius against a capsule.
func castCapsule(o, d, c, h Vec, r, max, radius float32) (Contact, bool) {
	if w := o.sub(nearestOnAxis(o, c, h)); w.dot(w) <= (r+radius)*(r+radius) {
		return inside(o, d), true
	}
	t, ok := enterCapsule(o, d, c, h, r+radius)
	if !ok || t > max {
		return Contact{}, false
	}
	at := o.along(d, t)
	axis := nearestOnAxis(at, c, h)
	n := at.sub(axis).unit(d.scale(-1))
	return Contact{Distance: t, Point: axis.along(n, r), Normal: n}, true
}

// closestRound returns the nearest point of a ball around centre.
func closestRound(p, centre Vec, r float32) Contact {
	w := p.sub(centre)
	dist := w.length()
	n := w.unit(Vec{X: 1})
	return Contact{Distance: nonNegative(dist - r), Point: centre.along(n, r), Normal: n}
}
