package ecs

import (
	"unsafe"

	"github.com/foretick/foretick/internal/misuse"
)

// History is a ring of saves of a world, or of one owner's part of it. Slots
// keep their memory from save to save. Columns are copied at the speed of
// memcpy. The list of entities and their places is copied only when it differs
// from the slot's. Restoring brings back the exact state: values, row order,
// handles and free lists.
//
// A History belongs to its world and must be used on the same goroutine. Saving
// and restoring allocate only when the world outgrows the slot.
type History struct {
	w     *World
	part  *part // part is nil for a history of the whole world.
	slots []slot
	known bool // known is true if the world lists the history, because it has saves.
	exact bool // exact is true if a restore gives pages of handles back: see NewExactHistory.
}

// NewHistory returns a history of the whole world: entities, singletons and each
// [Watch]. slots is the number of saved states, one for each tick to keep: usually 32.
func (c *Control) NewHistory(slots int) *History { return c.world().newHistory(nil, slots) }

// NewExactHistory is NewHistory for worlds that several machines run with the same inputs. Parts claim pages of
// handles as they grow. Usually they keep what they claimed in ticks that a restore undoes, and machines that
// predicted different things then give different handles to one entity. A restore of an exact history gives
// those pages back too. It voids the saves of owners. [Control.Reserve] and [Control.Place] must not be used.
func (c *Control) NewExactHistory(slots int) *History {
	h := c.world().newHistory(nil, slots)
	h.exact = true
	return h
}

// NewOwnerHistory returns a history of one owner's entities. Restoring it
// leaves every other entity, and the order of every other row, untouched. A
// [World.Transfer] to or from the owner voids older slots: they can no longer be
// restored. A restore of the whole world to before such a transfer does the same.
// Check with [History.Holds].
func (c *Control) NewOwnerHistory(o Owner, slots int) *History {
	w := c.world()
	return w.newHistory(w.partOf(o), slots)
}

func (w *World) newHistory(p *part, slots int) *History {
	if slots < 1 {
		misuse.Panicf("ecs: a history of %d slots: use 1 at least", slots)
	}
	h := &History{w: w, part: p, slots: make([]slot, slots)}
	var size uintptr
	for _, t := range h.tables() {
		size += t.arch.arenaSize(t.cap)
	}
	slab := allocBytes(size * uintptr(slots)) // one block: friendly to the TLB
	for i := range h.slots {
		h.slots[i].arena = slab[uintptr(i)*size : uintptr(i+1)*size : uintptr(i+1)*size]
	}
	return h
}

// arenaSize returns the arena size of n rows.
func (a *archetype) arenaSize(n int32) uintptr {
	var size uintptr
	for _, d := range a.types {
		if d.plain {
			size += align64(d.size * uintptr(n))
		}
	}
	return size
}

// tables returns the tables whose rows the history saves, in order of creation. A table's index in the list is
// also the index of its save.
func (h *History) tables() []*table {
	if h.part != nil {
		return h.part.made
	}
	return h.w.made
}

// Release forgets every save. A [World] keeps a table without rows for as long as a save of
// any history has rows in it, so release a history that is needed no longer. It may be used
// again.
func (h *History) Release() {
	h.w.forgetHistory(h)
	h.slots = make([]slot, len(h.slots))
}

// Slots returns the maximum number of saves.
func (h *History) Slots() int { return len(h.slots) }

// Holds reports whether the slot can be restored. In a history of the whole world
// every saved slot can. In a history of one owner a slot can no longer be restored
// once an entity was transferred to or from that owner: see [Control.NewOwnerHistory].
func (h *History) Holds(slot int) bool {
	return slot >= 0 && slot < len(h.slots) && h.slots[slot].saved &&
		(h.part == nil || h.slots[slot].cut == h.part.cut)
}

// Saved reports whether the slot was ever written, even if it cannot be
// restored.
func (h *History) Saved(slot int) bool {
	return slot >= 0 && slot < len(h.slots) && h.slots[slot].saved
}

// Save writes the current state into a slot. It panics with [UsageError] when
// the world is locked or the slot does not exist.
func (h *History) Save(slot int) {
	if slot < 0 || slot >= len(h.slots) {
		misuse.Panicf("ecs: save to slot %d of %d", slot, len(h.slots))
	}
	if h.w.locks > 0 {
		misuse.Panicf("ecs: save of a locked world: save between systems")
	}
	h.w.knowHistory(h)
	s := &h.slots[slot]
	changed := h.w.changed
	if h.part != nil {
		changed = h.part.changed
		s.cut = h.part.cut
	}
	same := s.saved && s.changed == changed
	h.saveTables(s, same)
	if !same {
		s.count = h.w.count
		h.saveRecords(s)
	}
	if h.part == nil {
		h.saveSingles(s)
	}
	h.saveWatches(s)
	s.changed, s.saved = changed, true
	h.w.recycleIdle(len(h.slots))
}

func (h *History) saveTables(s *slot, same bool) {
	tables := h.tables()
	for len(s.tables) < len(tables) {
		s.tables = append(s.tables, savedTable{})
	}
	var at uintptr
	saved := s.tables[:len(tables)]
	for i, t := range tables {
		st := &saved[i]
		st.at = at
		if n := t.n; n > 0 {
			if t.rigid {
				s.saveRigid(i, t)
			}
			for _, c := range t.plain {
				size := uintptr(n) * c.size
				end := at + align64(size)
				if end > uintptr(len(s.arena)) {
					s.growArena(at, end)
				}
				copy(s.arena[at:], unsafe.Slice((*byte)(c.p), size))
				at = end
			}
		}
		if !same && st.version != t.version {
			st.n, st.version = t.n, t.version
			s.runRoom(&st.ids, int(t.n))
			copy(s.ids(st), t.ids)
		}
	}
}

func (h *History) saveRecords(s *slot) {
	w := h.w
	if h.part != nil {
		h.part.saveCounters(&s.savedParts(1)[0])
		for r := range ranges {
			for i, n := range h.part.alloc[r].pages {
				s.savePage(w, r, i, n)
			}
		}
		return
	}
	parts := s.savedParts(len(w.parts))
	for i, p := range w.parts {
		p.saveCounters(&parts[i])
	}
	for i := range w.claimed {
		s.savePage(w, 0, i, uint32(i))
	}
	if h.exact {
		s.saveHomes(w)
	}
	s.strays = append(s.strays[:0], w.strays...)
}

func (p *part) saveCounters(sp *savedPart) {
	sp.changed, sp.cut = p.changed, p.cut
	for r := range ranges {
		sp.counters[r] = p.alloc[r].counters
	}
}

func (h *History) saveSingles(s *slot) {
	w := h.w
	if s.singles == nil {
		s.singles = allocBytes(uintptr(len(w.singleBlock)))
		s.rigid = make([]unsafe.Pointer, len(w.singles))
	}
	copy(s.singles, w.singleBlock)
	for i, d := range w.types.singles {
		if !d.plain {
			if s.rigid[i] == nil {
				s.rigid[i] = d.ops.alloc(1)
			}
			d.ops.deep(s.rigid[i], w.singles[i], 1)
		}
	}
}
