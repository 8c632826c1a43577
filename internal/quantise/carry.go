package quantise

import (
	"math"
	"slices"

	"github.com/foretick/foretick/internal/coder"
)

// Tolerant is [schema.Schema.Tolerant].
func (s *Plan) Tolerant() bool {
	for i := range s.Leaves {
		if s.Leaves[i].Tolerance != 0 {
			return true
		}
	}
	return false
}

// Carry is [schema.Schema.Carry].
func (s *Plan) Carry(later, predicted, actual []int32) bool {
	changed := false
	for i := 0; i < len(s.Leaves); i++ {
		l := &s.Leaves[i]
		n := l.Words()
		if l.Class == Length && (later[l.Word] != predicted[l.Word] || later[l.Word] != actual[l.Word]) {
			li := &s.Lists[l.List] // the lengths differ: carry the whole slice or nothing
			n, i = 1+li.Most*li.Words, li.End()-1
		}
		at, was, is := later[l.Word:l.Word+n], predicted[l.Word:l.Word+n], actual[l.Word:l.Word+n]
		if slices.Equal(was, is) {
			continue
		}
		changed = true
		switch {
		case slices.Equal(at, was):
			copy(at, is)
		case l.Angle():
			g := &l.Grid[GridSim]
			at[0] = int32(coder.Wrap(int64(at[0])+int64(is[0])-int64(was[0]), g.hi-g.lo+1))
		case l.Stepped():
			g := &l.Grid[GridSim]
			at[0] = int32(min(max(int64(at[0])+int64(is[0])-int64(was[0]), g.lo), g.hi))
		case l.Class.Counts() && !l.Wide:
			at[0] = int32(l.clampInt(l.wordInt(later) + l.wordInt(actual) - l.wordInt(predicted)))
		case l.Class == Float32:
			sum := l.float(later, GridSim) + l.float(actual, GridSim) - l.float(predicted, GridSim)
			at[0] = int32(math.Float32bits(float32(l.finite(sum))))
		case l.Class == Float64:
			u := math.Float64bits(l.finite(l.float(later, GridSim) + l.float(actual, GridSim) - l.float(predicted, GridSim)))
			at[0], at[1] = int32(u), int32(u>>32)
		}
	}
	return changed
}
