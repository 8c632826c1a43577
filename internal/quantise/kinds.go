package quantise

// Grid is [schema.Grid].
type Grid uint8

// The two grids.
const (
	GridPublic Grid = iota
	GridSim
)

// Refs is [schema.Refs]. It is the same type, so that values need no conversion.
type Refs = interface {
	Net(entity uint64) uint32
	Entity(ref uint32) uint64
}
