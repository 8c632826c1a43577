package ecs

import "unsafe"

// Rows is a run of rows of one table: entities of one component set and one
// owner, next to one another. It is three words, passed by value, and valid
// until the next structural change (inside a system's body: to its end). The
// zero value has no rows.
type Rows struct {
	t     *table
	lo, n int32
}

// Len is how many rows there are.
func (r Rows) Len() int { return int(r.n) }

// Entity is the handle of row i, from 0; it panics for a row that is not there.
func (r Rows) Entity(i int) Entity { return r.Entities()[i] }

// Entities is the handles, one a row; nil for zero Rows. Not to be written.
func (r Rows) Entities() []Entity {
	if r.t == nil {
		return nil
	}
	return r.t.ids[r.lo : r.lo+r.n : r.lo+r.n]
}

// Owner is the owner of every row; [Nobody] for zero Rows.
func (r Rows) Owner() Owner {
	if r.t == nil {
		return Nobody
	}
	return r.t.part.of
}

// Slice is the rows [lo, hi), such as one of many workers takes. It panics with
// [UsageError] when they are not all there.
func (r Rows) Slice(lo, hi int) Rows {
	if lo < 0 || hi < lo || hi > int(r.n) {
		misuse("Rows.Slice(%d, %d) of %d rows", lo, hi, r.n)
	}
	return Rows{r.t, r.lo + int32(lo), int32(hi - lo)}
}

// Column points at the first row's value of a component; nil when the rows
// lack it. The stride is Info(id).Size.
func (r Rows) Column(id ID) unsafe.Pointer {
	if r.t == nil || int(id) >= r.t.world.types.Len() {
		return nil
	}
	slot := int(id) + 1
	if debug {
		r.t.world.checkTable(uint16(slot), r.t)
	}
	p := r.t.cols[slot]
	if p == nil {
		return nil
	}
	return unsafe.Add(p, uintptr(r.lo)*r.t.world.types.slots[slot].size)
}

// Has tells whether the rows have the component, as an [Optional] one may.
func (r Rows) Has(id ID) bool { return r.t != nil && r.t.arch.mask.Has(id) }

// Mask is the rows' component set. It has a bit above every registered type
// when the entities have a parent.
func (r Rows) Mask() Mask {
	if r.t == nil {
		return Mask{}
	}
	return r.t.arch.mask
}
