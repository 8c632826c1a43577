package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// record is what was predicted for one tick, in words of the simulation step.
type record struct {
	items []recordItem
	words []int32
	some  bool // the first prediction had an entity

	replayed bool   // it is not the first prediction any more
	first    uint64 // hash of the first prediction, once it was replayed
}

type recordItem struct {
	wire snapshot.WireID
	comp uint8
	off  int32
}

func (r *record) find(wire snapshot.WireID, comp int) []int32 {
	for i := range r.items {
		if r.items[i].wire == wire && int(r.items[i].comp) == comp {
			return r.words[r.items[i].off:]
		}
	}
	return nil
}

// keep snaps the predicted values to the simulation step and records them.
func (c *Client) keep(t Tick, replay bool) {
	r := c.records.Put(t)
	if replay && !r.replayed {
		r.first, r.replayed = r.hash(), true
	}
	r.items, r.words = r.items[:0], r.words[:0]
	for _, g := range c.ours {
		if g.Data == 0 {
			continue
		}
		for i := range c.p.components {
			comp := &c.p.components[i]
			if !comp.predicted {
				continue
			}
			at := c.world.Pointer(ecs.Entity(g.Data), comp.id)
			if at == nil {
				continue
			}
			off := len(r.words)
			r.words = append(r.words, c.zeroes(comp.schema.Words())...)
			comp.schema.SnapWords(at, clientRefs{c}, r.words[off:])
			r.items = append(r.items, recordItem{g.Wire, uint8(i), int32(off)})
		}
	}
	if !replay {
		r.some, r.replayed = len(r.items) > 0, false
		if r.some {
			c.stats.PredictedTicks++
		}
	}
}

func (c *Client) zeroes(n int) []int32 {
	for len(c.words) < n {
		c.words = append(c.words, 0)
	}
	clear(c.words[:n])
	return c.words[:n]
}

// hash covers items and words; see hashWords for the server's side of it.
func (r *record) hash() uint64 {
	h := uint64(fnvOffset)
	for i, it := range r.items {
		end := len(r.words)
		if i+1 < len(r.items) {
			end = int(r.items[i+1].off)
		}
		h = hashWords(h, it.wire, int(it.comp), r.words[it.off:end])
	}
	return h
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func hashWords(h uint64, wire snapshot.WireID, comp int, words []int32) uint64 {
	h = (h ^ (uint64(wire)<<8 | uint64(comp))) * fnvPrime
	for _, w := range words {
		h = (h ^ uint64(uint32(w))) * fnvPrime
	}
	return h
}

// fieldValue is a field's value on the simulation grid, in its own units.
func fieldValue(field snapshot.Field, words []int32) float64 {
	step := field.Sim
	if step == 0 {
		step = 1
	}
	return float64(words[field.Word]) * step
}
