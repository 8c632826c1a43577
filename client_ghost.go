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
		if c.mine(g) {
			c.ours = append(c.ours, g)
		}
	}
}

// mine tells whether a ghost is predicted here, as against drawn in the past.
func (c *Client) mine(g *snapshot.Ghost) bool { return g.Mine && !c.cfg.NoPrediction }

// birth makes the local entity of a ghost.
func (c *Client) birth(g *snapshot.Ghost) {
	k := c.p.kinds[g.Kind].ecs
	e := c.world.Spawn(k, ecs.Owner(g.Owner))
	*c.p.identity.Get(c.world, e) = Identity{Net: uint32(g.Wire), Kind: uint16(g.Kind)}
	g.Data = uint64(e)
}

// write puts a ghost's state into the world as it is.
func (c *Client) write(g *snapshot.Ghost, s snapshot.State) {
	for i := range c.p.components {
		if words := s.Component(i); words != nil {
			c.writeComponent(g, i, words)
		} else if at := c.world.Pointer(ecs.Entity(g.Data), c.p.components[i].id); at != nil {
			c.world.RemoveByID(ecs.Entity(g.Data), c.p.components[i].id)
		}
	}
}

func (c *Client) writeComponent(g *snapshot.Ghost, i int, words []int32) {
	at := c.pointer(g, i)
	grid := c.receiver.Grid(g, i)
	if g.Mine {
		c.p.components[i].schema.Dequantise(words, grid, clientRefs{c}, at)
	} else {
		c.p.components[i].schema.DequantiseMasked(words, grid, clientRefs{c}, at)
	}
}

// pointer is where a ghost's component lies in the world; it is added where it
// was missing.
func (c *Client) pointer(g *snapshot.Ghost, i int) unsafe.Pointer {
	e, comp := ecs.Entity(g.Data), &c.p.components[i]
	at := c.world.Pointer(e, comp.id)
	if at == nil {
		c.world.AddByID(e, comp.id, nil)
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

// Entity is the local entity of a wire id.
func (r clientRefs) Entity(ref uint32) uint64 {
	if ref == 0 || ref > math.MaxUint16 {
		return 0
	}
	if g := r.c.receiver.Find(snapshot.WireID(ref)); g != nil && g.Gone == 0 {
		return g.Data
	}
	return 0
}
