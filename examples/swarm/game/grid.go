package game

import (
	"slices"

	"github.com/foretick/foretick/ecs"
)

// A grid of square cells. Two units that touch or fight are in the same cell or in neighbouring ones.
const (
	cell = 2 * Metre
	side = 2*half/cell + 1
)

// stood is a unit as look found it.
type stood struct {
	x, y, toX, toY int32
	owner          ecs.Owner
	walks          bool
}

// grid has all units sorted by cell. It is built in each tick and holds nothing from one to the next,
// but for its memory.
type grid struct {
	begin []int32 // where each cell's units begin in stood; one more than there are cells
	stood []stood
}

// cellOf returns the cell of a place.
func cellOf(x, y int32) int32 {
	x, y = min(max(x+half, 0), 2*half)/cell, min(max(y+half, 0), 2*half)/cell
	return y*side + x
}

// build sorts units by counting those of each cell, and then puts them in from the last to the
// first. Within a cell they keep their order.
func (g *grid) build(of *ecs.Component[Unit], all []ecs.Rows) {
	begin := slices.Grow(g.begin[:0], side*side+1)[:side*side+1]
	clear(begin)
	for _, rows := range all {
		for _, u := range of.Slice(rows) {
			begin[cellOf(u.X, u.Y)]++
		}
	}
	n := int32(0)
	for i := range begin {
		n += begin[i]
		begin[i] = n // the end of this cell, until its units are in
	}
	stands := slices.Grow(g.stood[:0], int(n))[:n]
	for _, rows := range slices.Backward(all) {
		for _, u := range slices.Backward(of.Slice(rows)) {
			at := &begin[cellOf(u.X, u.Y)]
			*at--
			stands[*at] = stood{u.X, u.Y, u.ToX, u.ToY, rows.Owner(), u.Walks}
		}
	}
	g.begin, g.stood = begin, stands //foretick:allow each tick builds it before move reads it, in replays too
}

// around returns the units in the cells about a place: a run for each of three rows of cells.
func (g *grid) around(x, y int32) (runs [3][]stood) {
	middle := cellOf(x, y)
	from, to := max(middle%side-1, 0), min(middle%side+1, side-1)
	for i := range runs {
		if row := middle/side + int32(i) - 1; row >= 0 && row < side {
			runs[i] = g.stood[g.begin[row*side+from]:g.begin[row*side+to+1]]
		}
	}
	return runs
}
