package snapshot

// State is the quantised value of a ghost as of a tick. Its words hold until the
// next Read.
type State struct {
	Tick  Tick   // the tick in which the value was known to hold
	Mask  uint64 // the components present, by id
	Owner uint16 // 0: nobody
	Mine  bool   // the viewer is the owner, and received what only owners do
	// Audience is the classes that the viewer was of, of those that make a
	// difference in this game; it has ToOwner when Mine is set. See
	// [Schema.DequantiseFor].
	Audience Audience
	// Jumps counts the entity's teleports since the viewer was first shown it,
	// modulo 2¹⁶: between two states that differ in it nothing is to be
	// interpolated.
	Jumps uint16
	Words []int32
	reg   *Registry
}

// Component is the words of one component, nil if it is absent. References are wire
// ids. Its grid is [State.Grid].
func (s State) Component(comp int) []int32 {
	if s.reg == nil {
		return nil
	}
	return s.reg.component(s.Mask, s.Words, comp)
}

// Grid is the grid of a component's words: [GridSim] for predicted components of
// the viewer's own ghosts.
func (s State) Grid(comp int) Grid {
	if s.Mine && s.reg != nil && s.reg.comps[comp].predicted {
		return GridSim
	}
	return GridPublic
}
