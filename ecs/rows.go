package ecs

import (
	"unsafe"

	"github.com/foretick/foretick/internal/misuse"
)

// Rows is a contiguous run of rows of one table: entities of one component set
// and one owner. It is three words, passed by value. It is valid until the next
// structural change; inside a system's body, until the body returns. The zero
// value has no rows.
type Rows struct {
	t     *table
	lo, n int32
}

// Len returns the number of rows.
func (r Rows) Len() int { return int(r.n) }

// Entity returns the handle of row i, from 0. It panics when there is no row i.
func (r Rows) Entity(i int) Entity { return r.Entities()[i] }

// Entities returns the handles, one per row; nil for zero Rows. The slice is valid
// for as long as the Rows are. Do not write to it.
func (r Rows) Entities() []Entity {
	if r.t == nil {
		return nil
	}
	return r.t.ids[r.lo : r.lo+r.n : r.lo+r.n]
}

// Owner returns the owner of every row; [Nobody] for zero Rows.
func (r Rows) Owner() Owner {
	if r.t == nil {
		return Nobody
	}
	return r.t.part.of
}

// Slice returns the rows [lo, hi), for example the share of one worker. It
// panics with [UsageError] when the range is out of bounds.
func (r Rows) Slice(lo, hi int) Rows {
	if lo < 0 || hi < lo || hi > int(r.n) {
		misuse.Panicf("ecs: Rows.Slice(%d, %d) of %d rows", lo, hi, r.n)
	}
	return Rows{r.t, r.lo + int32(lo), int32(hi - lo)}
}

// Column returns a pointer to the first row's value of a component; nil when
// the rows lack it. The stride is Info(id).Size.
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

// Has reports whether the rows have the component, for example an [Optional]
// one.
func (r Rows) Has(id ID) bool { return r.t != nil && r.t.arch.mask.Has(id) }

// Mask returns the rows' component set. It has a bit above every registered
// type when the entities have a parent.
func (r Rows) Mask() Mask {
	if r.t == nil {
		return Mask{}
	}
	return r.t.arch.mask
}
