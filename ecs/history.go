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
	tables  []savedTable        // as History.tables
	rigids  [][]savedColumn     // by table: columns with pointers, as arch.rigid; or none at all
	arena   []byte              // the columns, one after another
	pages   [ranges][]savedPage // of a whole world: the first alone
	words   []uint64            // where runs lie
	parts   []savedPart
	strays  []uint32
	singles []byte
	rigid   []unsafe.Pointer // singletons with pointers
	watches []savedWatch
}

type savedTable struct {
	version uint64
	at      uintptr
	ids     run
	n       int32
}

// run is room for handles or records of a slot, close to others: what lies
// apart by powers of two would share cache sets.
type run struct{ at, cap uint32 }

// room makes a run long enough for n, and answers those. What it held is lost
// when it moves.
func (s *slot) room(r *run, n int) []uint64 {
	if n > int(r.cap) {
		c := max((n+7)&^7, int(r.cap)*3/2)
		r.at, r.cap = uint32(len(s.words)), uint32(c)
		s.words = slices.Grow(s.words, c)[:len(s.words)+c]
	}
	return s.held(r, n)
}

// held is the first n of a run.
func (s *slot) held(r *run, n int) []uint64 { return s.words[r.at:][:n] }

// ids is the handles that a slot keeps of a table.
func (s *slot) ids(st *savedTable) []Entity {
	return unsafe.Slice((*Entity)(unsafe.Pointer(unsafe.SliceData(s.held(&st.ids, int(st.n))))), st.n)
}

type savedColumn struct {
	base unsafe.Pointer
	cap  int32
}

type savedPage struct {
	version uint64
	away    uint64
	records run
	top     uint8 // how many records are kept
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

// Saved tells whether the slot was ever written, whether or not it can be restored.
func (h *History) Saved(slot int) bool {
	return slot >= 0 && slot < len(h.slots) && h.slots[slot].saved
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
			s.room(&st.ids, int(t.n))
			copy(s.ids(st), t.ids)
		}
	}
}

func (s *slot) growArena(used, need uintptr) {
	arena := allocBytes(max(need, 2*uintptr(len(s.arena))))
	copy(arena, s.arena[:used])
	s.arena = arena
}

// saveRigid saves the columns with pointers of table i.
func (s *slot) saveRigid(i int, t *table) {
	for len(s.rigids) < len(s.tables) {
		s.rigids = append(s.rigids, nil)
	}
	for len(s.rigids[i]) < len(t.arch.rigid) {
		s.rigids[i] = append(s.rigids[i], savedColumn{})
	}
	for k, d := range t.arch.rigid {
		c := &s.rigids[i][k]
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
		h.part.save(&s.savedParts(1)[0])
		for r := range ranges {
			for i, n := range h.part.alloc[r].pages {
				s.savePage(w, r, i, n)
			}
		}
		return
	}
	parts := s.savedParts(len(w.parts))
	for i, p := range w.parts {
		p.save(&parts[i])
	}
	for i := range w.claimed {
		s.savePage(w, 0, i, uint32(i))
	}
	s.strays = append(s.strays[:0], w.strays...)
}

// savedParts makes room for n parts.
func (s *slot) savedParts(n int) []savedPart {
	s.parts = slices.Grow(s.parts[:0], n)[:n]
	return s.parts
}

func (p *part) save(sp *savedPart) {
	sp.changed, sp.cut = p.changed, p.cut
	for r := range ranges {
		sp.counters[r] = p.alloc[r].counters
	}
}

// savePage copies page n of the world to place i of a list, when it differs.
func (s *slot) savePage(w *World, r Range, i int, n uint32) {
	if i == len(s.pages[r]) {
		s.pages[r] = append(s.pages[r], savedPage{})
	}
	pg, to := &w.pages[n], &s.pages[r][i]
	if to.version != pg.version {
		copy(s.room(&to.records, int(pg.top)), w.rec[n*pageLen:])
		to.version, to.away, to.top = pg.version, pg.away, pg.top
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
		for _, c := range t.plain {
			size := uintptr(st.n) * c.size
			copy(unsafe.Slice((*byte)(c.p), size), s.arena[at:at+size])
			at += align64(size)
		}
		for k, d := range t.arch.rigid {
			d.ops.deep(t.cols[d.slot], s.rigids[i][k].base, int(st.n))
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
		copy(t.ids, s.ids(st))
		t.n, t.version = st.n, st.version
	}
}

func (h *History) restoreRecords(s *slot) {
	w := h.w
	w.version++
	for i := range w.pages[:w.claimed] {
		pg, from := &w.pages[i], s.page(0, i)
		if from.version != pg.version {
			pg.set(w, uint32(i), s.held(&from.records, int(from.top)), from.version)
			pg.away = from.away
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
				w.rec[e.slot()] = makeRecord(e, 0, uint32(p.index)+1)
				pg.version = w.version
			}
		}
	}
	for r := range ranges {
		for i, n := range p.alloc[r].pages {
			s.restorePage(w, s.page(r, i), n)
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
	copy(t.ids, s.ids(st))
	t.n, t.version = st.n, st.version
	w.count += int(t.n)
	for row, e := range t.ids[:t.n] {
		want := makeRecord(e, t.id, uint32(row))
		if rec := &w.rec[e.slot()]; *rec != want {
			*rec = want
			w.pages[e.slot()>>pageBits].version = w.version
		}
	}
}

// page is what a slot keeps of page i of a list: nothing, when it is younger.
func (s *slot) page(r Range, i int) *savedPage {
	if i < len(s.pages[r]) {
		return &s.pages[r][i]
	}
	return &pristinePage
}

var pristinePage savedPage // not to be written

// restorePage copies a page of a part back, but for the records of entities
// that live elsewhere now.
func (s *slot) restorePage(w *World, sp *savedPage, n uint32) {
	pg := &w.pages[n]
	if sp.version == pg.version {
		return
	}
	from := s.held(&sp.records, int(sp.top))
	if pg.away != 0 {
		pg.top = max(pg.top, uint8(len(from)))
		for k := range uint32(pg.top) {
			if rec := &w.rec[n*pageLen+k]; pg.away>>k&1 == 0 {
				*rec = uint64(n*pageLen + k)
				if int(k) < len(from) {
					*rec = from[k]
				}
			}
		}
		pg.version = w.version
		return
	}
	pg.set(w, n, from, sp.version)
}

// set makes the records of page n those of a save, and the rest pristine.
func (pg *page) set(w *World, n uint32, from []uint64, version uint64) {
	top := copy(w.rec[n*pageLen:(n+1)*pageLen], from)
	if int(pg.top) > top {
		pristine(w.rec[int(n)*pageLen+top:int(n)*pageLen+int(pg.top)], n*pageLen+uint32(top))
	}
	pg.top, pg.version = uint8(top), version
	if pg.home == shared {
		pg.top = pageLen
	}
}
