package ecs

import (
	"fmt"
	"strconv"
)

// Tick counts steps of the simulation. It wraps.
type Tick = uint32

// Entity is a handle to an entity of one world. The low 32 bits are a slot of
// the world, bits 38 and 39 the [Range], and the high 24 bits a generation. The
// generation starts at 1 and increases each time the slot is reused, so an old
// handle is recognised as stale. Zero is [None].
//
// A handle means nothing outside its world: send a network or wire id, never an
// Entity.
type Entity uint64

// None is the handle of no entity.
const None Entity = 0

const (
	rangeShift = 38
	genShift   = 40
	genMask    = 1<<24 - 1
	indexShift = 30 // place of the range in Index
)

// MakeEntity returns the handle with this index and generation (24 bits; higher
// bits are dropped). A world knows the handle only if it created the entity
// itself, or with [Control.Place].
func MakeEntity(index, generation uint32) Entity {
	return makeEntity(Range(index>>indexShift), index&(1<<indexShift-1), generation&genMask)
}

// Index returns the slot, with the range in the top two of its 32 bits.
func (e Entity) Index() uint32 { return e.index()&(1<<indexShift-1) | uint32(e.Range())<<indexShift }

// Generation returns how often the index has been taken, from 1; 0 only for
// None.
func (e Entity) Generation() uint32 { return uint32(e >> genShift) }

// Range returns the id range of the handle.
func (e Entity) Range() Range { return Range(e>>rangeShift) & 3 }

// String returns index, range and generation, such as "12.3" for a server
// entity, "p12.3" for a predicted one and "l12.3" for a local one.
func (e Entity) String() string {
	if e == None {
		return "none"
	}
	return e.Range().prefix() + strconv.Itoa(int(e.index())) + "." + strconv.Itoa(int(e.Generation()))
}

func (e Entity) index() uint32 { return uint32(e) }

func makeEntity(r Range, slot, gen uint32) Entity {
	return Entity(gen)<<genShift | Entity(r)<<rangeShift | Entity(slot)
}

// Range separates handles by who creates them. Each range has its own counters
// and free lists, so a predicted or local spawn never shifts the server's
// handles.
type Range uint8

// The ranges.
const (
	RangeServer    Range = iota // created by the authoritative simulation
	RangePredicted              // created ahead of the server by prediction
	RangeLocal                  // presentation only, never replicated
	ranges                      // the number of ranges
)

// String returns the range's name.
func (r Range) String() string {
	switch r {
	case RangeServer:
		return "server"
	case RangePredicted:
		return "predicted"
	case RangeLocal:
		return "local"
	}
	return fmt.Sprintf("range(%d)", uint8(r))
}

func (r Range) prefix() string {
	switch r {
	case RangeServer:
		return ""
	case RangePredicted:
		return "p"
	case RangeLocal:
		return "l"
	}
	return "?"
}

// Owner is the player that an entity belongs to. 1 to 0xFFFD are players, with
// numbers that the game chooses. The rows of one owner are contiguous in every
// table, so they can be run, saved and restored alone.
type Owner uint16

const (
	// Nobody owns the entities that only the server simulates.
	Nobody Owner = 0
	// Common is the part of a client's world for predicted entities without an
	// owner; they are predicted together. On the server their owner is Nobody.
	Common Owner = 0xFFFF
	// ClientOnly is the part for entities that only the client simulates. No
	// rollback touches it.
	ClientOnly Owner = 0xFFFE
)

// ID numbers a component type in order of registration, from 0.
type ID uint8
