package bridge

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/misuse"
)

// Bridge connects the game's own entities, of type E, to the entities of one end's world. Create
// it with New, bind components with [Component] or [Convert], and then declare systems.
type Bridge[E comparable] struct {
	spawn  func(prefab string) E
	remove func(E)

	bound []carrier[E]
	id    func(w *ecs.World, e ecs.Entity) uint64 // returns the id of Order; nil: no order
	ids   ecs.Handle                              // component with the ids of Order

	errs     []error
	told     int // how many of errs the protocol got
	protocol *foretick.Protocol
	entities *ecs.Query // matches every entity
	mask     ecs.Mask   // the bound components

	world *ecs.World
	pairs pairs[E]
}

// New returns a bridge without components. spawn makes an own entity for an entity of the
// named prefab, with a value for each bound component, and returns it. remove destroys an own
// entity. Both are called between systems, and before a frame is drawn.
func New[E comparable](spawn func(prefab string) E, remove func(E)) *Bridge[E] {
	b := &Bridge[E]{spawn: spawn, remove: remove}
	b.pairs.of = map[E]ecs.Entity{}
	if spawn == nil {
		b.faultf("New has no function that spawns: give one that makes an own entity for a prefab")
	}
	if remove == nil {
		b.faultf("New has no function that removes: give one that destroys an own entity")
	}
	return b
}

// Order makes systems get their active own entities in ascending order of ids. The ids must be
// the same on both ends, for example numbers that the server counts. id returns the id in a
// component. The component must be sent to all clients. Give each entity its own id before a
// system runs for it. Entities without the component come last. Call Order before the first
// system.
func Order[E comparable, T any](b *Bridge[E], c *ecs.Component[T], id func(*T) uint64) {
	switch {
	case c == nil:
		b.faultf("Order is given a nil component: pass its address, as in &g.ID")
	case id == nil:
		b.faultf("Order has no function: give one that returns the id in a %s", reflect.TypeFor[T]())
	case b.id != nil:
		b.faultf("Order is given twice: leave one call out")
	case b.protocol != nil:
		b.faultf("Order after System: call it before the first system")
	default:
		b.ids = c
		b.id = func(w *ecs.World, e ecs.Entity) uint64 {
			if v := c.Find(w, e); v != nil {
				return id(v)
			}
			return math.MaxUint64
		}
	}
}

// Entity returns the entity of an own entity, for Frame.SpawnBy, Destroy and events. It
// returns [ecs.None] for an own entity that the bridge did not spawn, or has removed.
func (b *Bridge[E]) Entity(own E) ecs.Entity { return b.pairs.of[own] }

// Own returns the own entity of an entity, and false if it has none. Inside a system it also
// makes an own entity for an entity that the system has spawned, with the values that the entity
// has now. The bridge copies its values out with those of the others after the system.
func (b *Bridge[E]) Own(f *foretick.Frame, e ecs.Entity) (own E, ok bool) {
	if f.World != b.world {
		return own, false
	}
	s := b.pairs.running
	at, known := b.pairs.slotOfEntity(e)
	if known && (s == nil || b.pairs.slots[at].stamp == b.pairs.stamp) {
		return b.pairs.slots[at].own, true
	}
	if s == nil || !f.World.Alive(e) {
		return own, false
	}
	// The system has spawned the entity. A replay that spawns it again gives it the same handle.
	at = b.pair(f, e)
	p := &b.pairs.slots[at]
	p.simulated, p.stamp = true, b.pairs.stamp
	b.pairs.spawned = append(b.pairs.spawned, at)
	for _, c := range s.news {
		c.inOne(f.World, e, p.own)
	}
	return p.own, true
}

// Clear removes every own entity, for example when the connection has ended and the last frame
// should no longer be drawn. The next tick or frame makes them again.
func (b *Bridge[E]) Clear() {
	for len(b.pairs.list) > 0 {
		b.dropPair(b.pairs.list[len(b.pairs.list)-1])
		b.pairs.list = b.pairs.list[:len(b.pairs.list)-1]
	}
	clear(b.pairs.slots)
}

func (b *Bridge[E]) faultf(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf("bridge: "+format, args...))
}

// joinProtocol declares the bridge's own render system, once, and passes the faults so far to the
// protocol. It reports whether a system can be declared.
func (b *Bridge[E]) joinProtocol(p *foretick.Protocol, call string) bool {
	if p == nil {
		misuse.Panicf("bridge: %s is given a nil Protocol", call)
	}
	if b.protocol != nil && b.protocol != p {
		p.Fail(fmt.Errorf("bridge: %s: the bridge has systems in another Protocol: make one with New for each end", call))
		return false
	}
	first := b.protocol == nil
	b.protocol = p
	if first {
		b.checkBound(p.Types())
	}
	p.Fail(errors.Join(b.errs[b.told:]...))
	b.told = len(b.errs)
	if first && b.told == 0 {
		b.declareCopying(p)
	}
	return b.told == 0
}

// checkBound adds the faults of the bound components to errs.
func (b *Bridge[E]) checkBound(types *ecs.Types) {
	var seen []ecs.ID
	for _, c := range b.bound {
		h := c.componentHandle()
		switch {
		case !types.Has(h):
			b.faultf("%s is bound, and is not a component of the Protocol: declare it with Protocol.Component before the first system", h.Type())
			continue
		case slices.Contains(seen, h.ID()):
			b.faultf("%s is bound twice: leave one call out", h.Type())
		}
		seen = append(seen, h.ID())
	}
	if b.ids != nil && !types.Has(b.ids) {
		b.faultf("Order names %s, which is not a component of the Protocol: declare it with Protocol.Component before the first system", b.ids.Type())
	}
	if len(b.bound) == 0 {
		b.faultf("nothing is bound: call Component before the first system")
	}
}

// declareCopying declares the render system that copies drawn values in before each frame.
func (b *Bridge[E]) declareCopying(p *foretick.Protocol) {
	b.entities = p.Query()
	var handles []ecs.Handle
	for _, c := range b.bound {
		c.beginQuery(p.Types())
		b.mask.Set(c.componentHandle().ID())
		handles = append(handles, c.componentHandle())
	}
	p.Render("bridge to "+reflect.TypeFor[E]().String(), b.copyDrawn, ecs.Once(), ecs.ReadOther(handles...))
}

// copyDrawn copies the values to be drawn to all own entities.
func (b *Bridge[E]) copyDrawn(f *foretick.Frame, _ ecs.Rows) {
	b.sync(f, true)
	for _, c := range b.bound {
		c.inAll(f.World, &b.pairs)
	}
}
