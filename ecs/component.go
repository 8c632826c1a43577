package ecs

import (
	"reflect"
	"unsafe"
)

// Component is the handle of a component type. Its zero value is unregistered. Keep it in the game's own struct
// and register it once, with [Types.Register] or by foretick's Protocol.Component. Then use it by pointer, or
// as a copy made after registration. There are no globals: the same Go type has another handle in each game
// struct. After registration it is immutable, so any number of goroutines may use it, each with its own world.
type Component[T any] struct {
	types *Types
	slot  uint16
}

// ID returns the type's number in order of registration; 0 while unregistered.
func (c *Component[T]) ID() ID {
	if c.slot == 0 {
		return 0
	}
	return ID(c.slot - 1)
}

// Type returns T.
func (c *Component[T]) Type() reflect.Type { return reflect.TypeFor[T]() }

// Registered reports whether the handle was passed to [Types.Register].
func (c *Component[T]) Registered() bool { return c.slot != 0 }

func (c *Component[T]) bindTo(t *Types, d *typeData) { c.types, c.slot = t, d.slot }
func (c *Component[T]) ops() typeOps                 { return opsOf[T]() }
func (c *Component[T]) owner() *Types                { return c.types }
func (c *Component[T]) single() bool                 { return false }

// Slice returns the component's values for the rows, one per entity. They may
// be read and written in place while the system's body runs. It panics with
// [AccessError] when the rows lack the component; see [Rows.Has] for optional
// ones. The zero Rows of a [Once] system belong to no world: with them it
// panics with a nil pointer.
func (c *Component[T]) Slice(r Rows) []T {
	if debug {
		r.t.world.checkTable(c.slot, r.t)
	}
	p := r.t.cols[c.slot]
	if p == nil {
		panic(AccessError{r.t.world.cols[c.slot], None})
	}
	return unsafe.Slice((*T)(unsafe.Add(p, uintptr(r.lo)*unsafe.Sizeof(*new(T)))), r.n)
}

// Has reports whether the entity is alive and has the component.
func (c *Component[T]) Has(w *World, e Entity) bool {
	if debug {
		w.checkEntity(c.slot, e)
	}
	cols := w.at[c.slot&(slotsMost-1)]
	if i := uint64(uint32(e)); i < uint64(len(w.rec)) {
		at := w.rec[i] ^ uint64(e)
		if at < columnOf(unsafe.Pointer(unsafe.SliceData(cols.base)), at).end {
			return true
		}
		if uint16(at) < w.blind {
			w.peeked = true
		}
	}
	return false
}

// Get returns the entity's value, which may be read and written until the next
// structural change. It panics with [AccessError] when the entity is gone or
// lacks the component: use [Component.Find] where that may happen.
func (c *Component[T]) Get(w *World, e Entity) *T {
	if debug {
		w.checkEntity(c.slot, e)
	}
	cols := w.at[c.slot&(slotsMost-1)]
	if i := uint64(uint32(e)); i < uint64(len(w.rec)) {
		at := w.rec[i] ^ uint64(e)
		if col := columnOf(unsafe.Pointer(unsafe.SliceData(cols.base)), at); at < col.end {
			return (*T)(unsafe.Add(col.p, uintptr(at>>rowShift)*unsafe.Sizeof(*new(T))))
		}
	}
	panic(AccessError{cols, e})
}

// Find is Get that returns nil when the entity is gone or lacks the component.
func (c *Component[T]) Find(w *World, e Entity) *T {
	if debug {
		w.checkEntity(c.slot, e)
	}
	cols := w.at[c.slot&(slotsMost-1)]
	if i := uint64(uint32(e)); i < uint64(len(w.rec)) {
		at := w.rec[i] ^ uint64(e)
		if col := columnOf(unsafe.Pointer(unsafe.SliceData(cols.base)), at); at < col.end {
			return (*T)(unsafe.Add(col.p, uintptr(at>>rowShift)*unsafe.Sizeof(*new(T))))
		}
		if uint16(at) < w.blind {
			w.peeked = true
		}
	}
	return nil
}

// Add adds the component to the entity, or sets it if present. While the world
// is locked the structural part is deferred: an entity that lacks the component
// has it after the flush. A stale entity is ignored. Add panics with
// [UsageError] when the component is not registered.
func (c *Component[T]) Add(w *World, e Entity, v T) {
	if c.slot == 0 {
		panic(UsageError{Text: errUnregistered})
	}
	if debug {
		w.checkAdd(c.slot, e)
	}
	if p := c.Find(w, e); p != nil && !w.pending(e) {
		*p = v
		return
	}
	p := w.values[c.slot].spare(w.types.slots[c.slot]) // not &v, which would move v to the heap
	*(*T)(p) = v
	w.addSlot(e, int(c.slot), p)
}

// Remove removes the component from the entity; it is deferred while the world
// is locked. A stale entity, or one without the component, is ignored.
func (c *Component[T]) Remove(w *World, e Entity) {
	if c.slot == 0 {
		panic(UsageError{Text: errUnregistered})
	}
	w.removeSlot(e, int(c.slot))
}

// View returns fast random access to the component, for loops that look up
// other entities. Call it right before the loop. The view is valid until the
// next structural change; in a system, until the body returns, though it misses
// entities spawned in between. View panics with [UsageError] when the component
// is not registered.
func (c *Component[T]) View(w *World) View[T] {
	if c.slot == 0 {
		panic(UsageError{Text: errUnregistered})
	}
	if debug {
		w.checkAll(c.slot)
	}
	cols := w.at[c.slot&(slotsMost-1)]
	return View[T]{
		recs: unsafe.Pointer(unsafe.SliceData(w.rec)), n: uint64(len(w.rec)),
		base: unsafe.Pointer(unsafe.SliceData(cols.base)),
	}
}

// View is random access to one component of one world. It is three words,
// passed by value; see [Component.View].
type View[T any] struct {
	recs unsafe.Pointer // recs points to the n records.
	n    uint64
	base unsafe.Pointer // base points to the columns by table, for all tables that the records name.
}

// Get returns the entity's value; it panics as [Component.Get] does.
func (v View[T]) Get(e Entity) *T {
	if i := uint64(uint32(e)); i < v.n {
		at := *(*uint64)(unsafe.Add(v.recs, i*8)) ^ uint64(e)
		if col := columnOf(v.base, at); at < col.end {
			return (*T)(unsafe.Add(col.p, uintptr(at>>rowShift)*unsafe.Sizeof(*new(T))))
		}
	}
	panic(AccessError{(*columns)(*(*unsafe.Pointer)(v.base)), e})
}

// Find returns the entity's value, or nil when the entity is gone or lacks the
// component.
func (v View[T]) Find(e Entity) *T {
	if i := uint64(uint32(e)); i < v.n {
		at := *(*uint64)(unsafe.Add(v.recs, i*8)) ^ uint64(e)
		if col := columnOf(v.base, at); at < col.end {
			return (*T)(unsafe.Add(col.p, uintptr(at>>rowShift)*unsafe.Sizeof(*new(T))))
		}
		if w := (*columns)(*(*unsafe.Pointer)(v.base)).w; uint16(at) < w.blind {
			w.peeked = true
		}
	}
	return nil
}

// slotsMost is above the number of slots, and a power of two: an index masked
// with it needs no bounds check.
const slotsMost = 512

// columns holds one component's columns in all tables of a world.
type columns struct {
	// base has the columns by table. The entry of table 0 points to this struct and has no rows.
	base []column
	w    *World
	slot uint16
}

// column is the memory of a table's values, and the first place past them. So
// one comparison finds a stale handle (its generation exceeds every place), a
// table without the component (0), and an impossible row.
type column struct {
	p   unsafe.Pointer
	end uint64 // end is the row capacity << rowShift.
}

// columnOf returns the column of the table in a place, or in the XOR of a
// record with any handle of its slot. Records name tables of this world, and
// each table has an entry after base, so no bounds check is needed.
func columnOf(base unsafe.Pointer, at uint64) *column {
	return (*column)(unsafe.Add(base, uintptr(uint16(at))*unsafe.Sizeof(column{})))
}
