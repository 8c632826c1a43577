package ecs

import (
	"slices"
	"unsafe"
)

// History is a ring of saves of a world, or of one owner's part of it, in
// memory that is kept from save to save. Columns are copied at the speed of
// memcpy; which entities there are, and where, is copied only when it differs
// from what the slot holds already. Restoring brings back exactly what was:
// values, row order, handles and free lists.
//
// A History belongs to its world and shares its goroutine. Saving and
// restoring allocate only while the world outgrows what the slot has held.
type History struct {
	w      *World
	part   *part // nil: the whole world
	tables []*table
	layout uint64
	slots  []slot
}

// slot is one save.
type slot struct {
	saved   bool
	cut     uint64
	changed uint64 // names the structure held
	count   int
	tables  []savedTable       // as History.tables
	arena   []byte             // the columns, one after another
	pages   [ranges]savedPages // of a whole world: the first alone
	parts   []savedPart
	strays  []uint32
	singles []byte
	rigid   []unsafe.Pointer // singletons with pointers
	watches []savedWatch
}

type savedTable struct {
	version uint64
	at      uintptr
	n       int32
	ids     []Entity
	rigid   []savedColumn // columns with pointers, as arch.rigid
}

type savedColumn struct {
	base unsafe.Pointer
	cap  int32
}

type savedPages struct {
	versions []uint64
	away     []uint64
	tops     []uint8
	records  []uint64 // zero from top on
}

type savedPart struct {
	counters [ranges]counters
	changed  uint64
	cut      uint64
}

// NewHistory makes a history of the whole world, singletons and watches
// included, with a number of slots (32 ticks, in general).
func (w *World) NewHistory(slots int) *History { return w.newHistory(nil, slots) }

// NewOwnerHistory makes a history of one owner's entities alone. Restoring it
// leaves every other entity, and the order of every other row, untouched. A
// [World.Transfer] to or from the owner makes older slots void, as does a
// restore of the world across one: [History.Holds] tells.
func (w *World) NewOwnerHistory(o Owner, slots int) *History { return w.newHistory(w.partOf(o), slots) }

func (w *World) newHistory(p *part, slots int) *History {
	if slots < 1 {
		misuse("a history of %d slots: use 1 at least", slots)
	}
	h := &History{w: w, part: p, slots: make([]slot, slots)}
	h.refresh()
	var size uintptr
	for _, t := range h.tables {
		size += t.arch.bytes(t.cap)
	}
	slab := allocBytes(size * uintptr(slots)) // one piece: kind to the TLB
	for i := range h.slots {
		h.slots[i].arena = slab[uintptr(i)*size : uintptr(i+1)*size : uintptr(i+1)*size]
	}
	return h
}

// bytes is how much of an arena n rows take.
func (a *archetype) bytes(n int32) uintptr {
	var size uintptr
	for _, d := range a.types {
		if d.plain {
			size += align64(d.size * uintptr(n))
		}
	}
	return size
}

// refresh appends the tables made since. Their place never changes.
func (h *History) refresh() {
	if h.layout == h.w.layout {
		return
	}
	h.layout = h.w.layout
	if h.part != nil {
		h.tables = append(h.tables, h.part.made[len(h.tables):]...)
		return
	}
	h.tables = append(h.tables, h.w.made[len(h.tables):]...)
}

// Slots is how many saves the history holds at most.
func (h *History) Slots() int { return len(h.slots) }

// Holds tells whether the slot can be restored: it was saved, and no transfer
// has made it void since.
func (h *History) Holds(slot int) bool {
	return slot >= 0 && slot < len(h.slots) && h.slots[slot].saved &&
		(h.part == nil || h.slots[slot].cut == h.part.cut)
}

// Save writes the present state into a slot. It panics with [UsageError] when
// the world is locked or the slot does not exist.
func (h *History) Save(slot int) {
	if slot < 0 || slot >= len(h.slots) {
		misuse("save to slot %d of %d", slot, len(h.slots))
	}
	if h.w.locks > 0 {
		misuse("save of a locked world: save between systems")
	}
	h.refresh()
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
}

func (h *History) saveTables(s *slot, same bool) {
	for len(s.tables) < len(h.tables) {
		s.tables = append(s.tables, savedTable{})
	}
	var at uintptr
	saved := s.tables[:len(h.tables)]
	for i, t := range h.tables {
		st := &saved[i]
		st.at = at
		if n := t.n; n > 0 {
			if len(t.arch.rigid) > 0 {
				st.saveRigid(t)
			}
			for _, c := range t.arch.plain {
				size := uintptr(n) * c.size
				end := at + align64(size)
				if end > uintptr(len(s.arena)) {
					s.growArena(at, end)
				}
				copy(s.arena[at:], unsafe.Slice((*byte)(t.cols[c.slot]), size))
				at = end
			}
		}
		if !same && (st.version != t.version || st.n != t.n) {
			st.n, st.version = t.n, t.version
			st.ids = append(st.ids[:0], t.ids[:t.n]...)
		}
	}
}

func (s *slot) growArena(used, need uintptr) {
	arena := allocBytes(max(need, 2*uintptr(len(s.arena))))
	copy(arena, s.arena[:used])
	s.arena = arena
}

func (st *savedTable) saveRigid(t *table) {
	for len(st.rigid) < len(t.arch.rigid) {
		st.rigid = append(st.rigid, savedColumn{})
	}
	for i, d := range t.arch.rigid {
		c := &st.rigid[i]
		if c.cap < t.n {
			base := d.ops.alloc(int(t.cap))
			if c.cap > 0 {
				d.ops.copy(base, c.base, int(c.cap))
			}
			c.base, c.cap = base, t.cap
		}
		d.ops.deep(c.base, t.cols[d.slot], int(t.n))
	}
}

func (h *History) saveRecords(s *slot) {
	w := h.w
	if h.part != nil {
		s.parts = append(s.parts[:0], h.part.save())
		for r := range ranges {
			for i, n := range h.part.alloc[r].pages {
				s.pages[r].save(w, i, n)
			}
		}
		return
	}
	s.parts = s.parts[:0]
	for _, p := range w.parts {
		s.parts = append(s.parts, p.save())
	}
	for i := range w.claimed {
		s.pages[0].save(w, i, uint32(i))
	}
	s.strays = append(s.strays[:0], w.strays...)
}

func (p *part) save() savedPart {
	sp := savedPart{changed: p.changed, cut: p.cut}
	for r := range ranges {
		sp.counters[r] = p.alloc[r].counters
	}
	return sp
}

// save copies page n of the world to place i, when it differs.
func (s *savedPages) save(w *World, i int, n uint32) {
	if i == len(s.versions) {
		s.versions = append(s.versions, 0)
		s.away = append(s.away, 0)
		s.tops = append(s.tops, 0)
		s.records = slices.Grow(s.records, pageLen)[:len(s.records)+pageLen]
		clear(s.records[i*pageLen:])
	}
	pg := &w.pages[n]
	if s.versions[i] != pg.version {
		to, top := s.records[i*pageLen:(i+1)*pageLen], pg.top
		copy(to[:top], w.rec[n*pageLen:])
		if was := s.tops[i]; was > top {
			clear(to[top:was])
		}
		s.versions[i], s.away[i], s.tops[i] = pg.version, pg.away, top
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

// Restore brings the state of a slot back. It panics with [UsageError] when the
// world is locked or the slot does not hold a save; see [History.Holds].
func (h *History) Restore(slot int) {
	if !h.Holds(slot) {
		misuse("restore of slot %d of %d, which holds no save, or one that a transfer made void: ask Holds", slot, len(h.slots))
	}
	w := h.w
	if w.locks > 0 {
		misuse("restore of a locked world: restore between systems")
	}
	h.refresh()
	s := &h.slots[slot]
	switch {
	case h.part == nil:
		if s.changed != w.changed {
			h.restoreRecords(s)
			h.restoreIDs(s)
			w.changed, w.count = s.changed, s.count
		}
		h.restoreSingles(s)
	case s.changed != h.part.changed:
		h.restorePart(s)
	}
	h.restoreColumns(s)
	h.restoreWatches(s)
	w.kids.stale = w.kids.used
	if w.kids.used && h.part != nil {
		w.orphan()
	}
}

func (h *History) restoreColumns(s *slot) {
	for i := range s.tables {
		st, t := &s.tables[i], h.tables[i]
		if st.n == 0 {
			continue
		}
		at := st.at
		for _, c := range t.arch.plain {
			size := uintptr(st.n) * c.size
			copy(unsafe.Slice((*byte)(t.cols[c.slot]), size), s.arena[at:at+size])
			at += align64(size)
		}
		for k, d := range t.arch.rigid {
			d.ops.deep(t.cols[d.slot], st.rigid[k].base, int(st.n))
		}
	}
}

// restoreIDs sets which rows there are. Tables made since the save are emptied.
func (h *History) restoreIDs(s *slot) {
	for i, t := range h.tables {
		var none savedTable
		st := &none
		if i < len(s.tables) {
			st = &s.tables[i]
		}
		if st.version == t.version {
			continue
		}
		for _, d := range t.arch.rigid {
			if t.n > st.n {
				d.ops.clear(t.at(d, st.n), int(t.n-st.n))
			}
		}
		copy(t.ids, st.ids[:st.n])
		t.n, t.version = st.n, st.version
	}
}

func (h *History) restoreRecords(s *slot) {
	w := h.w
	w.version++
	sp := &s.pages[0]
	for i := range w.claimed {
		pg := &w.pages[i]
		switch {
		case i >= len(sp.versions):
			if pg.version != 0 {
				pg.set(w.rec[i*pageLen:], nil, 0, 0)
				pg.away = 0
			}
		case sp.versions[i] != pg.version:
			pg.set(w.rec[i*pageLen:], sp.records[i*pageLen:], sp.tops[i], sp.versions[i])
			pg.away = sp.away[i]
		}
	}
	for i, p := range w.parts {
		var sp savedPart
		if i < len(s.parts) {
			sp = s.parts[i]
		} else {
			sp.changed, sp.cut = w.version, p.cut
		}
		p.restore(&sp)
		if sp.cut != p.cut {
			p.cut = w.version // the restore crosses a transfer
		}
	}
	w.strays = append(w.strays[:0], s.strays...)
}

func (p *part) restore(sp *savedPart) {
	for r := range ranges {
		p.alloc[r].counters = sp.counters[r]
	}
	p.changed = sp.changed
}

func (h *History) restoreSingles(s *slot) {
	w := h.w
	copy(w.singleBlock, s.singles)
	for i, d := range w.types.singles {
		if !d.plain {
			d.ops.deep(w.singles[i], s.rigid[i], 1)
		}
	}
}

// restorePart brings one part's structure back. Records in its own pages come
// back as bytes; those of entities that came from elsewhere follow their rows.
func (h *History) restorePart(s *slot) {
	w, p := h.w, h.part
	w.version++
	for i, t := range h.tables {
		if i < len(s.tables) && s.tables[i].version == t.version {
			continue
		}
		w.count -= int(t.n)
		for _, e := range t.ids[:t.n] {
			pg := &w.pages[e.slot()>>pageBits]
			if pg.home != p.index {
				w.rec[e.slot()] = makeRecord(e.Generation(), 0, uint32(p.index)+1)
				pg.version = w.version
			}
		}
	}
	for r := range ranges {
		for i, n := range p.alloc[r].pages {
			s.pages[r].restore(w, i, n)
		}
	}
	p.restore(&s.parts[0])
	for i, t := range h.tables {
		h.restoreRows(s, i, t)
	}
	w.changed = w.version
}

func (h *History) restoreRows(s *slot, i int, t *table) {
	w := h.w
	var none savedTable
	st := &none
	if i < len(s.tables) {
		st = &s.tables[i]
	}
	if st.version == t.version {
		return
	}
	for _, d := range t.arch.rigid {
		if t.n > st.n {
			d.ops.clear(t.at(d, st.n), int(t.n-st.n))
		}
	}
	copy(t.ids, st.ids[:st.n])
	t.n, t.version = st.n, st.version
	w.count += int(t.n)
	for row, e := range t.ids[:t.n] {
		want := uint64(e>>32)<<genShift | uint64(t.id)<<tableShift | uint64(row)
		if rec := &w.rec[e.slot()]; *rec != want {
			*rec = want
			w.pages[e.slot()>>pageBits].version = w.version
		}
	}
}

// restore copies a page of a part back, but for the records of entities that
// live elsewhere now.
func (s *savedPages) restore(w *World, i int, n uint32) {
	pg := &w.pages[n]
	recs := w.rec[n*pageLen : (n+1)*pageLen]
	var version uint64
	var from []uint64
	if i < len(s.versions) {
		version, from = s.versions[i], s.records[i*pageLen:(i+1)*pageLen]
	}
	if version == pg.version {
		return
	}
	if pg.away != 0 {
		for k := range recs {
			if pg.away>>k&1 == 0 {
				recs[k] = 0
				if from != nil {
					recs[k] = from[k]
				}
			}
		}
		pg.version = w.version
		return
	}
	var top uint8
	if from != nil {
		top = s.tops[i]
	}
	pg.set(recs, from, top, version)
}

// set makes a page's records those of a save, pristine from top on.
func (pg *page) set(recs, from []uint64, top uint8, version uint64) {
	copy(recs[:top], from)
	if pg.home == shared {
		top = pageLen
		copy(recs[:top], from)
		if from == nil {
			clear(recs[:top])
		}
	}
	if pg.top > top {
		clear(recs[top:pg.top])
	}
	pg.top, pg.version = top, version
}
