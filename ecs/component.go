package ecs

import (
	"reflect"
	"unsafe"
)

// Component is the handle of a component type. Its zero value is unregistered;
// it lives in the game's own struct, is registered there once, and works by
// pointer or as a copy made afterwards. Nothing is global: the same Go type
// has another handle in every game struct. Once registered it does not change, and
// serves any number of goroutines with a world each.
type Component[T any] struct {
	types *Types
	slot  uint16
}

// ID is the type's number in order of registration; 0 while unregistered.
func (c *Component[T]) ID() ID {
	if c.slot == 0 {
		return 0
	}
	return ID(c.slot - 1)
}

// Type is T.
func (c *Component[T]) Type() reflect.Type { return reflect.TypeFor[T]() }

// Registered tells whether the handle was given to [Types.Register].
func (c *Component[T]) Registered() bool { return c.slot != 0 }

func (c *Component[T]) bind(t *Types, d *typeData) { c.types, c.slot = t, d.slot }
func (c *Component[T]) ops() typeOps               { return opsOf[T]() }
func (c *Component[T]) owner() *Types              { return c.types }
func (c *Component[T]) single() bool               { return false }

// Slice is the component's values of the rows, one an entity, to be read and
// written in place while the system's body runs. It panics with [AccessError]
// when the rows lack the component; see [Rows.Has] for optional ones. Zero Rows,
// as a [Once] system gets, are of no world, and panic as a nil pointer does.
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

// Has tells whether the entity lives and has the component.
func (c *Component[T]) Has(w *World, e Entity) bool { return c.Find(w, e) != nil }

// Get is the entity's value, to be read and written until the next structural
// change. It panics with [AccessError] when the entity is gone or lacks the
// component: where that may be, use [Component.Find].
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

// Find is Get that answers nil when the entity is gone or lacks the component.
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
	}
	return nil
}

// Add gives the entity the component, or sets it where present. While the
// world is locked the structural part is deferred: an entity that lacks the
// component has it after the flush. A stale entity is left alone. It panics with
// [UsageError] when the component is not registered.
func (c *Component[T]) Add(w *World, e Entity, v T) {
	if c.slot == 0 {
		panic(UsageError{errUnregistered})
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

// Remove takes the component from the entity; deferred while the world is
// locked. A stale entity, or one without it, is left alone.
func (c *Component[T]) Remove(w *World, e Entity) {
	if c.slot == 0 {
		panic(UsageError{errUnregistered})
	}
	w.removeSlot(e, int(c.slot))
}

// View prepares fast random access, for loops that look other entities up. Make
// it where the loop begins: it is valid until the next structural change (in a
// system, to the end of the body, but for entities spawned meanwhile). It panics
// with [UsageError] when the component is not registered.
func (c *Component[T]) View(w *World) View[T] {
	if c.slot == 0 {
		panic(UsageError{errUnregistered})
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
	recs unsafe.Pointer // the n records
	n    uint64
	base unsafe.Pointer // columns by table: of all that the records name
}

// Get is the entity's value; it panics as [Component.Get] does.
func (v View[T]) Get(e Entity) *T {
	if i := uint64(uint32(e)); i < v.n {
		at := *(*uint64)(unsafe.Add(v.recs, i*8)) ^ uint64(e)
		if col := columnOf(v.base, at); at < col.end {
			return (*T)(unsafe.Add(col.p, uintptr(at>>rowShift)*unsafe.Sizeof(*new(T))))
		}
	}
	panic(AccessError{(*columns)(*(*unsafe.Pointer)(v.base)), e})
}

// Find is the entity's value, or nil when it is gone or lacks the component.
func (v View[T]) Find(e Entity) *T {
	if i := uint64(uint32(e)); i < v.n {
		at := *(*uint64)(unsafe.Add(v.recs, i*8)) ^ uint64(e)
		if col := columnOf(v.base, at); at < col.end {
			return (*T)(unsafe.Add(col.p, uintptr(at>>rowShift)*unsafe.Sizeof(*new(T))))
		}
	}
	return nil
}

// slotsMost is above the number of slots, and a power of two: an index masked by it
// needs no check.
const slotsMost = 512

// columns is one component's columns in all tables of a world.
type columns struct {
	base []column // by table; that of table 0 points here, and has no rows
	w    *World
	slot uint16
}

// column is where a table keeps the values, and the first place behind them:
// one comparison finds a stale handle (its generation is above every place), a
// table without the component (0), and a row that cannot be.
type column struct {
	p   unsafe.Pointer
	end uint64 // rows there is room for << rowShift
}

// columnOf is the column of the table that a place names, or the XOR of a
// record with whatever handle of its slot. Records name tables of this world,
// and each has its entry from base on: there is nothing to bound.
func columnOf(base unsafe.Pointer, at uint64) *column {
	return (*column)(unsafe.Add(base, uintptr(uint16(at))*unsafe.Sizeof(column{})))
}
