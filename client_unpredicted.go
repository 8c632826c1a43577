package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// takeUnpredicted brings the components that only the server computes up to date, on
// every entity that is predicted here. It writes the newest predicted tick; a rollback
// takes them again in Adopt.
func (c *Client) takeUnpredicted() {
	if len(c.p.unpredicted) == 0 {
		return
	}
	changed := false
	if c.overdue {
		c.overdue = false
		for _, g := range c.ours {
			changed = c.takeFrom(g) || changed
		}
	} else {
		for _, ch := range c.receiver.Changes() {
			if c.ahead(ch.Ghost) {
				changed = c.takeFrom(ch.Ghost) || changed
			}
		}
	}
	if changed {
		c.predictor.Rewrite()
		c.practice.since = c.predictor.Tick()
	}
}

// takeFrom writes a ghost's newest unpredicted components and removes those that it no
// longer has. It reports whether it touched anything.
func (c *Client) takeFrom(g *snapshot.Ghost) bool {
	e := ecs.Entity(g.Data)
	if !c.world.Alive(e) {
		return false
	}
	s, changed := g.Newest(), false
	for _, i := range c.p.unpredicted {
		if s.Component(i) != nil {
			c.writeComponent(g, s, i)
			changed = true
		} else if id := c.p.components[i].id; c.world.Pointer(e, id) != nil {
			c.takeAway(e, id)
			changed = true
		}
	}
	return changed
}

// bornHere notes that a ghost has an entity now: references to it that came before it
// are looked up again.
func (c *Client) bornHere() {
	if c.p.unpredictedRefs {
		c.overdue = true
	}
}
