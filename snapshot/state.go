package snapshot

import (
	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// State is the quantised value of a ghost in a tick. Its words are valid until the next
// Read.
type State struct {
	Tick  schema.Tick // the tick that the value is known for
	Mask  schema.Mask // the components present, by id
	Owner uint16      // the owner of the entity; 0: none
	Mine  bool        // the viewer is the owner, and received what only owners do
	// Audience is the viewer's classes, limited to those that make a difference in this
	// game. It has ToOwner when Mine is set. See [schema.Schema.DequantiseFor].
	Audience schema.Audience
	// Ever is Audience in all values of the entity that were received, together. What Ever
	// receives and Audience does not was withdrawn, or was not shown yet in Tick.
	Ever schema.Audience
	// Jumps counts the entity's teleports since the viewer was first shown it, modulo
	// 2¹⁶. Do not interpolate between two states with different Jumps.
	Jumps uint16
	Words []int32
	reg   *quantise.Registry
}

// Component returns the words of one component, or nil if it is absent. A tag has an empty
// slice. References are wire ids. The grid is [State.Grid].
func (s State) Component(comp int) []int32 {
	if s.reg == nil {
		return nil
	}
	return s.reg.Component(s.Mask, s.Words, comp)
}

// Keyframe returns a component's words and their tick, for [schema.Between]. The words
// are nil if the entity does not have the component, or the State is the zero State.
func (s State) Keyframe(comp int) schema.Keyframe {
	return schema.Keyframe{Tick: s.Tick, Words: s.Component(comp)}
}

// Grid returns the grid of a component's words: [schema.GridSim] for predicted
// components of the viewer's own ghosts.
func (s State) Grid(comp int) schema.Grid {
	if s.Mine && s.reg != nil && s.reg.Comps[comp].Predicted {
		return schema.GridSim
	}
	return schema.GridPublic
}
