package ecs

import (
	"fmt"
	"reflect"
)

// Recycle gives up the tables that nothing needs, which a world does by itself in bulk.
func (w *World) Recycle() { w.recycle() }

// Tables returns the number of tables.
func (w *World) Tables() int { return w.inUse() }

// Words returns how many handles and records the saves have room for.
func (h *History) Words() (n int) {
	for i := range h.slots {
		n += len(h.slots[i].words)
	}
	return n
}

// Differs returns the first thing in which two worlds differ and which may show later, "" if there is none.
func (w *World) Differs(o *World) string {
	if a, b := w.allocations(), o.allocations(); a != b {
		return "handles: " + a + "\nand " + b
	}
	if a, b := w.rows(), o.rows(); a != b {
		return "rows: " + a + "\nand " + b
	}
	return ""
}

// allocations describes all pages, records without entities, and allocators.
func (w *World) allocations() string {
	s := ""
	owner := func(i int32) any {
		if i < 0 {
			return i
		}
		return w.parts[i].owner
	}
	for n := range w.claimed {
		pg := &w.pages[n]
		if pg.home == homeless {
			continue
		}
		s += fmt.Sprintf("\npage %d of %v, %v, place %d, top %d, away %x:", n, owner(pg.home), pg.rng, pg.pos, pg.top, pg.away)
		for k := range uint32(pg.top) {
			slot := uint32(n)*pageLen + k
			if e, place := held(w.rec[slot], pg.rng, slot); tableOf(place) == 0 {
				link := uint32(rowOf(place))
				if link > 0 && (pg.home == shared || pg.away>>k&1 != 0) {
					s += fmt.Sprint(" ", e.Generation(), ",", owner(int32(link)-1))
				} else {
					s += fmt.Sprint(" ", e.Generation(), ",", link)
				}
			}
		}
	}
	for _, p := range w.sorted {
		for r := range ranges {
			if a := &p.alloc[r]; len(a.pages) > 0 || len(p.reserved[r]) > 0 {
				s += fmt.Sprint("\nallocator ", p.owner, r, a.pages, a.counters, p.reserved[r])
			}
		}
	}
	return s + fmt.Sprint("\n", w.strays, w.reserves, w.count, w.tags)
}

// rows describes the tables with rows, in canonical order, with parents and values.
func (w *World) rows() string {
	s := ""
	for _, t := range w.ordered {
		if t.n == 0 {
			continue
		}
		s += fmt.Sprint("\n", t.arch.mask, t.part.owner, t.part.of, t.ids[:t.n])
		for _, d := range t.arch.types {
			s += fmt.Sprint("\n", d.name, reflect.NewAt(reflect.ArrayOf(int(t.n), d.rtype), t.cols[d.slot]).Elem())
		}
	}
	for i, d := range w.types.singles {
		s += fmt.Sprint("\n", d.name, reflect.NewAt(d.rtype, w.singles[i]).Elem())
	}
	for i := range w.watches {
		for _, p := range w.sorted {
			if seen := w.watches[i].seen; int(p.index) < len(seen) && len(seen[p.index].list) > 0 {
				s += fmt.Sprint("\nwatch ", i, p.owner, seen[p.index].list)
			}
		}
	}
	return s
}

// Broken returns what is wrong with a world that was read, or "".
func (w *World) Broken() string {
	n := 0
	for _, t := range w.made {
		for row, e := range t.ids[:t.n] {
			if n++; w.placeOf(e) != uint64(row)<<rowShift|uint64(t.id) {
				return fmt.Sprint(e, " is not where its record says")
			}
		}
	}
	if n != w.count {
		return fmt.Sprint(n, " rows of ", w.count, " entities")
	}
	for _, p := range w.parts {
		for r := range ranges {
			steps := 0
			for at := p.alloc[r].free; at != 0; steps++ {
				if steps > len(w.rec) {
					return "a free list goes round"
				}
				e, place := held(w.rec[at-1], r, at-1)
				if w.Alive(e) {
					return fmt.Sprint(e, " is alive and free")
				}
				at = uint32(rowOf(place))
			}
		}
	}
	return ""
}

// Claimed returns the number of pages that parts have claimed.
func (w *World) Claimed() (n int) {
	for _, p := range w.parts {
		for r := range ranges {
			n += len(p.alloc[r].pages)
		}
	}
	return n
}
