package client

import (
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Received returns a component's value from the newest snapshot that had it, and the snapshot's
// tick. The value is neither predicted nor interpolated. Debug overlays draw it. Received returns
// false if the server has not sent the entity, or not this component. Call it between Steps, in a
// system or in a handler.
func Received[T any](c *Client, component *ecs.Component[T], e ecs.Entity) (v T, at foretick.Tick, ok bool) {
	at, ok = c.received(component.ID(), e, unsafe.Pointer(&v))
	return v, at, ok
}

// received writes a component's value in the newest snapshot that had it to v, which has the
// component's type. It returns false if there is none.
func (c *Client) received(component ecs.ID, e ecs.Entity, v unsafe.Pointer) (at foretick.Tick, ok bool) {
	for i := range c.p.Components {
		if comp := &c.p.Components[i]; !comp.Unknown && comp.ID == component {
			return c.ghosts.readReceived(e, i, v)
		}
	}
	return 0, false
}

// readReceived writes the newest received value of a component to v.
func (gs *ghosts) readReceived(e ecs.Entity, i int, v unsafe.Pointer) (at foretick.Tick, ok bool) {
	if gs.receiver == nil || e == ecs.None {
		return 0, false
	}
	for _, g := range gs.receiver.Ghosts() {
		if ecs.Entity(g.Data) != e || g.Data == 0 {
			continue
		}
		s := g.Newest()
		words := s.Component(i)
		if words == nil {
			return 0, false
		}
		gs.p.Components[i].Schema.DequantiseFor(s.Audience, words, s.Grid(i), wireRefs{gs}, v)
		return s.Tick, true
	}
	return 0, false
}
