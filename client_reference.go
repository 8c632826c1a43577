package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// recordRefs names entities in records. What this client spawned ahead of the server is
// named by its spawn's key, before and after the server gave it a wire id, so that a
// reference to it compares equal throughout. Everything else is named by its wire id.
type recordRefs struct{ clientRefs }

// Net is the name of a local entity; 0 for what the server does not send.
func (r recordRefs) Net(entity uint64) uint32 {
	c, e := r.c, ecs.Entity(entity)
	id := c.p.identity.Find(c.world, e)
	switch {
	case id == nil:
		return 0
	case id.Net == 0 && id.origin != 0 && c.world.Owner(e) == c.view.Player:
		return id.origin
	}
	if g := c.receiver.Find(snapshot.WireID(id.Net)); g != nil {
		return c.nameOfGhost(g)
	}
	return id.Net
}

// isKey tells a spawn's key from a wire id.
func isKey(ref uint32) bool { return ref>>31 != 0 }

// nameOfGhost is what records call a ghost.
func (c *Client) nameOfGhost(g *snapshot.Ghost) uint32 {
	if id := c.originOf(g); id != 0 {
		return id
	}
	return uint32(g.Wire)
}

// spawnOf is the entity that was spawned here by a key; None if it is not known any more.
func (c *Client) spawnOf(key uint32) ecs.Entity {
	if s, _, ok := c.spawns.Find(key); ok {
		return s.e
	}
	for i := range c.ours { // whoever asks goes through them in the same order in each frame
		k := (c.spawning.next + i) % len(c.ours)
		if c.originOf(c.ours[k]) == key {
			c.spawning.next = k
			return ecs.Entity(c.ours[k].Data)
		}
	}
	return ecs.None
}

// meant is what the server's words of a predicted component say in the names of records,
// for t, where ours was predicted; until the next call.
func (c *Client) meant(comp *component, words, ours []int32, t Tick) []int32 {
	return c.named(comp, c.known(comp, words), ours, t)
}

// named puts the names of records into the server's words. The server sends a reference
// as none until it knows that this client has the entity: until then ours stands, where
// it names what was spawned here.
func (c *Client) named(comp *component, words, ours []int32, t Tick) []int32 {
	if len(comp.refs) == 0 || words == nil {
		return words
	}
	c.naming = append(c.naming[:0], words...)
	for _, i := range comp.refs {
		was := uint32(0)
		if ours != nil {
			was = uint32(ours[i])
		}
		c.naming[i] = int32(c.nameOfRef(uint32(words[i]), was, t))
	}
	return c.naming
}

func (c *Client) nameOfRef(ref, ours uint32, t Tick) uint32 {
	if ref == 0 {
		if isKey(ours) && c.untold(ours, t) {
			return ours
		}
		return 0
	}
	g := c.receiver.Find(snapshot.WireID(ref))
	switch {
	case g == nil:
		return ref
	case g.Data == 0 && ours == 0:
		return 0 // it is not drawn yet, and can be named once it is
	}
	return c.nameOfGhost(g)
}

// untold tells whether the server may have referred in t to what was spawned here by a
// key without saying so.
func (c *Client) untold(key uint32, t Tick) bool {
	if _, k, ok := c.spawns.Find(key); ok && !c.matchedBy(key) {
		_, _, own := c.receiver.Complete(t)
		return !own || int32(k-t) > 0
	}
	for i := range c.spawning.named {
		if n := &c.spawning.named[i]; n.key == key {
			return !c.serverKnows(n, t)
		}
	}
	return false
}

// matchedBy tells whether the server has told of the spawn with a key.
func (c *Client) matchedBy(key uint32) bool {
	for i := range c.spawning.named {
		if c.spawning.named[i].key == key {
			return true
		}
	}
	return false
}

// serverKnows tells whether the server knew in t that this client has an entity: it had
// a command that was made afterwards, whose packet acknowledged the entity's.
func (c *Client) serverKnows(n *naming, t Tick) bool {
	return int32(c.commandAck-n.next) >= 0 || int32(t-n.until) > int32(c.cfg.History)
}

// appeared is a ghost that was drawn for the first time.
type appeared struct {
	wire snapshot.WireID
	tick Tick // the newest that was predicted without it
}

// cameLater tells whether all that differs in two values of a component is references to
// what was not drawn here yet when t was predicted. That is corrected, and no fault of
// the prediction.
func (c *Client) cameLater(comp *component, ours, words []int32, t Tick) bool {
	if len(comp.refs) == 0 || len(c.appeared) == 0 {
		return false
	}
	c.covered = append(c.covered[:0], words...)
	for _, i := range comp.refs {
		for _, a := range c.appeared {
			if ours[i] == 0 && uint32(words[i]) == uint32(a.wire) && int32(t-a.tick) <= 0 {
				c.covered[i] = 0
			}
		}
	}
	return comp.schema.FirstDifference(ours, c.covered) < 0
}

// wentEarlier tells whether all that differs in two values of a component is references
// to what the server, in t, had no more, and which was still drawn here.
func (c *Client) wentEarlier(comp *component, ours, words []int32, t Tick) bool {
	if len(comp.refs) == 0 {
		return false
	}
	c.covered = append(c.covered[:0], words...)
	for _, i := range comp.refs {
		if words[i] == 0 && slices.ContainsFunc(c.receiver.Ghosts(), func(g *snapshot.Ghost) bool {
			return int32(g.Wire) == ours[i] && !c.ahead(g) && g.Gone != 0 && int32(t-g.Gone) >= 0
		}) {
			c.covered[i] = ours[i]
		}
	}
	return comp.schema.FirstDifference(ours, c.covered) < 0
}

// forgetAppeared drops what every prediction that is still compared knows.
func (c *Client) forgetAppeared(t Tick) {
	live := c.appeared[:0]
	for _, a := range c.appeared {
		if int32(a.tick-t) >= 0 {
			live = append(live, a)
		}
	}
	c.appeared = live
}
