package ecs

import (
	"encoding/binary"
	"slices"
)

// takeWorld replaces everything in the world by what r has read.
func (w *World) takeWorld(r *worldReader) {
	w.empty()
	parts := make([]*part, len(r.parts))
	for i, from := range r.parts {
		parts[i] = w.partOf(from.owner)
		parts[i].of = from.of
	}
	slices.SortStableFunc(w.ordered, compareTables) // of may have changed
	w.takePages(r, parts)
	w.takeAllocators(r, parts)
	onFull := w.onFull
	w.onFull = nil // there is room: the number of tables was checked
	if w.inUse()+len(r.tables) >= tableMask {
		w.recycle()
	}
	for i := range r.tables {
		w.takeTable(r, &r.tables[i], parts[r.tables[i].part])
	}
	w.onFull = onFull
	for i := range r.singles {
		if own := r.singles[i].own; own != nil {
			r.takeValues(&r.singles[i], r.singleData[i], w.singles[own.d.id], 1)
		}
	}
	for i := range r.members {
		w.takeMembers(&r.members[i], parts[r.members[i].part])
	}
	w.tags = r.tags
	w.kids.stale = w.kids.used
}

// empty removes everything, as if the world were new, and releases its saves. Tables keep their memory, and
// singletons their place.
func (w *World) empty() {
	for _, h := range slices.Clone(w.whole) {
		h.Release()
	}
	w.version++
	for _, p := range w.parts {
		for _, h := range slices.Clone(p.histories) {
			h.Release()
		}
		p.of, p.changed, p.cut = p.owner, w.version, w.version
		for r := range ranges {
			p.alloc[r] = allocator{pages: p.alloc[r].pages[:0]}
			p.reserved[r] = p.reserved[r][:0]
		}
		for _, t := range p.made {
			for _, d := range t.arch.rigid {
				d.ops.clear(t.cols[d.slot], int(t.n))
			}
			t.n, t.version = 0, w.version
		}
	}
	for i := range w.claimed {
		w.pages[i] = page{home: homeless}
	}
	pristine(w.rec[:w.claimed*pageLen], 0)
	w.firstFree, w.claimed, w.reserves = [ranges]uint32{}, 0, [ranges]reserved{}
	w.strays, w.count, w.emptied = w.strays[:0], 0, true
	w.kids.reset()
	w.kids.used, w.kids.stale = false, false
	clear(w.singleBlock)
	for i, d := range w.types.singles {
		if !d.plain {
			d.ops.clear(w.singles[i], 1)
		}
	}
	for i := range w.watches {
		for k := range w.watches[i].seen {
			m := &w.watches[i].seen[k]
			*m = members{list: m.list[:0]}
		}
	}
	w.changed, w.layout = w.version, w.version
}

// takePages sets the pages, and the records without entities.
func (w *World) takePages(r *worldReader, parts []*part) {
	w.claimed, w.claims = len(r.pageAt), w.version
	w.reserve(w.claimed)
	for i := range r.pages {
		from := &r.pages[i]
		pg := &w.pages[from.n]
		*pg = page{version: w.version, away: from.away, home: shared, rng: from.rng, top: pageLen}
		if from.home != shared {
			p := parts[from.home]
			pg.home, pg.pos, pg.top = p.index, int32(from.pos), from.top
			p.alloc[from.rng].pages = append(p.alloc[from.rng].pages, from.n)
		}
		for k := range uint32(from.top) {
			rec, slot := &r.records[from.from+int(k)], from.n<<pageBits|k
			if rec.gen == 0 {
				continue
			}
			last := uint32(0)
			if rec.link > 0 {
				last = uint32(parts[rec.link-1].index) + 1
			}
			w.rec[slot] = makeRecord(makeEntity(from.rng, slot, rec.gen), 0, last)
		}
	}
}

// takeAllocators links the free slots, and sets which slots are reserved or wait for their part.
func (w *World) takeAllocators(r *worldReader, parts []*part) {
	slots := r.slots
	for i, p := range parts {
		from := &r.parts[i]
		for rng := range ranges {
			a, free := &p.alloc[rng], slots[:from.free[rng]]
			slots = slots[len(free):]
			a.used = from.used[rng]
			for _, slot := range slices.Backward(free) {
				rec, _ := r.record(slot)
				w.rec[slot] = makeRecord(makeEntity(rng, slot, rec.gen), 0, a.free)
				a.free = slot + 1
			}
			p.reserved[rng] = append(p.reserved[rng], from.reserved[rng]...)
		}
	}
	w.strays = append(w.strays, r.strays...)
	w.reserves = r.reserves
}

// takeTable adds the rows of a table.
func (w *World) takeTable(r *worldReader, from *readTable, p *part) {
	t := w.tableFor(p, w.archetypeOf(from.mask))
	lo, n := t.n, int32(len(from.ids))
	if lo+n > t.cap {
		t.growRows(lo + n)
	}
	t.n, t.version = lo+n, w.version
	copy(t.ids[lo:], from.ids)
	for i, e := range from.ids {
		w.rec[e.index()] = makeRecord(e, t.id, uint32(lo)+uint32(i))
	}
	w.count += int(n)
	for i, of := range from.types {
		if of.own != nil {
			r.takeValues(of, from.columns[i], t.valueAt(of.own.d, lo), int(n))
		}
	}
	w.kids.used = w.kids.used || t.arch.linked
}

// takeMembers sets the entities of a part that a watch has reported.
func (w *World) takeMembers(from *readMembers, p *part) {
	s := &w.watches[from.watch]
	for len(s.seen) <= int(p.index) {
		s.seen = append(s.seen, members{})
	}
	m := &s.seen[p.index]
	w.version++
	m.version = w.version
	if from.now {
		q := w.types.watches[from.watch].query
		for _, t := range p.tables {
			if t.n > 0 && q.matches(t.arch.mask) {
				m.list = append(m.list, t.ids[:t.n]...)
			}
		}
		return
	}
	for i := 0; i < len(from.list); i += 8 {
		m.list = append(m.list, Entity(binary.LittleEndian.Uint64(from.list[i:])))
	}
}
