package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// record is what was predicted for one tick, in words of the simulation step.
type record struct {
	items []recordItem
	words []int32
	cuts  []ecs.Entity // what was teleported in this tick
	basis Tick         // the newest snapshot when it was predicted
	some  bool         // the first prediction had an entity

	next     int    // where to look for an item first
	replayed bool   // it is not the first prediction any more
	first    uint64 // hash of the first prediction, once it was replayed
}

// recordItem is a component of an entity, by the handle that it keeps whatever the
// server calls it.
type recordItem struct {
	e               ecs.Entity
	comp            uint8
	remotePredicted bool // another player's
	off             int32
}

// find is the words of an entity's component, nil when it had none.
func (r *record) find(e ecs.Entity, comp int) []int32 {
	if i := r.item(e, comp); i >= 0 {
		return r.words[r.items[i].off:]
	}
	return nil
}

// item is the place of an entity's component, −1 when it had none. Whoever asks
// goes through the entities in the order in which they were kept: so the search
// begins behind the last one found. The items of an entity lie side by side.
func (r *record) item(e ecs.Entity, comp int) int {
	n := len(r.items)
	if r.next >= n {
		r.next = 0
	}
	for k := range n {
		i := r.next + k
		if i >= n {
			i -= n
		}
		if r.items[i].e != e {
			continue
		}
		for i > 0 && r.items[i-1].e == e {
			i--
		}
		r.next = i
		for ; i < n && r.items[i].e == e; i++ {
			if int(r.items[i].comp) == comp {
				return i
			}
		}
		return -1
	}
	return -1
}

// itself as a component says that the entity was there.
const itself = 0xFF

func (r *record) has(e ecs.Entity) bool { return r.item(e, itself) >= 0 }

func (r *record) clear() { r.items, r.words, r.next = r.items[:0], r.words[:0], 0 }

// keep snaps the predicted values to the simulation step and records them.
func (c *Client) keep(t Tick, replay bool) {
	r := c.records.Put(t)
	if replay && !r.replayed {
		r.first, r.replayed = r.hash(), true
	}
	r.clear()
	r.cuts = append(r.cuts[:0], c.cut...)
	r.basis, _ = c.receiver.Newest()
	before := c.records.Find(t - 1)
	if !c.losses.due(t) {
		before = nil
	}
	for _, e := range c.predictedHere() {
		if !replay {
			c.lookForLosses(before, e)
		}
		c.keepEntity(r, e)
	}
	if !replay {
		if before != nil {
			c.losses.looked()
		}
		r.some, r.replayed = slices.ContainsFunc(r.items, func(it recordItem) bool { return !it.remotePredicted }), false
		if r.some {
			c.stats.PredictedTicks++
		}
	}
}

// keepEntity snaps an entity's predicted components, as the server does, and adds them to
// a record.
func (c *Client) keepEntity(r *record, e ecs.Entity) {
	if !c.world.Alive(e) {
		return
	}
	remotePredicted := c.anothers(e)
	r.items = append(r.items, recordItem{e, itself, remotePredicted, int32(len(r.words))})
	for i := range c.p.components {
		comp := &c.p.components[i]
		if !comp.predicted {
			continue
		}
		at := c.world.Pointer(e, comp.id)
		if at == nil {
			continue
		}
		if len(comp.refs) > 0 {
			comp.schema.DropRefs(at, c.there)
		}
		off := len(r.words)
		r.words = slices.Grow(r.words, comp.schema.Words())[:off+comp.schema.Words()]
		comp.schema.SnapWords(at, recordRefs{clientRefs{c}}, r.words[off:])
		r.items = append(r.items, recordItem{e, uint8(i), remotePredicted, int32(off)})
	}
}

func (c *Client) zeroes(n int) []int32 {
	for len(c.words) < n {
		c.words = append(c.words, 0)
	}
	clear(c.words[:n])
	return c.words[:n]
}

// hash covers the player's own items and their words in whatever order; see hashItem
// for the server's side of it.
func (r *record) hash() uint64 {
	h := uint64(0)
	for i, it := range r.items {
		end := len(r.words)
		if i+1 < len(r.items) {
			end = int(r.items[i+1].off)
		}
		if !it.remotePredicted {
			h += hashItem(it.e, int(it.comp), r.words[it.off:end])
		}
	}
	return h
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func hashItem(e ecs.Entity, comp int, words []int32) uint64 {
	h := ((fnvOffset^uint64(e))*fnvPrime ^ uint64(comp)) * fnvPrime
	for _, w := range words {
		h = (h ^ uint64(uint32(w))) * fnvPrime
	}
	return h
}

// fieldValue is a field's value on the simulation grid, in its own units.
func fieldValue(comp *component, field int, words []int32) float64 {
	return comp.schema.Number(field, words[:comp.schema.Words()], snapshot.GridSim)
}
