package ecs

import (
	"slices"

	"github.com/foretick/foretick/internal/misuse"
)

// Tables without rows are recycled in bulk, except those of which a save has rows. Every history identifies a
// table by its index in the order of creation, so all indexes change at once.

// fewTables is how many tables a world makes before it recycles any. A world with saves copies the rows of each
// table into each save, so there the number is fewSaved.
const (
	fewTables = 4096
	fewSaved  = 64
)

// recycling has what a world needs to recycle tables without rows, and the histories that may need them.
type recycling struct {
	spare   []uint16 // spare has the ids of recycled tables.
	fresh   int      // fresh counts the tables made since tables were last recycled.
	emptied bool     // emptied is true if a table lost its last row since tables were last recycled.
	left    int      // left is the number of tables in use after tables were last recycled.

	whole     []*History // whole has the histories of the whole world that have saves.
	histories int        // histories counts the histories that have saves, those of parts included.
	saves     int        // saves counts the saves since recycleIdle last looked at the tables.
}

// tableID returns an id for a new table, and reuses that of a recycled table if there is one.
func (w *World) tableID() uint16 {
	full := len(w.spare) == 0 && len(w.tables) > tableMask
	if w.fresh++; full || w.fresh > w.mayMake() {
		w.recycle()
	}
	if n := len(w.spare); n > 0 {
		id := w.spare[n-1]
		w.spare = w.spare[:n-1]
		return id
	}
	if len(w.tables) > tableMask {
		misuse.Panicf("ecs: more than %d tables: fewer owners or fewer component sets", tableMask)
	}
	w.tables = append(w.tables, w.tables[0])
	w.growColumns()
	return uint16(len(w.tables) - 1)
}

// mayMake returns how many tables may be made before tables are recycled. With saves, there are never more than
// twice as many tables as recycling last left, or fewSaved more.
func (w *World) mayMake() int {
	if w.histories > 0 {
		return max(fewSaved, w.left)
	}
	return max(fewTables, w.inUse()/8)
}

// recycleIdle recycles if most tables have no rows. After many entities are destroyed, a long time may pass
// before a new table is made. It checks once per round of saves: once for each slot of each history. slots is
// the number of slots of one history.
func (w *World) recycleIdle(slots int) {
	if w.saves++; w.saves < w.histories*slots {
		return
	}
	w.saves = 0
	idle := 0
	for _, t := range w.made {
		if t.n == 0 {
			idle++
		}
	}
	if idle > max(fewSaved, len(w.made)/2) {
		w.recycle()
	}
}

// knowHistory and forgetHistory keep the lists of histories that have saves.
func (w *World) knowHistory(h *History) {
	if !h.known {
		list := w.historiesOf(h.part)
		*list, h.known = append(*list, h), true
		w.histories++
	}
}

func (w *World) forgetHistory(h *History) {
	if h.known {
		list := w.historiesOf(h.part)
		*list, h.known = slices.DeleteFunc(*list, func(o *History) bool { return o == h }), false
		w.histories--
	}
}

// historiesOf returns the list of histories of a part; nil: of the whole world.
func (w *World) historiesOf(p *part) *[]*History {
	if p == nil {
		return &w.whole
	}
	return &p.histories
}

// nobodysTables is how many of the tables are kept for entities without an owner, where
// the world has an OnFull.
const nobodysTables = 2048

// tableRoom reports whether a part may have one more table.
func (w *World) tableRoom(p *part) bool {
	if w.onFull == nil || p.owner == Nobody || p.owner == Common || w.inUse() < tableMask-nobodysTables {
		return true
	}
	if w.emptied {
		w.recycle()
	}
	return w.inUse() < tableMask-nobodysTables
}

// strand records that an entity of part p was put into Nobody's part, because p had no room for a table.
func (w *World) strand(e Entity, p, nobodys *part) {
	w.moved(e, p, nobodys)
	w.onFull(e, p.of)
}

// inUse counts the tables, those without rows included.
func (w *World) inUse() int { return len(w.tables) - 1 - len(w.spare) }

// recycle gives up all tables without rows that no save needs. It makes new lists of tables, because a caller
// may be iterating over an old one. No entity moves, and the order of queries does not change, so
// [Control.Structure] does not change either.
func (w *World) recycle() {
	w.fresh, w.emptied = 0, false
	for _, t := range w.tables {
		if t.staging && t.n == 0 {
			w.giveUp(t)
		}
	}
	before := len(w.spare)
	var parts map[*part]bool
	for _, t := range w.made {
		if t.stage != nil && t.stage.gone {
			t.stage = nil
		}
		if t.n == 0 && t.stage == nil && !needed(w.whole, t) && !needed(t.part.histories, t) {
			w.giveUp(t)
			t.part.byArch[t.arch.index] = nil
			if parts == nil {
				parts = map[*part]bool{}
			}
			parts[t.part] = true
		}
	}
	w.left = w.inUse()
	if len(w.spare) == before {
		return
	}
	for _, h := range w.whole {
		h.compact()
	}
	for p := range parts {
		for _, h := range p.histories {
			h.compact()
		}
	}
	w.made, w.ordered = remaining(w.made), remaining(w.ordered)
	for i, t := range w.made {
		t.inWorld = int32(i)
	}
	for p := range parts {
		p.forgetTables()
	}
	w.version++
	w.layout = w.version
}

// needed reports whether a save has rows of the table.
func needed(histories []*History, t *table) bool {
	for _, h := range histories {
		for i := range h.slots {
			if st := h.saved(&h.slots[i], t); st != nil && st.n > 0 {
				return true
			}
		}
	}
	return false
}

// giveUp frees a table's id.
func (w *World) giveUp(t *table) {
	for _, c := range w.cols {
		c.base[t.id] = column{}
	}
	t.gone = true
	w.tables[t.id] = w.tables[0]
	w.spare = append(w.spare, t.id)
}

// forgetTables drops the part's tables that are gone.
func (p *part) forgetTables() {
	p.made, p.tables, p.caches = remaining(p.made), remaining(p.tables), nil
	for i, t := range p.made {
		t.inPart = int32(i)
	}
	for i, t := range p.byPrefab {
		if t != nil && t.gone {
			p.byPrefab[i] = nil
		}
	}
}

func remaining(tables []*table) []*table {
	return slices.DeleteFunc(slices.Clone(tables), func(t *table) bool { return t.gone })
}
