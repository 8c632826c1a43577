package prediction

import (
	"iter"
	"slices"
)

// SpawnKey identifies an entity that predicted code spawned. It is the same on
// both ends and in every run of its tick, whatever the order of rows.
type SpawnKey struct {
	Owner   uint16 // the player whose input caused the spawn
	Tick    Tick   // the tick of that player's input
	By      uint32 // the spawning entity: its id on the wire, or the ID of its own key if it was predicted too
	Ordinal uint16 // how many entities of this prefab the spawning entity spawned before in this tick
	Prefab  uint16 // number of the prefab
}

// spawnBit marks an ID, so that no wire id is mistaken for one.
const spawnBit = 1 << 31

// ID returns the key in 32 bits; the highest is always set. The server sends it
// to the owner with the entity. It is also used as By in further keys, when the
// spawned entity spawns another. It is 64-bit FNV-1a over owner, tick, spawner,
// ordinal and prefab in little-endian order, with its halves folded by
// exclusive or.
func (k SpawnKey) ID() uint32 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	fold := func(v uint32, bytes int) {
		for range bytes {
			h = (h ^ uint64(v&0xFF)) * prime
			v >>= 8
		}
	}
	fold(uint32(k.Owner), 2)
	fold(k.Tick, 4)
	fold(k.By, 4)
	fold(uint32(k.Ordinal), 2)
	fold(uint32(k.Prefab), 2)
	return uint32(h>>32) ^ uint32(h) | spawnBit
}

// Spawns remembers the entities that predicted ticks spawned, until the
// server's state for them arrives. So a replayed tick makes the same entities
// with the same handles, and the server's entity replaces the predicted one. H
// is the caller's handle type. Run each tick between Begin and End; replay
// ticks in rising order. The zero Spawns is ready to use; it allocates only
// while it grows. It is not safe for concurrent use.
type Spawns[H any] struct {
	entries []spawn[H] // entries are in the order of ticks, and within a tick in the order of first spawn.
	taken   []spawn[H] // taken is scratch.
	tick    Tick
}

type spawn[H any] struct {
	tick      Tick
	id        uint32
	handle    H
	made      bool // made is true if the current or the last run of the tick spawned the entity.
	confirmed bool // confirmed is true once the server's state for the entity has arrived.
}

// Begin starts a run of tick t, the first or a replay.
func (s *Spawns[H]) Begin(t Tick) {
	s.tick = t
	for i := s.from(t); i < len(s.entries) && s.entries[i].tick == t; i++ {
		s.entries[i].made = false
	}
}

// from returns the index of the first entry of tick t or later.
func (s *Spawns[H]) from(t Tick) int {
	i, _ := slices.BinarySearchFunc(s.entries, t, func(e spawn[H], t Tick) int {
		if int32(e.tick-t) < 0 {
			return -1
		}
		return 1
	})
	return i
}

// Again returns the handle that an earlier run of the running tick used for
// this id. It returns false when there is none: then create the entity and call
// Add. Entities with equal ids are distinguished by their order.
func (s *Spawns[H]) Again(id uint32) (h H, ok bool) {
	for i := s.from(s.tick); i < len(s.entries) && s.entries[i].tick == s.tick; i++ {
		if e := &s.entries[i]; e.id == id && !e.made {
			e.made = true
			return e.handle, true
		}
	}
	return h, false
}

// Add records an entity that the running tick spawned for the first time.
func (s *Spawns[H]) Add(id uint32, h H) {
	s.entries = slices.Insert(s.entries, s.from(s.tick+1), spawn[H]{tick: s.tick, id: id, handle: h, made: true})
}

// End finishes the running tick. It removes the entities that an earlier run
// spawned, this one did not, and the server does not have, and passes them to
// unmade.
func (s *Spawns[H]) End(unmade func(Tick, H)) {
	s.sift(func(e *spawn[H]) (tell, drop bool) {
		gone := e.tick == s.tick && !e.made && !e.confirmed
		return gone, gone
	}, unmade)
}

// Match returns the handle of the prediction with the id of an entity that the
// server spawned; the handle now belongs to the server's entity. It returns
// false when the client did not predict it, or it was matched before.
func (s *Spawns[H]) Match(id uint32) (h H, ok bool) {
	for i := range s.entries {
		if e := &s.entries[i]; e.id == id && !e.confirmed {
			e.confirmed = true
			return e.handle, true
		}
	}
	return h, false
}

// Find returns the handle and tick of the entry with an id, whether or not the
// server's state for it has arrived.
func (s *Spawns[H]) Find(id uint32) (h H, t Tick, ok bool) {
	for i := range s.entries {
		if e := &s.entries[i]; e.id == id {
			return e.handle, e.tick, true
		}
	}
	return h, 0, false
}

// Settle processes the server's state of the ticks up to t. Call Match for all
// spawns of the server first: the entries still open do not exist on the
// server, and are passed to missing. Confirmed entries are kept for another keep
// ticks. Use 0, unless ticks older than the server's newest are replayed.
func (s *Spawns[H]) Settle(t Tick, keep uint32, missing func(Tick, H)) {
	s.sift(func(e *spawn[H]) (tell, drop bool) {
		if int32(e.tick-t) > 0 {
			return false, false
		}
		tell = !e.confirmed
		e.confirmed = true
		return tell, t-e.tick >= keep
	}, missing)
}

// Forget drops confirmed entries of the ticks up to t, except those of the newest
// keep ticks. Use it when the server's state leaves open what else the server
// spawned in these ticks.
func (s *Spawns[H]) Forget(t Tick, keep uint32) {
	s.sift(func(e *spawn[H]) (tell, drop bool) {
		return false, e.confirmed && int32(e.tick-t) <= 0 && t-e.tick >= keep
	}, nil)
}

// Open calls visit for the entries that still wait for the server's state,
// oldest first, until visit returns false. visit must not call methods of s.
func (s *Spawns[H]) Open(visit func(Tick, H) bool) {
	for i := range s.entries {
		if e := &s.entries[i]; !e.confirmed && !visit(e.tick, e.handle) {
			return
		}
	}
}

// All returns an iterator over the handles of all entries, whether or not the
// server's state for them has arrived. Do not add or remove entries during the
// iteration.
func (s *Spawns[H]) All() iter.Seq[H] {
	return func(yield func(H) bool) {
		for i := range s.entries {
			if !yield(s.entries[i].handle) {
				return
			}
		}
	}
}

// Len returns the number of entries.
func (s *Spawns[H]) Len() int { return len(s.entries) }

// Clear removes all entries, and passes those that still wait for the server's
// state to missing; use it when the prediction starts over.
func (s *Spawns[H]) Clear(missing func(Tick, H)) {
	s.sift(func(e *spawn[H]) (tell, drop bool) { return !e.confirmed, true }, missing)
}

// sift removes entries first and calls tell afterwards, because tell may ask
// for more.
func (s *Spawns[H]) sift(which func(*spawn[H]) (tell, drop bool), tell func(Tick, H)) {
	if len(s.entries) == 0 {
		return
	}
	told, kept := s.taken[:0], s.entries[:0]
	for i := range s.entries {
		tells, drops := which(&s.entries[i])
		if tells {
			told = append(told, s.entries[i])
		}
		if !drops {
			kept = append(kept, s.entries[i])
		}
	}
	clear(s.entries[len(kept):])
	s.entries, s.taken = kept, nil
	if tell != nil {
		for i := range told {
			tell(told[i].tick, told[i].handle)
		}
	}
	clear(told)
	if cap(told) <= mostScratch { // more than that end at once only in rare cases, such as after a stall
		s.taken = told
	}
}

const mostScratch = 64 // entries to keep room for
