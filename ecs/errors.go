package ecs

import (
	"errors"
	"fmt"

	"github.com/foretick/foretick/internal/misuse"
)

// Errors wrapped by the calls of this package.
var (
	// ErrFrozen: types, prefabs and singletons must be registered before the
	// first world exists.
	ErrFrozen = errors.New("ecs: types are frozen by the first NewWorld")
	// ErrStale: the handle's entity is gone, or never was in this world.
	ErrStale = errors.New("ecs: stale entity")
	// ErrOccupied: the handle's index holds a living entity.
	ErrOccupied = errors.New("ecs: index is occupied")
	// ErrCycle: an entity would become its own ancestor.
	ErrCycle = errors.New("ecs: parent is a descendant")
	// ErrTooMany: the bytes of a world have room for more entities than may be read.
	ErrTooMany = errors.New("ecs: the world has room for too many entities")
)

// AccessError is the panic value of the fast accessors: the rows or the entity
// lack the component, or the entity is gone. It is typed and stores only
// available values, so that the accessors stay small enough to inline.
type AccessError struct {
	cols   *columns
	entity Entity
}

// Component returns the name of the requested component; "" when its handle is
// not registered.
func (a AccessError) Component() string {
	if a.cols.slot == 0 {
		return ""
	}
	return a.cols.w.types.slots[a.cols.slot].name
}

// Entity returns the entity of the access; None when the access was to rows.
func (a AccessError) Entity() Entity { return a.entity }

// Unwrap returns a [UsageError] of the same text, which unwraps to [ErrStale]
// when the entity is gone.
func (a AccessError) Unwrap() error {
	usage := UsageError{Text: a.Error()}
	if a.entity != None && !a.cols.w.Alive(a.entity) {
		usage.Err = ErrStale
	}
	return usage
}

// Error describes the failed access and its fix.
func (a AccessError) Error() string {
	name := a.Component()
	switch {
	case name == "":
		return errUnregistered
	case a.entity == None:
		return fmt.Sprintf("ecs: no %s here: name it in the system's Read, Write or With; for an Optional one (or, on a client, one that is for others alone) ask Rows.Has, for an entity that may be None use Find", name)
	case !a.cols.w.Alive(a.entity):
		return fmt.Sprintf("ecs: Get %s of %v: the entity is gone: use Find where it may be", name, a.entity)
	}
	return fmt.Sprintf("ecs: Get %s of %v: the entity has none: use Find where it may lack it", name, a.entity)
}

const errUnregistered = "ecs: access through a component that is not registered: " + declareIt

const declareIt = "declare it first, with Protocol.Component, or with Protocol.Command if it is the players' input (without a Protocol: Types.Register)"

// ofAnother is the error text for a handle that is registered with other Types already: a game called its
// Protocol twice.
const ofAnother = "registered with other Types, of another Protocol or world: make a new game value for each, as in new(Game).Protocol()"

// UsageError is the panic value for a call that cannot be right: an
// unregistered prefab, a save of a locked world, a slot out of range. Its text
// says what to change. The other packages of this module panic with it too.
type UsageError = misuse.Error
