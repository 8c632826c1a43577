package lagcomp

// Contact is where a shape was touched. Distance is in the game's units, along the ray (of
// Cast) or from the point (of Closest). Point is on the shape's surface, and Normal is the
// unit normal there, pointing outwards.
type Contact struct {
	Distance      float32
	Point, Normal Vec
}

// Shape is a custom shape, registered in Config.Shapes and used by CustomHitbox. Both
// methods may run in parallel and must not change anything.
type Shape interface {
	// Cast moves a ball of the given radius (0: a ray) from o along d, of length one, as
	// far as max. It returns where the ball first touches the hitbox. A ball that touches
	// it from the start has Distance 0.
	Cast(v Hitbox, o, d Vec, max, radius float32) (Contact, bool)
	// Closest returns the point of the hitbox's surface nearest to p. Distance is 0 when p
	// is inside.
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
