package prediction

import (
	"iter"
	"slices"
)

// SpawnKey names something that predicted code spawned, alike on both ends and
// in every run of its tick, whatever the order of rows.
type SpawnKey struct {
	Owner   uint16 // whose input made it
	Tick    Tick   // of that input
	By      uint32 // the spawning entity: its id on the wire, or the ID of the key that it was itself spawned by
	Ordinal uint16 // how many of its kind that entity spawned before it in this tick
	Prefab  uint16
}

// spawnBit marks an ID, so that no id on the wire is mistaken for one.
const spawnBit = 1 << 31

// ID is the key in 32 bits, of which the highest is always set: what the server
// sends to the owner with the entity, and what a spawner that was spawned so is
// called in further keys. It is FNV-1a, 64 bits, over owner, tick, spawner,
// ordinal and kind in little-endian order, its halves folded by exclusive or.
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

// Spawns remembers what predicted ticks spawned until the server's word on it
// came, so that a tick that runs again makes the same things with the same
// handles, and what the server made takes over from what was predicted. H is the
// caller's handle. A tick is run between Begin and End; those that ran before
// run again in rising order. The zero Spawns is ready to use; it allocates while
// it grows and not after. It is not safe for concurrent use.
type Spawns[H any] struct {
	entries []spawn[H] // by tick; within one as first spawned
	taken   []spawn[H] // scratch
	tick    Tick
}

type spawn[H any] struct {
	tick    Tick
	id      uint32
	handle  H
	made    bool // by the run that is on, or by the last one
	settled bool // the server's word on it came
}

// Begin says that tick t runs, for the first time or again.
func (s *Spawns[H]) Begin(t Tick) {
	s.tick = t
	for i := s.from(t); i < len(s.entries) && s.entries[i].tick == t; i++ {
		s.entries[i].made = false
	}
}

// from is the place of the first entry of tick t or later.
func (s *Spawns[H]) from(t Tick) int {
	i, _ := slices.BinarySearchFunc(s.entries, t, func(e spawn[H], t Tick) int {
		if int32(e.tick-t) < 0 {
			return -1
		}
		return 1
	})
	return i
}

// Again answers the handle that an earlier run of the running tick gave to the
// spawn with this id, and false when none did: then make one, and Add it. Where
// two have one id they are told apart by their order.
func (s *Spawns[H]) Again(id uint32) (h H, ok bool) {
	for i := s.from(s.tick); i < len(s.entries) && s.entries[i].tick == s.tick; i++ {
		if e := &s.entries[i]; e.id == id && !e.made {
			e.made = true
			return e.handle, true
		}
	}
	return h, false
}

// Add notes what the running tick spawned for the first time.
func (s *Spawns[H]) Add(id uint32, h H) {
	s.entries = slices.Insert(s.entries, s.from(s.tick+1), spawn[H]{tick: s.tick, id: id, handle: h, made: true})
}

// End closes the running tick: what an earlier run spawned and this one did not,
// and the server has not, is taken off and told to unmade.
func (s *Spawns[H]) End(unmade func(Tick, H)) {
	s.sift(func(e *spawn[H]) (tell, drop bool) {
		gone := e.tick == s.tick && !e.made && !e.settled
		return gone, gone
	}, unmade)
}

// Match answers the handle of what was predicted under the id of an entity that
// the server made, and false when nothing was: the client did not foresee it, or
// it has been matched already. The handle is from now on the entity's.
func (s *Spawns[H]) Match(id uint32) (h H, ok bool) {
	for i := range s.entries {
		if e := &s.entries[i]; e.id == id && !e.settled {
			e.settled = true
			return e.handle, true
		}
	}
	return h, false
}

// Find answers the handle and the tick of what is remembered under an id, whether or
// not the server's word on it came.
func (s *Spawns[H]) Find(id uint32) (h H, t Tick, ok bool) {
	for i := range s.entries {
		if e := &s.entries[i]; e.id == id {
			return e.handle, e.tick, true
		}
	}
	return h, 0, false
}

// Settle takes the server's word on the ticks up to t, after Match was asked for
// all that it made: what remains open of them the server does not have. Each is
// told to missing. What is settled is remembered for another keep ticks: 0, but
// for those who run older ticks again than the server's newest.
func (s *Spawns[H]) Settle(t Tick, keep uint32, missing func(Tick, H)) {
	s.sift(func(e *spawn[H]) (tell, drop bool) {
		if int32(e.tick-t) > 0 {
			return false, false
		}
		tell = !e.settled
		e.settled = true
		return tell, t-e.tick >= keep
	}, missing)
}

// Forget drops what is settled of the ticks up to t, but for the newest keep, when
// the server's word on them leaves open what else it made.
func (s *Spawns[H]) Forget(t Tick, keep uint32) {
	s.sift(func(e *spawn[H]) (tell, drop bool) {
		return false, e.settled && int32(e.tick-t) <= 0 && t-e.tick >= keep
	}, nil)
}

// Open visits what the server's word is still awaited for, oldest first, until
// visit answers false. It must not call methods of s.
func (s *Spawns[H]) Open(visit func(Tick, H) bool) {
	for i := range s.entries {
		if e := &s.entries[i]; !e.settled && !visit(e.tick, e.handle) {
			return
		}
	}
}

// All lists the handles of all that is remembered, whether or not the server's word on
// it came. Nothing may be added or taken off meanwhile.
func (s *Spawns[H]) All() iter.Seq[H] {
	return func(yield func(H) bool) {
		for i := range s.entries {
			if !yield(s.entries[i].handle) {
				return
			}
		}
	}
}

// Len is how much is remembered.
func (s *Spawns[H]) Len() int { return len(s.entries) }

// Clear takes everything off, and tells what the server's word is still awaited
// for to missing: the prediction begins anew.
func (s *Spawns[H]) Clear(missing func(Tick, H)) {
	s.sift(func(e *spawn[H]) (tell, drop bool) { return !e.settled, true }, missing)
}

// sift tells of entries only after it has taken off what is to be dropped: what
// is told may ask for more.
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
	if cap(told) <= mostScratch { // else many ended at once, as at a stall's end: rarely
		s.taken = told
	}
}

const mostScratch = 64 // entries kept room for
