package foretick

import (
	"math"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// gather lists the ghosts that are predicted here, in the receiver's order, so
// that predicting does not walk over everybody else's.
func (c *Client) gather() {
	c.ours = c.ours[:0]
	for _, g := range c.receiver.Ghosts() {
		if c.ahead(g) {
			c.ours = append(c.ours, g)
		}
	}
	c.gatherOthers()
}

// predictedHere lists the entities that are predicted here, those that the server's
// word is awaited for behind those that it knows. Some may not be there in the
// tick at hand. It holds until the next call.
func (c *Client) predictedHere() []ecs.Entity {
	c.mineAll = c.mineAll[:0]
	for _, g := range c.ours {
		if g.Data != 0 {
			c.mineAll = append(c.mineAll, ecs.Entity(g.Data))
		}
	}
	if c.cfg.SyncTest > 0 { // what has died is there again when its ticks are
		for _, r := range c.spawning.retired {
			c.mineAll = append(c.mineAll, r.e)
		}
	}
	if c.spawns.Len() == 0 {
		return c.mineAll
	}
	c.spawns.Open(func(_ Tick, s spawned) bool {
		c.mineAll = append(c.mineAll, s.e)
		return true
	})
	return c.mineAll
}

// mine tells whether a ghost is the player's own, or everybody's, and predicted here.
func (c *Client) mine(g *snapshot.Ghost) bool {
	return g.Mine && !c.cfg.NoPrediction && !c.alien(g)
}

// alien tells whether a ghost is of a kind that only the server's build of the game
// has: it is not shown.
func (c *Client) alien(g *snapshot.Ghost) bool { return c.p.prefabs[g.Prefab].ecs == nil }

// birth makes the local entity of a ghost.
func (c *Client) birth(g *snapshot.Ghost) {
	k := &c.p.prefabs[g.Prefab]
	e := c.world.Manager().Spawn(k.ecs, c.partOf(g))
	*c.p.identity.Get(c.world, e) = NetworkID{Net: uint32(g.Wire), Prefab: uint16(k.own)}
	g.Data = uint64(e)
	if c.p.predictedRefs {
		c.appeared = append(c.appeared, appeared{g.Wire, c.predictor.Tick()})
	}
	c.bornHere()
}

// write puts a ghost's state of t into the world as it is.
func (c *Client) write(g *snapshot.Ghost, s snapshot.State, t Tick) {
	r := c.records.Find(t)
	for i := range c.p.components {
		comp := &c.p.components[i]
		if comp.unknown {
			continue
		}
		if words := s.Component(i); words != nil {
			if comp.predicted && r != nil {
				words = c.named(comp, words, r.find(ecs.Entity(g.Data), i), t)
			}
			comp.schema.DequantiseFor(s.Audience, words, s.Grid(i), clientRefs{c}, c.pointer(g, i))
		} else if at := c.world.Pointer(ecs.Entity(g.Data), c.p.components[i].id); at != nil {
			c.takeAway(ecs.Entity(g.Data), c.p.components[i].id)
		}
	}
}

// writeComponent writes what the state says of a component; fields that the player
// does not receive stay.
func (c *Client) writeComponent(g *snapshot.Ghost, s snapshot.State, i int) {
	c.p.components[i].schema.DequantiseFor(s.Audience, s.Component(i), s.Grid(i), clientRefs{c}, c.pointer(g, i))
}

// pointer is where a ghost's component lies in the world; it is added where it
// was missing.
func (c *Client) pointer(g *snapshot.Ghost, i int) unsafe.Pointer {
	e, comp := ecs.Entity(g.Data), &c.p.components[i]
	at := c.world.Pointer(e, comp.id)
	if at == nil && c.crowded() {
		return c.spare(i)
	}
	if at == nil {
		c.world.AddByID(e, comp.id, comp.zero)
		at = c.world.Pointer(e, comp.id)
	}
	return at
}

// clientRefs maps entity references to wire ids and back.
type clientRefs struct{ c *Client }

// Net is the wire id of a local entity.
func (r clientRefs) Net(entity uint64) uint32 {
	if id := r.c.p.identity.Find(r.c.world, ecs.Entity(entity)); id != nil {
		return id.Net
	}
	return 0
}

// Entity is the local entity of a wire id, or of the key of what was spawned here.
func (r clientRefs) Entity(ref uint32) uint64 {
	switch {
	case isKey(ref):
		return uint64(r.c.spawnOf(ref))
	case ref == 0 || ref > math.MaxUint16:
		return 0
	}
	if g := r.c.receiver.Find(snapshot.WireID(ref)); g != nil && g.Gone == 0 {
		return g.Data
	}
	return 0
}
