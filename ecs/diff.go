package ecs

import (
	"bytes"
	"unsafe"

	"github.com/foretick/foretick/internal/misuse"
)

// diffBlock is how many bytes are compared at once before looking closer.
const diffBlock = 512

// Diff compares a component's current values with those of a slot. It calls
// found for each entity whose value differs, or that lacks the component in the
// save; then was is nil. Otherwise was points at the value in the slot,
// readable until the next save there. Rows come in canonical order. Values are
// compared by their bytes without padding: −0 differs from 0, and a NaN equals
// itself. Diff skips components with pointers, and entities that have lost the
// component; see [Watch].
//
// Unmoved rows cost only a memory comparison; moved rows are looked up. Diff
// panics with [UsageError] when the slot holds no save.
func (h *History) Diff(slot int, id ID, found func(r Rows, i int, was unsafe.Pointer)) {
	if !h.Holds(slot) {
		misuse.Panicf("ecs: diff with slot %d of %d, which holds no save: ask Holds", slot, len(h.slots))
	}
	d := h.w.typeOf(id)
	if !d.plain {
		return
	}
	s := &h.slots[slot]
	for _, t := range h.canonical() {
		if t.n > 0 && t.cols[d.slot] != nil {
			h.diffTable(s, t, d, found)
		}
	}
}

func (h *History) canonical() []*table {
	if h.part != nil {
		return h.part.tables
	}
	return h.w.ordered
}

// saved returns the save of a table in a slot, or nil.
func (h *History) saved(s *slot, t *table) *savedTable {
	if i := int(t.nth(h)); i < len(s.tables) {
		return &s.tables[i]
	}
	return nil
}

// nth returns the table's index in the history.
func (t *table) nth(h *History) int32 {
	if h.part != nil {
		return t.inPart
	}
	return t.inWorld
}

// column returns a table's saved values of a component.
func (s *slot) column(st *savedTable, t *table, d *typeData) unsafe.Pointer {
	if st == nil || st.n == 0 || d.size == 0 {
		return unsafe.Pointer(&zeroSized)
	}
	at := st.at
	for _, c := range t.arch.types {
		if c == d {
			break
		}
		if c.plain {
			at += align64(uintptr(st.n) * c.size)
		}
	}
	return unsafe.Pointer(&s.arena[at])
}

func (h *History) diffTable(s *slot, t *table, d *typeData, found func(Rows, int, unsafe.Pointer)) {
	st := h.saved(s, t)
	rows := Rows{t, 0, t.n}
	if st != nil && st.version == t.version {
		d.diffRows(rows, t.cols[d.slot], s.column(st, t, d), found)
		return
	}
	var was unsafe.Pointer
	for i, e := range t.ids[:t.n] {
		if st != nil && i < int(st.n) && s.ids(st)[i] == e {
			was = unsafe.Add(s.column(st, t, d), uintptr(i)*d.size)
		} else {
			was = h.savedValue(s, e, d)
		}
		if was == nil || !d.equal(was, t.valueAt(d, int32(i))) {
			found(rows, i, was)
		}
	}
}

// diffRows compares columns of unmoved rows: block by block, then value by
// value where a block differs.
func (d *typeData) diffRows(r Rows, now, was unsafe.Pointer, found func(Rows, int, unsafe.Pointer)) {
	if d.size == 0 {
		return
	}
	step := max(1, diffBlock/int(d.size))
	n := int(r.n)
	for lo := 0; lo < n; lo += step {
		hi := min(n, lo+step)
		at, size := uintptr(lo)*d.size, uintptr(hi-lo)*d.size
		if bytes.Equal(unsafe.Slice((*byte)(unsafe.Add(now, at)), size), unsafe.Slice((*byte)(unsafe.Add(was, at)), size)) {
			continue
		}
		for i := lo; i < hi; i++ {
			at := uintptr(i) * d.size
			if !d.equal(unsafe.Add(now, at), unsafe.Add(was, at)) {
				found(r, i, unsafe.Add(was, at))
			}
		}
	}
}

// equal compares two values, without padding.
func (d *typeData) equal(a, b unsafe.Pointer) bool {
	if d.solid {
		switch d.size {
		case 4:
			return *(*uint32)(a) == *(*uint32)(b)
		case 8:
			return *(*uint64)(a) == *(*uint64)(b)
		case 16:
			return *(*[2]uint64)(a) == *(*[2]uint64)(b)
		}
	}
	for _, s := range d.spans {
		n := s.to - s.from
		if !bytes.Equal(unsafe.Slice((*byte)(unsafe.Add(a, s.from)), n), unsafe.Slice((*byte)(unsafe.Add(b, s.from)), n)) {
			return false
		}
	}
	return true
}

// savedValue finds an entity's value in a slot by its saved record, or returns
// nil. The slot of a part holds records of its own pages only; entities from
// other pages are searched for.
func (h *History) savedValue(s *slot, e Entity, d *typeData) unsafe.Pointer {
	if h.part == nil {
		sp, nth := s.page(0, int(e.index()>>pageBits)), e.index()&(pageLen-1)
		if nth >= uint32(sp.top) {
			return nil
		}
		at := s.words[sp.records.at+nth] ^ uint64(e)
		if at >= 1<<genShift || tableOf(at) == 0 {
			return nil
		}
		t := h.w.tables[tableOf(at)]
		if t.cols[d.slot] == nil {
			return nil
		}
		return unsafe.Add(s.column(h.saved(s, t), t, d), uintptr(rowOf(at))*d.size)
	}
	for _, t := range h.part.tables {
		st := h.saved(s, t)
		if st == nil || t.cols[d.slot] == nil {
			continue
		}
		for row, was := range s.ids(st) {
			if was == e {
				return unsafe.Add(s.column(st, t, d), uintptr(row)*d.size)
			}
		}
	}
	return nil
}
