package bridge

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// pairs are the own entities of a world's entities.
type pairs[E comparable] struct {
	slots []pair[E]        // indexed by an entity's number without its range
	list  []uint32         // the slots in use
	of    map[E]ecs.Entity // the entities by their own entities
	stamp uint32           // counts the calls of sync

	running *system[E] // the system that runs now, or nil
	spawned []uint32   // slots of the entities that the running system has spawned
}

// pair is an entity with its own entity. The entity is None in a slot that is not used.
type pair[E comparable] struct {
	entity    ecs.Entity
	prefab    *ecs.Prefab
	own       E
	stamp     uint32
	simulated bool
}

// slotBits are the bits of an entity's number without its range.
const slotBits = 30

func slotOf(e ecs.Entity) uint32 { return e.Index() & (1<<slotBits - 1) }

// slotOfEntity returns the slot of an entity.
func (p *pairs[E]) slotOfEntity(e ecs.Entity) (at uint32, ok bool) {
	at = slotOf(e)
	return at, int(at) < len(p.slots) && p.slots[at].entity == e
}

// sync gives every entity with a bound component an own entity, and finds out which ones this end
// simulates. Before a frame is drawn, and on a server, it removes own entities whose entity is
// gone.
func (b *Bridge[E]) sync(f *foretick.Frame, draws bool) {
	ps := &b.pairs
	if b.world != f.World {
		b.Clear()
		b.world = f.World
	}
	ps.stamp++
	for _, rows := range b.entities.All(f.World) {
		if !rows.Mask().Overlaps(b.mask) {
			continue
		}
		for _, e := range rows.Entities() {
			at := b.pair(f, e)
			ps.slots[at].stamp, ps.slots[at].simulated = ps.stamp, !draws && f.Simulates(e)
		}
	}
	removes, kept := draws || f.IsServer(), ps.list[:0]
	for _, at := range ps.list {
		switch p := &ps.slots[at]; {
		case p.stamp == ps.stamp || !removes:
			p.simulated = p.simulated && p.stamp == ps.stamp
			kept = append(kept, at)
		default:
			b.dropPair(at)
		}
	}
	ps.list = kept
}

// pair returns the slot of an entity. It spawns an own entity if there is none yet.
func (b *Bridge[E]) pair(f *foretick.Frame, e ecs.Entity) uint32 {
	ps, prefab := &b.pairs, f.PrefabOf(e)
	at, ok := ps.slotOfEntity(e)
	if ok && ps.slots[at].prefab == prefab {
		return at
	}
	for int(at) >= len(ps.slots) {
		ps.slots = append(ps.slots, pair[E]{})
	}
	if ps.slots[at].entity != ecs.None { // the slot is listed already
		b.dropPair(at)
	} else {
		ps.list = append(ps.list, at)
	}
	name := ""
	if prefab != nil {
		name = prefab.Name()
	}
	own := b.spawn(name)
	ps.slots[at] = pair[E]{entity: e, prefab: prefab, own: own}
	ps.of[own] = e
	return at
}

// dropPair removes a slot's own entity.
func (b *Bridge[E]) dropPair(at uint32) {
	p := b.pairs.slots[at]
	b.pairs.slots[at] = pair[E]{}
	delete(b.pairs.of, p.own)
	b.remove(p.own)
}
