package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/schema"
)

// record holds the predicted values of one tick, on the simulation grid.
type record struct {
	items []recordItem
	words []int32
	cuts  []ecs.Entity // what was teleported in this tick
	basis Tick         // the newest snapshot when it was predicted
	shown Tick         // the render time of others then
	scene uint64       // … and how much had appeared and gone
	some  bool         // the first prediction had an entity

	next     int    // where to look for an item first
	replayed bool   // it is not the first prediction any more
	first    uint64 // hash of the first prediction, once it was replayed
}

// recordItem is a component of an entity. The entity is named by its handle, which stays
// the same whatever the server calls it.
type recordItem struct {
	e               ecs.Entity
	comp            uint8
	remotePredicted bool // another player's
	off             int32
}

// find returns the words of an entity's component, nil if it did not have the component. A
// tag's are empty.
func (r *record) find(e ecs.Entity, comp int) []int32 {
	i := r.item(e, comp)
	if i < 0 {
		return nil
	}
	if words := r.words[r.items[i].off:]; words != nil {
		return words
	}
	return []int32{} // nothing in the record has any words
}

// item returns the index of an entity's component, −1 if it had none. Callers visit
// entities in the order of the record, so the search starts after the last one found. The
// items of one entity are adjacent.
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

// itself, as a component, notes that the entity existed.
const itself = 0xFF

func (r *record) has(e ecs.Entity) bool { return r.item(e, itself) >= 0 }

func (r *record) clear() { r.items, r.words, r.next = r.items[:0], r.words[:0], 0 }

func (r *record) copy(from *record) {
	if from == nil {
		r.items, r.words = r.items[:0], r.words[:0]
		return
	}
	items, words, cuts := append(r.items[:0], from.items...), append(r.words[:0], from.words...), append(r.cuts[:0], from.cuts...)
	*r = *from
	r.items, r.words, r.cuts = items, words, cuts
}

// hash covers the player's own items and their words, in any order. See hashItem for the
// server's side.
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

// fieldValue returns a field's value on the simulation grid, in its own units.
func fieldValue(comp *layout.Component, field int, words []int32) float64 {
	return comp.Schema.Number(field, words[:comp.Schema.Words()], schema.GridSim)
}
