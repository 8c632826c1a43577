package rewind

import (
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
	Components []Component   // Components are by registry index.
	Hitboxes   []Declaration // Hitboxes are in the order in which their hitboxes are given.
	Lives      []Life
	Tracked    schema.MaskBuilder // Tracked has the components that View.Component returns.
	Prefabs    []Prefab
	Shapes     []lagcomp.Shape
	Curved     bool // Curved is true if some component is interpolated over three snapshots.
	Ahead      bool // Ahead is true if clients show some entities of others where they will be.

	// NewBuilder makes the Builder for one Hitboxes.
	NewBuilder func() Builder
}

// Component is a replicated component.
type Component struct {
	Type      reflect.Type
	Schema    *schema.Schema
	Predicted bool
	Lerped    bool // Lerped is true if the component is interpolated where it is predicted.
}

// Declaration names the components that hitboxes are built from.
type Declaration struct {
	Components []int // Components are registry indices, in the order in which a Builder is given them.
}

// fits reports whether an entity with the components of mask has all that it needs.
func (d *Declaration) fits(mask schema.Mask) bool {
	for _, c := range d.Components {
		if !mask.Has(c) {
			return false
		}
	}
	return true
}

// Life counts the lives of an entity by one of its components.
type Life struct {
	Component int
	Of        func(at unsafe.Pointer) uint32
}

// Prefab sets where clients draw its entities. With neither field set they are drawn in the
// past.
type Prefab struct {
	Common bool // Common is true if the entity is shown ahead when nobody owns it.
	// RemotePredicted is true if the entity is shown ahead when another player owns it.
	RemotePredicted bool
}

// Builder runs the game's functions that build hitboxes.
type Builder interface {
	// Build appends the hitboxes of one declaration to out. at holds its components.
	Build(declaration int, at []unsafe.Pointer, out []lagcomp.Hitbox) []lagcomp.Hitbox
}

// Entity describes a replicated entity of the server's world.
type Entity struct {
	Net    snapshot.NetID
	Owner  uint32 // Owner is 0 if nobody owns the entity.
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
func (g *Game) needs(mask schema.Mask) (need schema.MaskBuilder) {
	for i := range g.Hitboxes {
		if d := &g.Hitboxes[i]; d.fits(mask) {
			for _, c := range d.Components {
				need.Set(c)
			}
		}
	}
	for k, w := range g.Tracked {
		need[k] |= w & mask.Part(k)
	}
	if need != (schema.MaskBuilder{}) {
		for _, l := range g.Lives {
			if mask.Has(l.Component) {
				need.Set(l.Component)
			}
		}
	}
	return need
}

// before returns the number of an entity's stored words before those of one component.
func (g *Game) before(mask schema.Mask, comp int) (words int) {
	need := g.needs(mask)
	for c := range comp {
		if need.Has(c) {
			words += g.Components[c].Schema.Words()
		}
	}
	return words
}

// noRefs replaces references, which rewinding never follows.
type noRefs struct{}

func (noRefs) Net(uint64) uint32    { return 0 }
func (noRefs) Entity(uint32) uint64 { return 0 }
