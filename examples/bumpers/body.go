package main

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/mathf"
)

// stood is a copy of a body as it was before the tick.
type stood struct {
	entity ecs.Entity
	owner  ecs.Owner
	car    bool
	Body
	Shape
}

// touch returns the push that separates two bodies, and their closing speed; it is
// below 0 if they do not touch.
func (s *stood) touch(o *stood) (push Body, closing float32) {
	x, y := s.X-o.X, s.Y-o.Y
	dist := mathf.Hypot(x, y)
	deep := s.Radius + o.Radius - dist
	if deep <= 0 || dist == 0 {
		return push, -1
	}
	x, y = x/dist, y/dist
	closing = max(0, float32((o.VX-s.VX)*x)+float32((o.VY-s.VY)*y))
	return Body{x * deep, y * deep, x * closing * 1.8, y * closing * 1.8}, closing
}

func (b *Body) add(o Body, share float32) {
	*b = Body{b.X + float32(o.X*share), b.Y + float32(o.Y*share), b.VX + float32(o.VX*share), b.VY + float32(o.VY*share)}
}

func (b *Body) speed() float32 { return mathf.Hypot(b.VX, b.VY) }

// limit clamps v to the range from -most to most.
func limit(v, most float32) float32 { return max(-most, min(v, most)) }
