package ecs

import (
	"slices"
	"unsafe"
)

// slot is one save.
type slot struct {
	saved   bool
	cut     uint64
	changed uint64 // changed identifies the structure that is saved.
	count   int
	tables  []savedTable // tables has the saves of the tables, in the order of History.tables.
	// rigids has, by table, the columns with pointers in the order of arch.rigid. It may be empty.
	rigids [][]savedColumn
	arena  []byte // arena has the columns, one after another.
	// pages has the saved pages by range. A save of the whole world has them all in the first list.
	pages   [ranges][]savedPage
	words   []uint64 // words is the memory of the runs.
	parts   []savedPart
	strays  []uint32
	claims  uint64     // claims identifies homes.
	homes   []pageHome // homes has the home of each page. Only exact histories have it.
	singles []byte
	rigid   []unsafe.Pointer // rigid has the singletons with pointers.
	watches []savedWatch
}

type savedTable struct {
	version uint64
	at      uintptr
	ids     run
	n       int32
}

// run is a range of handles or records in a slot. Runs are close together in memory, because memory that is
// powers of two apart would share cache sets.
type run struct{ at, cap uint32 }

// runRoom makes a run long enough for n and returns the first n. When the run
// moves, its old content is lost.
func (s *slot) runRoom(r *run, n int) []uint64 {
	if n > int(r.cap) {
		c := max((n+7)&^7, int(r.cap)*3/2)
		r.at, r.cap = uint32(len(s.words)), uint32(c)
		s.words = slices.Grow(s.words, c)[:len(s.words)+c]
	}
	return s.runElements(r, n)
}

// runElements returns the first n elements of a run.
func (s *slot) runElements(r *run, n int) []uint64 { return s.words[r.at:][:n] }

// ids returns the handles that a slot holds for a table.
func (s *slot) ids(st *savedTable) []Entity {
	return unsafe.Slice((*Entity)(unsafe.Pointer(unsafe.SliceData(s.runElements(&st.ids, int(st.n))))), st.n)
}

// compact drops the saves of tables that are gone. Their rows leave gaps in the words, so it closes the gaps
// once they are more than half of the words.
func (h *History) compact() {
	for i := range h.slots {
		s := &h.slots[i]
		tables := h.tables()[:len(s.tables)]
		s.tables, s.rigids = compacted(s.tables, tables), compacted(s.rigids, tables)
		s.packWords()
	}
}

// compacted removes the elements of tables that are gone from a list in the order of tables.
func compacted[T any](list []T, tables []*table) []T {
	n := 0
	for i := range list {
		if !tables[i].gone {
			list[n] = list[i]
			n++
		}
	}
	clear(list[n:])
	return list[:n]
}

// packWords closes the gaps between runs if less than half of the words belong to a run.
func (s *slot) packWords() {
	used := 0
	s.eachRun(func(r *run) { used += int(r.cap) })
	if 2*used >= len(s.words) {
		return
	}
	words := make([]uint64, used)
	at := 0
	s.eachRun(func(r *run) {
		copy(words[at:], s.words[r.at:][:r.cap])
		r.at = uint32(at)
		at += int(r.cap)
	})
	s.words = words
}

func (s *slot) eachRun(visit func(r *run)) {
	for i := range s.tables {
		visit(&s.tables[i].ids)
	}
	for r := range s.pages {
		for i := range s.pages[r] {
			visit(&s.pages[r][i].records)
		}
	}
}

type savedColumn struct {
	base unsafe.Pointer
	cap  int32
}

type savedPage struct {
	version uint64
	away    uint64
	records run
	top     uint8 // top is the number of records that are saved.
}

// pageHome is where a page belonged.
type pageHome struct {
	home, pos int32
	rng       Range
}

type savedPart struct {
	counters [ranges]counters
	changed  uint64
	cut      uint64
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

// savedParts makes room for n parts.
func (s *slot) savedParts(n int) []savedPart {
	s.parts = slices.Grow(s.parts[:0], n)[:n]
	return s.parts
}

// savePage copies page n of the world to index i of a list, when it differs.
func (s *slot) savePage(w *World, r Range, i int, n uint32) {
	if i == len(s.pages[r]) {
		s.pages[r] = append(s.pages[r], savedPage{})
	}
	pg, to := &w.pages[n], &s.pages[r][i]
	if to.version != pg.version {
		copy(s.runRoom(&to.records, int(pg.top)), w.rec[n*pageLen:])
		to.version, to.away, to.top = pg.version, pg.away, pg.top
	}
}

// page returns the save of page i of a list; an empty one when the page is
// newer.
func (s *slot) page(r Range, i int) *savedPage {
	if i < len(s.pages[r]) {
		return &s.pages[r][i]
	}
	return &pristinePage
}

var pristinePage savedPage // must not be written

// restorePage copies a page of a part back, except the records of entities that
// live elsewhere now.
func (s *slot) restorePage(w *World, sp *savedPage, n uint32) {
	pg := &w.pages[n]
	if sp.version == pg.version {
		return
	}
	from := s.runElements(&sp.records, int(sp.top))
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
	pg.setRecords(w, n, from, sp.version)
}
