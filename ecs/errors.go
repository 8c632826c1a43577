package ecs

import (
	"errors"
	"fmt"
)

// Errors that calls of this package wrap.
var (
	// ErrFrozen: types, prefabs and singletons are registered before the first
	// world is made.
	ErrFrozen = errors.New("ecs: types are frozen by the first NewWorld")
	// ErrStale: the handle's entity is gone, or never was in this world.
	ErrStale = errors.New("ecs: stale entity")
	// ErrOccupied: the handle's index holds a living entity.
	ErrOccupied = errors.New("ecs: index is occupied")
	// ErrCycle: an entity would become its own ancestor.
	ErrCycle = errors.New("ecs: parent is a descendant")
)

// AccessError is the value that the hot accessors panic with: the component is
// missing from the rows or the entity, or the entity is gone. It is typed and
// says no more than what is at hand, so that the accessors stay small enough to
// inline.
type AccessError struct {
	cols   *columns
	entity Entity
}

// Component is the name of the component that was asked for; "" when its
// handle is not registered.
func (a AccessError) Component() string {
	if a.cols.slot == 0 {
		return ""
	}
	return a.cols.w.types.slots[a.cols.slot].name
}

// Entity is whose component was asked for; None when it was that of rows.
func (a AccessError) Entity() Entity { return a.entity }

// Unwrap answers [ErrStale] when the entity is gone.
func (a AccessError) Unwrap() error {
	if a.entity != None && !a.cols.w.Alive(a.entity) {
		return ErrStale
	}
	return nil
}

// Error says what was asked of whom, and what to do about it.
func (a AccessError) Error() string {
	name := a.Component()
	switch {
	case name == "":
		return "ecs: " + errUnregistered
	case a.entity == None:
		return fmt.Sprintf("ecs: no %s here: name it in the system's Read, Write or With; for an Optional one (or, on a client, one that is for others alone) ask Rows.Has, for an entity that may be None use Find", name)
	case !a.cols.w.Alive(a.entity):
		return fmt.Sprintf("ecs: Get %s of %v: the entity is gone: use Find where it may be", name, a.entity)
	}
	return fmt.Sprintf("ecs: Get %s of %v: the entity has none: use Find where it may lack it", name, a.entity)
}

const errUnregistered = "access through a component that is not registered: declare it first (Types.Register, or what calls that for you)"

// UsageError is the value of a panic about a call that cannot be right: an
// unregistered prefab, a save while locked, a slot out of range.
type UsageError struct{ Text string }

// Error is the text, which names the fix.
func (u UsageError) Error() string { return "ecs: " + u.Text }

func misuse(format string, args ...any) { panic(UsageError{fmt.Sprintf(format, args...)}) }
