package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/schema"
)

type fadeItem struct {
	e      ecs.Entity
	comp   int
	field  int
	offset schema.Offset
	least  float32 // a smaller offset is forgotten
}

// fieldValue returns a field's value on the simulation grid, in its own units.
func fieldValue(comp *layout.Component, field int, words []int32) float64 {
	return comp.Schema.Number(field, words[:comp.Schema.Words()], schema.GridSim)
}
