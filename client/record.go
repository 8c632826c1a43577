package client

import (
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
)

// recorder rounds the predicted values of each tick and records them.
type recorder struct {
	*base
	ghosts    *ghosts
	names     *recordNames
	predicted *predicted
	scenes    *scenes
	records   *prediction.History[record] // the predictions for each tick

	cut   []ecs.Entity             // the entities teleported in the tick that is being predicted
	there func(entity uint64) bool // world.Alive
}

func newRecorder(b *base, gs *ghosts, ns *recordNames, pr *predicted, sn *scenes, records *prediction.History[record]) recorder {
	there := func(e uint64) bool { return b.world.Alive(ecs.Entity(e)) }
	return recorder{base: b, ghosts: gs, names: ns, predicted: pr, scenes: sn, records: records, there: there}
}

// record holds the predicted values of one tick, on the simulation grid.
type record struct {
	items []recordItem
	words []int32
	cuts  []ecs.Entity  // the entities that were teleported in this tick
	basis foretick.Tick // the newest snapshot when the tick was predicted
	shown foretick.Tick // the render time of others when the tick was predicted
	scene uint64        // scenes.count when the tick was predicted
	some  bool          // the first prediction had an entity

	next     int    // item begins its search here
	replayed bool   // the record is not that of the first prediction
	first    uint64 // the hash of the first prediction, if the tick was replayed
}

// recordItem is a component of an entity. It has the entity's handle, which stays the same even if the
// server's id for the entity changes.
type recordItem struct {
	e               ecs.Entity
	comp            uint8
	remotePredicted bool // it belongs to another player
	off             int32
}

// wordsOf returns the words of an entity's component. They are nil if it did not have the component,
// and empty for a tag.
func (r *record) wordsOf(e ecs.Entity, comp int) []int32 {
	i := r.item(e, comp)
	if i < 0 {
		return nil
	}
	if words := r.words[r.items[i].off:]; words != nil {
		return words
	}
	return []int32{} // nothing in the record has words
}

// item returns the index of an entity's component. It is −1 if the entity did not have the component.
// Callers visit entities in the order of the record, so the search begins after the last one found. The
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

// itself, as a component, means that the entity existed.
const itself = 0xFF

func (r *record) hasEntity(e ecs.Entity) bool { return r.item(e, itself) >= 0 }

func (r *record) clearRecord() { r.items, r.words, r.next = r.items[:0], r.words[:0], 0 }

func (r *record) copyFrom(from *record) {
	if from == nil {
		r.items, r.words = r.items[:0], r.words[:0]
		return
	}
	items, words, cuts := append(r.items[:0], from.items...), append(r.words[:0], from.words...), append(r.cuts[:0], from.cuts...)
	*r = *from
	r.items, r.words, r.cuts = items, words, cuts
}

// hash covers the player's own items and their words, in any order. hashItem does the same for the
// server's state.
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

func hashItem(e ecs.Entity, comp int, words []int32) uint64 {
	h := ((game.FNVOffset^uint64(e))*game.FNVPrime ^ uint64(comp)) * game.FNVPrime
	for _, w := range words {
		h = (h ^ uint64(uint32(w))) * game.FNVPrime
	}
	return h
}

// keepTick rounds the predicted values to the simulation step and records them.
func (rc *recorder) keepTick(t foretick.Tick, replay bool) {
	r := rc.records.Put(t)
	if replay && !r.replayed {
		r.first, r.replayed = r.hash(), true
	}
	r.clearRecord()
	r.cuts = append(r.cuts[:0], rc.cut...)
	r.basis, _ = rc.ghosts.receiver.Newest()
	r.shown, r.scene = rc.view.RenderTick, rc.scenes.count
	before := rc.records.Find(t - 1)
	if !rc.losses.CheckDue(t) {
		before = nil
	}
	for _, e := range rc.predicted.entities() {
		if !replay {
			rc.lookForLosses(before, e)
		}
		rc.keepEntity(r, e)
	}
	if !replay {
		if before != nil {
			rc.losses.Looked()
		}
		r.some, r.replayed = slices.ContainsFunc(r.items, func(it recordItem) bool { return !it.remotePredicted }), false
		if r.some {
			rc.stats.PredictedTicks++
		}
	}
}

// keepEntity rounds an entity's predicted components, as the server does, and adds them to a record.
func (rc *recorder) keepEntity(r *record, e ecs.Entity) {
	if !rc.world.Alive(e) {
		return
	}
	remotePredicted := rc.ghosts.anothers(e)
	r.items = append(r.items, recordItem{e, itself, remotePredicted, int32(len(r.words))})
	for i := range rc.p.Components {
		comp := &rc.p.Components[i]
		if !comp.Predicted {
			continue
		}
		at := ecs.Engine(rc.world).Pointer(e, comp.ID)
		if at == nil {
			continue
		}
		if len(comp.Refs) > 0 {
			comp.Schema.DropRefs(at, rc.there)
		}
		off := len(r.words)
		r.words = slices.Grow(r.words, comp.Schema.Words())[:off+comp.Schema.Words()]
		comp.Schema.SnapWords(at, rc.names, r.words[off:])
		r.items = append(r.items, recordItem{e, uint8(i), remotePredicted, int32(off)})
	}
}

// lookForLosses checks for values that rounding loses, for an entity in a tick that runs for the first
// time. before is the record of the tick before, or nil.
func (rc *recorder) lookForLosses(before *record, e ecs.Entity) {
	if !rc.world.Alive(e) || rc.p.OtherBuild {
		return
	}
	for i := range rc.p.Components {
		comp := &rc.p.Components[i]
		if !comp.Predicted {
			continue
		}
		at := ecs.Engine(rc.world).Pointer(e, comp.ID)
		if at == nil {
			continue
		}
		rc.losses.Bounds(i, at)
		if before == nil {
			continue
		}
		if words := before.wordsOf(e, i); words != nil {
			rc.losses.Grid(e, i, at, words[:comp.Schema.Words()], rc)
		}
	}
}

// WordsBack gives losses the values of past ticks.
func (rc *recorder) WordsBack(e ecs.Entity, comp int, ticks foretick.Tick) []int32 {
	if r := rc.records.Find(rc.frame.Tick - ticks); r != nil {
		return r.wordsOf(e, comp)
	}
	return nil
}

// earlier returns a component's value in the tick before the predicted tick now. It returns nil if
// there is none, and after a teleport, when nothing may be interpolated.
func (rc *recorder) earlier(before, now *record, e ecs.Entity, comp int) []int32 {
	if before == nil || slices.Contains(now.cuts, e) || rc.reborn(before, now, e) {
		return nil
	}
	return before.wordsOf(e, comp)
}

// reborn reports whether an entity's life changed between two predicted ticks.
func (rc *recorder) reborn(before, now *record, e ecs.Entity) bool {
	for _, l := range rc.p.Lives {
		a, b := before.wordsOf(e, l.Component), now.wordsOf(e, l.Component)
		if a == nil || b == nil {
			continue
		}
		described, at := rc.p.Components[l.Component].Schema, rc.ghosts.hitboxes.Value(l.Component)
		n := described.Words()
		described.Dequantise(a[:n], schema.GridSim, rc.names, at)
		of := rc.p.LifeOf[l.Own]
		was := of(at)
		described.Dequantise(b[:n], schema.GridSim, rc.names, at)
		if of(at) != was {
			return true
		}
	}
	return false
}
