package rewind

import (
	"math/bits"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// Tick is the number of a simulation step.
type Tick = uint32

// Game describes a game for rewinding. It must not change once it is in use.
type Game struct {
	TickRate   int
	Components []Component   // by registry index, at most 64
	Hitboxes   []Declaration // in the order in which their hitboxes are given
	Lives      []Life
	Tracked    uint64 // a bit for each component that View.Component returns
	Prefabs    []Prefab
	Shapes     []lagcomp.Shape
	Curved     bool // some component is interpolated over three snapshots
	Ahead      bool // clients show some entities of others where they will be

	// NewBuilder makes the Builder for one Hitboxes.
	NewBuilder func() Builder
}

// Component is a replicated component.
type Component struct {
	Type      reflect.Type
	Schema    *schema.Schema
	Predicted bool
	Lerped    bool // interpolated where it is predicted
}

// Declaration names the components that hitboxes are built from.
type Declaration struct {
	Components []int // registry indices, in the order in which a Builder is given them
	Mask       uint64
}

// Life counts the lives of an entity by one of its components.
type Life struct {
	Component int
	Of        func(at unsafe.Pointer) uint32
}

// Prefab sets where clients draw its entities. With neither field set they are drawn in the
// past.
type Prefab struct {
	Common          bool // shown ahead where nobody owns it
	RemotePredicted bool // shown ahead where another player owns it
}

// Builder runs the game's functions that build hitboxes.
type Builder interface {
	// Build appends the hitboxes of one declaration to out. at holds its components.
	Build(declaration int, at []unsafe.Pointer, out []lagcomp.Hitbox) []lagcomp.Hitbox
}

// Entity describes a replicated entity of the server's world.
type Entity struct {
	Net    snapshot.NetID
	Owner  uint32 // 0: nobody
	Prefab uint16
}

// World gives access to the server's entities as they are now.
type World interface {
	// Entity returns a replicated entity that is alive; false for any other.
	Entity(id lagcomp.ID) (Entity, bool)
	// Lives returns the game's count of an entity's lives, by Game.Lives; false if it is not
	// alive.
	Lives(id lagcomp.ID) (uint32, bool)
}

// Screen is one player's client.
type Screen interface {
	// Shown returns the client's id of a network id, and the tick since which it is sent
	// the entity. ok is false if it is not sent the entity, or is not connected.
	Shown(net snapshot.NetID) (id schema.WireID, since Tick, ok bool)
	// Hidden reports whether the game hides an entity from the player.
	Hidden(id lagcomp.ID) bool
	// Every returns the number of ticks between two snapshots of the client.
	Every() uint32
}

// needs returns the components to read of an entity with those of mask: for its hitboxes,
// its lives, and View.Component.
func (g *Game) needs(mask uint64) (need uint64) {
	for i := range g.Hitboxes {
		if d := &g.Hitboxes[i]; mask&d.Mask == d.Mask {
			need |= d.Mask
		}
	}
	need |= mask & g.Tracked
	if need != 0 {
		for _, l := range g.Lives {
			need |= mask & (1 << l.Component)
		}
	}
	return need
}

// before returns the number of an entity's stored words before those of one component.
func (g *Game) before(mask uint64, comp int) (words int) {
	for need := g.needs(mask) & (1<<comp - 1); need != 0; need &= need - 1 {
		words += g.Components[bits.TrailingZeros64(need)].Schema.Words()
	}
	return words
}

// noRefs replaces references, which rewinding never follows.
type noRefs struct{}

func (noRefs) Net(uint64) uint32    { return 0 }
func (noRefs) Entity(uint32) uint64 { return 0 }
