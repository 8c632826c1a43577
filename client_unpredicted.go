package foretick

import (
	"bytes"
	"unsafe"

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
			changed = c.rewrite(g, s, i) || changed
		} else if id := c.p.components[i].id; c.world.Pointer(e, id) != nil {
			c.takeAway(e, id)
			changed = true
		}
	}
	return changed
}

// rewrite writes a ghost's component and reports whether it holds something else now.
// Where nothing changed, a rehearsal may go back over the tick.
func (c *Client) rewrite(g *snapshot.Ghost, s snapshot.State, i int) bool {
	comp := &c.p.components[i]
	at := c.world.Pointer(ecs.Entity(g.Data), comp.id)
	if at == nil || comp.varies {
		c.writeComponent(g, s, i)
		return true
	}
	c.was = append(c.was[:0], unsafe.Slice((*byte)(at), comp.size)...)
	c.writeComponent(g, s, i)
	return !bytes.Equal(c.was, unsafe.Slice((*byte)(at), comp.size))
}

// bornHere notes that a ghost has an entity now: references to it that came before it
// are looked up again.
func (c *Client) bornHere() {
	if c.p.unpredictedRefs {
		c.overdue = true
	}
}
