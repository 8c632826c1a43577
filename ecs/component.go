package ecs

import (
	"reflect"
	"unsafe"
)

// Component is the handle of a component type. Its zero value is unregistered;
// it lives in the game's own struct, is registered there once, and works by
// pointer or as a copy made afterwards. Nothing is global: the same Go type
// has another handle in every game struct.
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
// when the rows lack the component; see [Rows.Has] for optional ones.
func (c *Component[T]) Slice(r Rows) []T {
	if debug {
		r.t.world.check(c.slot)
	}
	p := r.t.cols[c.slot]
	if p == nil {
		panic(AccessError{&r.t.world.cols[c.slot], None})
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
		w.check(c.slot)
	}
	cols := &w.cols[c.slot]
	if i := e & indexMask; i < Entity(len(w.rec)) {
		rec := w.rec[i] ^ uint64(e)>>32<<genShift // below 1<<genShift when the generations agree
		if t := rec >> tableShift; t < uint64(len(cols.base)) && cols.base[t] != nil {
			return (*T)(unsafe.Add(cols.base[t], uintptr(rec&rowMask)*unsafe.Sizeof(*new(T))))
		}
	}
	panic(AccessError{cols, e})
}

// Find is Get that answers nil when the entity is gone or lacks the component.
func (c *Component[T]) Find(w *World, e Entity) *T {
	if debug {
		w.check(c.slot)
	}
	cols := &w.cols[c.slot]
	if i := e & indexMask; i < Entity(len(w.rec)) {
		rec := w.rec[i] ^ uint64(e)>>32<<genShift
		if t := rec >> tableShift; t < uint64(len(cols.base)) && cols.base[t] != nil {
			return (*T)(unsafe.Add(cols.base[t], uintptr(rec&rowMask)*unsafe.Sizeof(*new(T))))
		}
	}
	return nil
}

// Add gives the entity the component, or sets it where present. While the
// world is locked the structural part is deferred: an entity that lacks the
// component has it after the flush. A stale entity is left alone.
func (c *Component[T]) Add(w *World, e Entity, v T) {
	if c.slot == 0 {
		panic(UsageError{errUnregistered})
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
// system, to the end of the body, but for entities spawned meanwhile).
func (c *Component[T]) View(w *World) View[T] {
	if c.slot == 0 {
		panic(UsageError{errUnregistered})
	}
	if debug {
		w.check(c.slot)
	}
	return View[T]{recs: w.rec, cols: &w.cols[c.slot]}
}

// View is random access to one component of one world. It is four words,
// passed by value; see [Component.View].
type View[T any] struct {
	recs []uint64
	cols *columns
}

// Get is the entity's value; it panics as [Component.Get] does.
func (v View[T]) Get(e Entity) *T {
	if i := e & indexMask; i < Entity(len(v.recs)) {
		rec := v.recs[i] ^ uint64(e)>>32<<genShift
		if t := rec >> tableShift; t < uint64(len(v.cols.base)) && v.cols.base[t] != nil {
			return (*T)(unsafe.Add(v.cols.base[t], uintptr(rec&rowMask)*unsafe.Sizeof(*new(T))))
		}
	}
	panic(AccessError{v.cols, e})
}

// Find is the entity's value, or nil when it is gone or lacks the component.
func (v View[T]) Find(e Entity) *T {
	if i := e & indexMask; i < Entity(len(v.recs)) {
		rec := v.recs[i] ^ uint64(e)>>32<<genShift
		if t := rec >> tableShift; t < uint64(len(v.cols.base)) && v.cols.base[t] != nil {
			return (*T)(unsafe.Add(v.cols.base[t], uintptr(rec&rowMask)*unsafe.Sizeof(*new(T))))
		}
	}
	return nil
}

// columns is one component's columns in all tables of a world.
type columns struct {
	base []unsafe.Pointer // by table; nil where absent
	w    *World
	slot uint16
}
