package foretick

import (
	"github.com/foretick/foretick/ecs"
)

// clientOnly is what a client simulates for itself and no rollback touches:
// entities of prefabs with the policy ClientOnly, in the part ecs.ClientOnly.
type clientOnly struct {
	query       *ecs.Query
	kept        *ecs.History // one slot: the newest tick, while a picture is drawn into the world
	now, before record
}

// keepClientOnly snaps the values, as the server does with its twins, and remembers
// them for pictures between two ticks.
func (c *Client) keepClientOnly() {
	l := &c.clientOnly
	l.now, l.before = l.before, l.now
	l.now.clear()
	for _, rows := range l.query.Owned(c.world, ecs.ClientOnly) {
		for _, e := range rows.Entities() {
			c.keepEntity(&l.now, e)
		}
	}
	l.kept.Save(0)
}

// undrawClientOnly takes the picture out again.
func (c *Client) undrawClientOnly() {
	if c.p.clientOnly && c.clientOnly.kept.Holds(0) {
		c.clientOnly.kept.Restore(0)
	}
}

// drawClientOnly shows them between their last two ticks.
func (c *Client) drawClientOnly() {
	l := &c.clientOnly
	for _, rows := range l.query.Owned(c.world, ecs.ClientOnly) {
		for _, e := range rows.Entities() {
			for i := range c.p.components {
				comp := &c.p.components[i]
				if !comp.predicted || !comp.lerped {
					continue
				}
				a, b := l.before.find(e, i), l.now.find(e, i)
				at := c.world.Pointer(e, comp.id)
				if a == nil || b == nil || at == nil {
					continue
				}
				n := comp.schema.Words()
				c.drawBetween(comp, a[:n], b[:n], at)
			}
		}
	}
}

func (c *Client) clientOnlyCount() int {
	n := 0
	if c.p.clientOnly {
		for _, rows := range c.clientOnly.query.Owned(c.world, ecs.ClientOnly) {
			n += rows.Len()
		}
	}
	return n
}
