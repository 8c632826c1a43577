package ecs

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"
)

// Singleton is the handle of a value that a world has exactly one of: the
// score, the wind, the state of a match. It is part of save, restore and hash
// of the whole world. Like a [Component] it lives in the game's own struct.
type Singleton[T any] struct {
	types *Types
	slot  uint16 // 1 + its number
}

// ID is the singleton's number in order of registration, apart from the
// components'.
func (s *Singleton[T]) ID() ID {
	if s.slot == 0 {
		return 0
	}
	return ID(s.slot - 1)
}

// Type is T.
func (s *Singleton[T]) Type() reflect.Type { return reflect.TypeFor[T]() }

// Registered tells whether the handle was given to [Types.RegisterSingleton].
func (s *Singleton[T]) Registered() bool { return s.slot != 0 }

func (s *Singleton[T]) bind(t *Types, d *typeData) { s.types, s.slot = t, d.slot }
func (s *Singleton[T]) ops() typeOps               { return opsOf[T]() }
func (s *Singleton[T]) owner() *Types              { return s.types }
func (s *Singleton[T]) single() bool               { return true }

// Get is the world's value, zero at first, to be read and written in place, as
// long as the world is used. It panics with [UsageError] when the singleton is not
// registered.
func (s *Singleton[T]) Get(w *World) *T {
	if debug {
		w.checkSingle(s.slot)
	}
	if s.slot == 0 {
		panic(UsageError{errUnregistered})
	}
	return (*T)(w.singles[s.slot-1])
}

// RegisterSingleton adds a singleton; the rules are those of [Types.Register].
func (t *Types) RegisterSingleton(h Handle, opts ...TypeOption) error {
	if absent(h) {
		return errors.New("ecs: RegisterSingleton is given a nil handle: pass the address of a Singleton, as in &g.Score")
	}
	if !h.single() {
		return fmt.Errorf("ecs: register singleton %v: a component is registered with Register", h.Type())
	}
	if len(t.singles) == 256 {
		return fmt.Errorf("ecs: register singleton %v: 256 singletons are the most", h.Type())
	}
	d, err := t.describe(h, opts, t.singles)
	if err != nil {
		return err
	}
	d.id, d.slot = ID(len(t.singles)), uint16(len(t.singles)+1)
	t.singles = append(t.singles, d)
	h.bind(t, d)
	return nil
}

// newSingles lays plain singletons out in one block, saved by one copy, and
// the others by themselves.
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
