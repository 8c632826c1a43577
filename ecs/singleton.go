package ecs

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"
)

// Singleton is the handle of a value that each world has exactly once: the
// score, the wind, the state of a match. It is part of saves, restores and
// hashes of the whole world. Like a [Component] it lives in the game's own
// struct.
type Singleton[T any] struct {
	types *Types
	slot  uint16 // slot is 1 + the singleton's number.
}

// ID returns the singleton's number in order of registration; components are
// numbered separately.
func (s *Singleton[T]) ID() ID {
	if s.slot == 0 {
		return 0
	}
	return ID(s.slot - 1)
}

// Type returns T.
func (s *Singleton[T]) Type() reflect.Type { return reflect.TypeFor[T]() }

// Registered reports whether the handle was passed to
// [Types.RegisterSingleton].
func (s *Singleton[T]) Registered() bool { return s.slot != 0 }

func (s *Singleton[T]) bindTo(t *Types, d *typeData) { s.types, s.slot = t, d.slot }
func (s *Singleton[T]) ops() typeOps                 { return opsOf[T]() }
func (s *Singleton[T]) owner() *Types                { return s.types }
func (s *Singleton[T]) single() bool                 { return true }

// Get returns the world's value, zero at first. It may be read and written in
// place for the lifetime of the world. Get panics with [UsageError] when the
// singleton is not registered.
func (s *Singleton[T]) Get(w *World) *T {
	if debug {
		w.checkSingle(s.slot)
	}
	if s.slot == 0 {
		panic(UsageError{Text: errUnregistered})
	}
	return (*T)(w.singles[s.slot-1])
}

// RegisterSingleton registers a singleton; the rules are those of
// [Types.Register].
func (t *Types) RegisterSingleton(h Handle, opts ...TypeOption) error {
	if absent(h) {
		return errors.New("ecs: RegisterSingleton is given a nil handle: pass the address of a Singleton, as in &g.Score")
	}
	if !h.single() {
		return fmt.Errorf("ecs: register singleton %v: a component is registered with Register", h.Type())
	}
	if len(t.singles) == maxSingletons {
		return fmt.Errorf("ecs: register singleton %v: it is one too many: there can be %d; merge small ones", h.Type(), maxSingletons)
	}
	d, err := t.describe(h, opts, t.singles)
	if err != nil {
		return err
	}
	d.id, d.slot = ID(len(t.singles)), uint16(len(t.singles)+1)
	t.singles = append(t.singles, d)
	h.bindTo(t, d)
	return nil
}

// newSingles places plain singletons in one block, which one copy saves, and
// the others separately.
func (w *World) newSingles() {
	var size uintptr
	for _, d := range w.types.singles {
		if d.plain {
			size += align64(d.size)
		}
	}
	w.singleBlock = allocBytes(size)
	w.singles = make([]unsafe.Pointer, len(w.types.singles))
	var at uintptr
	for i, d := range w.types.singles {
		if !d.plain {
			w.singles[i] = d.ops.alloc(1)
			continue
		}
		w.singles[i] = unsafe.Pointer(&zeroSized)
		if d.size > 0 {
			w.singles[i] = unsafe.Pointer(&w.singleBlock[at])
		}
		at += align64(d.size)
	}
}

// SingletonPointer returns the memory of a world's value, by the singleton's number in
// [Types.Singletons]. It is valid for the lifetime of the world. It is for tools and
// libraries that know types at run time only.
func (c *Control) SingletonPointer(id ID) unsafe.Pointer { return c.singles[id] }

// RowOf returns an unregistered handle of a component with a singleton's type: a library
// registers it to keep copies of the singleton in rows. It returns nil for a component.
func RowOf(h Handle) Handle {
	if absent(h) || !h.single() {
		return nil
	}
	return &rowHandle{of: h}
}

// rowHandle is a component handle for the type of a singleton.
type rowHandle struct {
	of    Handle
	types *Types
	slot  uint16
}

func (r *rowHandle) ID() ID {
	if r.slot == 0 {
		return 0
	}
	return ID(r.slot - 1)
}

func (r *rowHandle) Type() reflect.Type           { return r.of.Type() }
func (r *rowHandle) Registered() bool             { return r.slot != 0 }
func (r *rowHandle) bindTo(t *Types, d *typeData) { r.types, r.slot = t, d.slot }
func (r *rowHandle) ops() typeOps                 { return r.of.ops() }
func (r *rowHandle) owner() *Types                { return r.types }
func (r *rowHandle) single() bool                 { return false }
