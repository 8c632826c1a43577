package schema

import "fmt"

// Grid chooses one of the two quantisations of a component.
type Grid uint8

const (
	// GridPublic is the grid of the tag's step: what every viewer receives.
	GridPublic Grid = iota
	// GridSim is the finer simulation grid, sent to the owner of a predicted component.
	// For components that are not predicted it is GridPublic.
	GridSim
)

// String returns "public" or "sim".
func (g Grid) String() string {
	switch g {
	case GridPublic:
		return "public"
	case GridSim:
		return "sim"
	}
	return fmt.Sprintf("grid %d", uint8(g))
}
