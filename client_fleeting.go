package foretick

import (
	"github.com/foretick/foretick/ecs"
)

// fleeting is what a client simulates for itself and no rollback touches:
// entities of kinds with the policy Local, in the part ecs.Fleeting.
type fleeting struct {
	query       *ecs.Query
	kept        *ecs.History // one slot: the newest tick, while a picture is drawn into the world
	now, before record
}

// keepFleeting snaps the values, as the server does with its twins, and remembers
// them for pictures between two ticks.
func (c *Client) keepFleeting() {
	l := &c.fleeting
	l.now, l.before = l.before, l.now
	l.now.clear()
	for _, rows := range l.query.Owned(c.world, ecs.Fleeting) {
		for _, e := range rows.Entities() {
			c.keepEntity(&l.now, e)
		}
	}
	l.kept.Save(0)
}

// undrawFleeting takes the picture out again.
func (c *Client) undrawFleeting() {
	if c.p.fleeting && c.fleeting.kept.Holds(0) {
		c.fleeting.kept.Restore(0)
	}
}

// drawFleeting shows them between their last two ticks.
func (c *Client) drawFleeting() {
	l := &c.fleeting
	for _, rows := range l.query.Owned(c.world, ecs.Fleeting) {
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

func (c *Client) fleetingCount() int {
	n := 0
	if c.p.fleeting {
		for _, rows := range c.fleeting.query.Owned(c.world, ecs.Fleeting) {
			n += rows.Len()
		}
	}
	return n
}
