package ecs

import "slices"

// Tables without rows are recycled in a world without histories, which is a server's. A
// history knows tables by their place, so a world that has one keeps all of them.

// fewTables is how many tables a world makes at least before it recycles any.
const fewTables = 4096

// tableID returns an id for a new table, of one that was recycled if there is any.
func (w *World) tableID() uint16 {
	full := len(w.spare) == 0 && len(w.tables) > tableMask
	if w.fresh++; !w.saved && (full || w.fresh > max(fewTables, w.inUse()/8)) {
		w.recycle()
	}
	if n := len(w.spare); n > 0 {
		id := w.spare[n-1]
		w.spare = w.spare[:n-1]
		return id
	}
	if len(w.tables) > tableMask {
		misuse("more than %d tables: fewer owners or fewer component sets", tableMask)
	}
	w.tables = append(w.tables, w.tables[0])
	w.growColumns()
	return uint16(len(w.tables) - 1)
}

// nobodysTables is how many of the tables are kept for entities without an owner, where
// the world has an OnFull.
const nobodysTables = 2048

// room reports whether a part may have one more table.
func (w *World) room(p *part) bool {
	if w.onFull == nil || p.owner == Nobody || p.owner == Common || w.inUse() < tableMask-nobodysTables {
		return true
	}
	if w.emptied && !w.saved {
		w.recycle()
	}
	return w.inUse() < tableMask-nobodysTables
}

// displace records that an entity of part p found no table there, but in Nobody's part.
func (w *World) displace(e Entity, p, nobodys *part) {
	w.moved(e, p, nobodys)
	w.onFull(e, p.of)
}

// inUse counts the tables, those without rows included.
func (w *World) inUse() int { return len(w.tables) - 1 - len(w.spare) }

// recycle gives up all tables without rows. It makes new lists of tables, as a caller
// may be in the middle of an old one.
func (w *World) recycle() {
	w.fresh, w.emptied = 0, false
	w.version++
	for _, t := range w.tables {
		if t.staging && t.n == 0 {
			w.giveUp(t)
		}
	}
	before := len(w.spare)
	parts := map[*part]bool{}
	for _, t := range w.made {
		if t.stage != nil && t.stage.gone {
			t.stage = nil
		}
		if t.n == 0 && t.stage == nil {
			w.giveUp(t)
			parts[t.part] = true
		}
	}
	if len(w.spare) == before {
		return
	}
	w.made, w.ordered = remaining(w.made), remaining(w.ordered)
	for i, t := range w.made {
		t.inWorld = int32(i)
	}
	for p := range parts {
		p.forget(w.version)
	}
	w.layout, w.changed = w.version, w.version
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

// forget drops the part's tables that are gone.
func (p *part) forget(version uint64) {
	p.made, p.tables, p.caches = remaining(p.made), remaining(p.tables), nil
	for i, t := range p.made {
		t.inPart = int32(i)
	}
	for _, list := range [][]*table{p.byArch, p.byPrefab} {
		for i, t := range list {
			if t != nil && t.gone {
				list[i] = nil
			}
		}
	}
	p.changed = version
}

func remaining(tables []*table) []*table {
	return slices.DeleteFunc(slices.Clone(tables), func(t *table) bool { return t.gone })
}
