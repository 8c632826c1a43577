package bridge

import (
	"reflect"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/misuse"
)

// Component binds a component: get returns where an own entity keeps its value. The bridge
// calls it for entities that have the component, uses the pointer at once, and does not keep
// it. Bind every component before the first system. Protocol.Err reports a component that is
// bound twice.
func Component[E comparable, T any](b *Bridge[E], c *ecs.Component[T], get func(own E) *T) {
	if get == nil {
		b.faultf("Component %s has no function: give one that returns where an own entity keeps it", reflect.TypeFor[T]())
		return
	}
	bind(b, "Component", &carried[E, T]{c: c, get: get})
}

// Convert binds a component that own entities keep as another type, or behind methods, such
// as the body of a physics engine. in writes *v to the own entity, and out writes the own
// entity's value to *v. out must return a value that in wrote without any change of a bit:
// otherwise replays differ from the first run. Other rules are those of [Component].
func Convert[E comparable, T any](b *Bridge[E], c *ecs.Component[T], in, out func(own E, v *T)) {
	if in == nil || out == nil {
		b.faultf("Convert %s lacks a function: give one for each direction", reflect.TypeFor[T]())
		return
	}
	bind(b, "Convert", &carried[E, T]{c: c, in: in, out: out})
}

func bind[E comparable, T any](b *Bridge[E], call string, c *carried[E, T]) {
	switch {
	case c.c == nil:
		b.faultf("%s is given a nil component: pass its address, as in &g.Position", call)
	case b.protocol != nil:
		b.faultf("%s %s after System: bind all components before the first system", call, reflect.TypeFor[T]())
		b.protocol.Fail(b.errs[len(b.errs)-1])
		b.told = len(b.errs)
	default:
		b.bound = append(b.bound, c)
	}
}

// carrier copies one component.
type carrier[E comparable] interface {
	componentHandle() ecs.Handle
	beginQuery(types *ecs.Types)
	// inRows copies from some rows to own entities, and outRows back, if the rows have the
	// component. They leave out entities that this end does not simulate.
	inRows(rows ecs.Rows, pairs *pairs[E])
	outRows(rows ecs.Rows, pairs *pairs[E])
	// inAll copies to every own entity, and outAll back from every simulated one. inOne and
	// outOne do so for one entity.
	inAll(w *ecs.World, pairs *pairs[E])
	outAll(w *ecs.World, pairs *pairs[E])
	inOne(w *ecs.World, e ecs.Entity, own E)
	outOne(w *ecs.World, e ecs.Entity, own E)
}

// carried is a bound component. Component sets get, and Convert sets in and out.
type carried[E comparable, T any] struct {
	c       *ecs.Component[T]
	get     func(E) *T
	in, out func(E, *T)
	query   *ecs.Query
}

func (c *carried[E, T]) componentHandle() ecs.Handle { return c.c }

func (c *carried[E, T]) beginQuery(types *ecs.Types) { c.query = ecs.NewQuery(types, ecs.With(c.c)) }

func (c *carried[E, T]) loadOwn(own E, v *T) {
	if c.in != nil {
		c.in(own, v)
		return
	}
	*c.ownPlace(own) = *v
}

func (c *carried[E, T]) store(own E, v *T) {
	if c.out != nil {
		c.out(own, v)
		return
	}
	*v = *c.ownPlace(own)
}

func (c *carried[E, T]) ownPlace(own E) *T {
	at := c.get(own)
	if at == nil {
		misuse.Panicf("bridge: own entity %v has no place for %s: let spawn give it one, since its prefab has the component", own, reflect.TypeFor[T]())
	}
	return at
}

func (c *carried[E, T]) inRows(rows ecs.Rows, pairs *pairs[E]) {
	if !rows.Has(c.c.ID()) {
		return
	}
	values := c.c.Slice(rows)
	for i, e := range rows.Entities() {
		if at, ok := pairs.slotOfEntity(e); ok && pairs.slots[at].simulated {
			c.loadOwn(pairs.slots[at].own, &values[i])
		}
	}
}

func (c *carried[E, T]) outRows(rows ecs.Rows, pairs *pairs[E]) {
	if !rows.Has(c.c.ID()) {
		return
	}
	values := c.c.Slice(rows)
	for i, e := range rows.Entities() {
		if at, ok := pairs.slotOfEntity(e); ok && pairs.slots[at].simulated {
			c.store(pairs.slots[at].own, &values[i])
		}
	}
}

func (c *carried[E, T]) inAll(w *ecs.World, pairs *pairs[E]) {
	for _, rows := range c.query.All(w) {
		values := c.c.Slice(rows)
		for i, e := range rows.Entities() {
			if at, ok := pairs.slotOfEntity(e); ok {
				c.loadOwn(pairs.slots[at].own, &values[i])
			}
		}
	}
}

func (c *carried[E, T]) outAll(w *ecs.World, pairs *pairs[E]) {
	for _, rows := range c.query.All(w) {
		c.outRows(rows, pairs)
	}
}

func (c *carried[E, T]) inOne(w *ecs.World, e ecs.Entity, own E) {
	if v := c.c.Find(w, e); v != nil {
		c.loadOwn(own, v)
	}
}

func (c *carried[E, T]) outOne(w *ecs.World, e ecs.Entity, own E) {
	if v := c.c.Find(w, e); v != nil {
		c.store(own, v)
	}
}
