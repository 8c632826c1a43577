package main

import (
	"math"

	"github.com/foretick/foretick/ecs"
)

// stood is a body as it was before the tick.
type stood struct {
	entity ecs.Entity
	owner  ecs.Owner
	car    bool
	Body
	Shape
}

// touch is what parts two bodies, and how fast they close in; below 0 if they do not
// touch.
func (s *stood) touch(o *stood) (push Body, closing float32) {
	x, y := s.X-o.X, s.Y-o.Y
	dist := length(x, y)
	deep := s.Radius + o.Radius - dist
	if deep <= 0 || dist == 0 {
		return push, -1
	}
	x, y = x/dist, y/dist
	closing = max(0, (o.VX-s.VX)*x+(o.VY-s.VY)*y)
	return Body{x * deep, y * deep, x * closing * 1.8, y * closing * 1.8}, closing
}

func (b *Body) add(o Body, share float32) {
	*b = Body{b.X + o.X*share, b.Y + o.Y*share, b.VX + o.VX*share, b.VY + o.VY*share}
}

func (b *Body) speed() float32 { return length(b.VX, b.VY) }

func length(x, y float32) float32 { return float32(math.Hypot(float64(x), float64(y))) }

// limit is v, but no further from 0 than by most.
func limit(v, most float32) float32 { return max(-most, min(v, most)) }
