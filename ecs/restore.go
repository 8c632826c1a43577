package ecs

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/internal/misuse"
)

// Restore brings back the state of a slot. It panics with [UsageError] when the
// world is locked or the slot holds no save; see [History.Holds].
func (h *History) Restore(slot int) {
	if !h.Holds(slot) {
		misuse.Panicf("ecs: restore of slot %d of %d, which holds no save, or one that a transfer made void: ask Holds", slot, len(h.slots))
	}
	w := h.w
	if w.locks > 0 {
		misuse.Panicf("ecs: restore of a locked world: restore between systems")
	}
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
	tables := h.tables()
	for i := range s.tables {
		st, t := &s.tables[i], tables[i]
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

// restoreIDs restores the list of rows. Tables created since the save are
// emptied.
func (h *History) restoreIDs(s *slot) {
	for i, t := range h.tables() {
		restoreList(s, i, t)
	}
}

// restoreList restores the rows of table i, and returns false if nothing changed since the save.
func restoreList(s *slot, i int, t *table) bool {
	var none savedTable
	st := &none
	if i < len(s.tables) {
		st = &s.tables[i]
	}
	if st.version == t.version {
		return false
	}
	for _, d := range t.arch.rigid {
		if t.n > st.n {
			d.ops.clear(t.valueAt(d, st.n), int(t.n-st.n))
		}
	}
	copy(t.ids, s.ids(st))
	t.n, t.version = st.n, st.version
	return true
}

func (h *History) restoreRecords(s *slot) {
	w := h.w
	w.version++
	w.claimed = max(w.claimed, len(s.homes))
	for i := range w.pages[:w.claimed] {
		pg, from := &w.pages[i], s.page(0, i)
		if from.version != pg.version {
			pg.setRecords(w, uint32(i), s.runElements(&from.records, int(from.top)), from.version)
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
	if h.exact && s.claims != w.claims {
		s.restoreHomes(w)
	}
}

// saveHomes saves which part each page belongs to. Pages that the slot has of an older save, and that no part has
// now, become pristine.
func (s *slot) saveHomes(w *World) {
	for i := w.claimed; i < len(s.pages[0]); i++ {
		s.pages[0][i] = savedPage{records: s.pages[0][i].records}
	}
	if s.claims == w.claims {
		return
	}
	s.claims, s.homes = w.claims, s.homes[:0]
	for i := range w.pages[:w.claimed] {
		pg := &w.pages[i]
		s.homes = append(s.homes, pageHome{pg.home, pg.pos, pg.rng})
	}
}

// restoreHomes gives each page back to the part that it belonged to.
func (s *slot) restoreHomes(w *World) {
	for _, p := range w.parts {
		p.cut = w.version
		for r := range ranges {
			p.alloc[r].pages = p.alloc[r].pages[:0]
		}
	}
	for i := range w.pages[:w.claimed] {
		pg, was := &w.pages[i], pageHome{home: homeless}
		if i < len(s.homes) {
			was = s.homes[i]
		}
		pg.home, pg.pos, pg.rng = was.home, was.pos, was.rng
		if pg.home >= 0 { // pages of a part have the same order in its list as among all
			a := &w.parts[pg.home].alloc[pg.rng]
			a.pages = append(a.pages, uint32(i))
		}
	}
	w.claims, w.claimed, w.firstFree = s.claims, len(s.homes), [ranges]uint32{}
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

// restorePart restores one part's structure. Records in its own pages are
// copied as bytes; records of entities from other pages follow their rows.
func (h *History) restorePart(s *slot) {
	w, p := h.w, h.part
	w.version++
	for i, t := range h.tables() {
		if i < len(s.tables) && s.tables[i].version == t.version {
			continue
		}
		w.count -= int(t.n)
		for _, e := range t.ids[:t.n] {
			pg := &w.pages[e.index()>>pageBits]
			if pg.home != p.index {
				w.rec[e.index()] = makeRecord(e, 0, uint32(p.index)+1)
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
	for i, t := range h.tables() {
		h.restoreRows(s, i, t)
	}
	w.changed = w.version
}

func (h *History) restoreRows(s *slot, i int, t *table) {
	w := h.w
	if !restoreList(s, i, t) {
		return
	}
	w.count += int(t.n)
	for row, e := range t.ids[:t.n] {
		want := makeRecord(e, t.id, uint32(row))
		if rec := &w.rec[e.index()]; *rec != want {
			*rec = want
			w.pages[e.index()>>pageBits].version = w.version
		}
	}
}

// setRecords sets the records of page n to those of a save, and all others of the page to pristine ones.
func (pg *page) setRecords(w *World, n uint32, from []uint64, version uint64) {
	top := copy(w.rec[n*pageLen:(n+1)*pageLen], from)
	if int(pg.top) > top {
		pristine(w.rec[int(n)*pageLen+top:int(n)*pageLen+int(pg.top)], n*pageLen+uint32(top))
	}
	pg.top, pg.version = uint8(top), version
	if pg.home == shared {
		pg.top = pageLen
	}
}

// RestoreComponent brings back one component of a slot, for the entities that have it both
// now and there. It panics with [UsageError] when the slot holds no save; see
// [History.Holds].
func (h *History) RestoreComponent(slot int, id ID) {
	if !h.Holds(slot) {
		misuse.Panicf("ecs: restore of a component from slot %d of %d, which holds no save: ask Holds", slot, len(h.slots))
	}
	d := h.w.typeOf(id)
	if d.size == 0 {
		return
	}
	s := &h.slots[slot]
	for _, t := range h.canonical() {
		if t.n == 0 || t.cols[d.slot] == nil {
			continue
		}
		st := h.saved(s, t)
		for i, e := range t.ids[:t.n] {
			var was unsafe.Pointer
			if st != nil && i < int(st.n) && s.ids(st)[i] == e {
				was = h.rowValue(s, st, t, d, i)
			} else {
				was = h.heldValue(s, e, d)
			}
			if was == nil {
				continue
			}
			if at := t.valueAt(d, int32(i)); d.plain {
				copy(unsafe.Slice((*byte)(at), d.size), unsafe.Slice((*byte)(was), d.size))
			} else {
				d.ops.deep(at, was, 1)
			}
		}
	}
}

// heldValue finds an entity's value in a slot, also of a component with pointers; nil where
// there is none.
func (h *History) heldValue(s *slot, e Entity, d *typeData) unsafe.Pointer {
	for _, t := range h.canonical() {
		st := h.saved(s, t)
		if st == nil || t.cols[d.slot] == nil {
			continue
		}
		for row, was := range s.ids(st) {
			if was == e {
				return h.rowValue(s, st, t, d, row)
			}
		}
	}
	return nil
}

// rowValue returns the saved value of a row.
func (h *History) rowValue(s *slot, st *savedTable, t *table, d *typeData, row int) unsafe.Pointer {
	if d.plain {
		return unsafe.Add(s.column(st, t, d), uintptr(row)*d.size)
	}
	i := slices.Index(t.arch.rigid, d)
	return unsafe.Add(s.rigids[t.nth(h)][i].base, uintptr(row)*d.size)
}
