package lagcomp

// Contact is where a shape was touched: the distance along the ray (of Cast)
// or from the point (of Closest), in the game's units, the point on the shape's
// surface and the unit normal there, pointing outwards.
type Contact struct {
	Distance      float32
	Point, Normal Vec
}

// Shape is a hit volume of the game's own, registered in Config.Shapes and
// used by CustomHitbox. Both methods may run in parallel and must not change
// anything.
type Shape interface {
	// Cast answers where a ball of the given radius (0: a ray) that moves from
	// o along d, of length one, as far as max, first touches the volume. A
	// ball that touches it from the start has Distance 0.
	Cast(v Hitbox, o, d Vec, max, radius float32) (Contact, bool)
	// Closest answers the point of the volume's surface nearest to p;
	// Distance is 0 when p is inside.
	Closest(v Hitbox, p Vec) Contact
}

// cast is Shape.Cast for the built-in kinds too.
func (v *Hitbox) cast(shapes []Shape, l *line, max, radius float32) (Contact, bool) {
	switch v.kind {
	case kindSphere:
		return castSphere(l.o, l.d, v.c, v.r, max, radius)
	case kindCapsule:
		return castCapsule(l.o, l.d, v.c, v.half(), v.p[3], max, radius)
	case kindBox:
		return castBox(l.o, l.d, v, max, radius)
	}
	if int(v.shape) < len(shapes) {
		return shapes[v.shape].Cast(*v, l.o, l.d, max, radius)
	}
	return Contact{}, false
}

// closest is Shape.Closest for the built-in kinds too.
func (v *Hitbox) closest(shapes []Shape, p Vec) (Contact, bool) {
	switch v.kind {
	case kindSphere:
		return closestRound(p, v.c, v.r), true
	case kindCapsule:
		return closestRound(p, nearestOnAxis(p, v.c, v.half()), v.p[3]), true
	case kindBox:
		return closestBox(p, v), true
	}
	if int(v.shape) < len(shapes) {
		return shapes[v.shape].Closest(*v, p), true
	}
	return Contact{}, false
}
