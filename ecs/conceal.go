package ecs

import (
	"slices"

	"github.com/foretick/foretick/internal/misuse"
)

// Conceal hides the entities of all owners but some from handles, until
// [Control.Reveal]. Each entity is as if it were gone: Find returns nil, and Get
// panics with [AccessError]. Queries still have the rows. A client runs a tick with
// other players' entities concealed, to find out which systems look at them:
// see [Control.Peeked]. Names of second parts count as owners: see
// [Control.Partition]. The world must not be locked, and must not be saved or
// restored before Reveal. The cost is proportional to the concealed entities.
func (c *Control) Conceal(but ...Owner) {
	if c.blind != 0 || c.locks > 0 {
		misuse.Panicf("ecs: Conceal of a world that is locked, or concealed already")
	}
	c.blind, c.peeked, c.climbed = 1, false, false
	for _, p := range c.parts {
		if p.concealed = !slices.Contains(but, p.owner); !p.concealed {
			continue
		}
		for _, t := range p.made {
			for _, e := range t.ids[:t.n] {
				c.rec[e.index()] = makeRecord(e, 0, 0)
			}
		}
	}
	for _, cache := range c.caches {
		if cache != nil {
			cache.at = 0 // so that the next use refreshes the cache, and is noticed
		}
	}
}

// Reveal undoes [Control.Conceal].
func (c *Control) Reveal() {
	c.blind, c.peeked = 0, false
	for _, p := range c.parts {
		if !p.concealed {
			continue
		}
		p.concealed = false
		for _, t := range p.made {
			for row, e := range t.ids[:t.n] {
				c.rec[e.index()] = makeRecord(e, t.id, uint32(row))
			}
		}
	}
}

// Peeked reports whether something looked at concealed entities since the last call,
// or since Conceal. That may be a lookup by handle, also by one of an entity that is gone. It
// may be a query for all owners or for a concealed one, a question for children, or one
// for the number of entities. A Get that panics is noticed only by its panic.
func (c *Control) Peeked() (yes bool) {
	yes, c.peeked = c.peeked, false
	return yes
}

// AskedParents reports whether something asked for the parent of an entity between the last
// Conceal and Reveal.
func (c *Control) AskedParents() bool { return c.climbed }

// peek notes that something looked at concealed rows.
func (w *World) peek(concealed bool) {
	if concealed {
		w.peeked = true
	}
}

// looked notes that something looked at all rows, and returns the world.
func (w *World) looked() *World {
	w.peek(w.blind != 0)
	return w
}
