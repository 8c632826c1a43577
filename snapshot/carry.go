package snapshot

import (
	"math"
	"slices"
)

// Tolerant tells whether any field has a tolerance (tag tol).
func (s *Schema) Tolerant() bool {
	for i := range s.leaves {
		if s.leaves[i].tol != 0 {
			return true
		}
	}
	return false
}

// Carry moves a later value on by what an earlier one turned out to be off: to
// each number in later it adds what actual has more than predicted, all three
// being words on the simulation grid, inside of the field's range, angles around
// their circle. What cannot be added to (flags, references, rotations, strings, 64-bit
// integers, a slice that changed its length) becomes actual's where later is still what was predicted, and stays
// otherwise. It tells whether anything changed.
func (s *Schema) Carry(later, predicted, actual []int32) bool {
	changed := false
	for i := 0; i < len(s.leaves); i++ {
		l := &s.leaves[i]
		n := l.words()
		if l.op == opLength && (later[l.word] != predicted[l.word] || later[l.word] != actual[l.word]) {
			li := &s.lists[l.list] // another length: all of it, or nothing
			n, i = 1+li.most*li.words, li.end()-1
		}
		at, was, is := later[l.word:l.word+n], predicted[l.word:l.word+n], actual[l.word:l.word+n]
		if slices.Equal(was, is) {
			continue
		}
		changed = true
		switch {
		case slices.Equal(at, was):
			copy(at, is)
		case l.angle():
			g := &l.grid[GridSim]
			at[0] = int32(wrap(int64(at[0])+int64(is[0])-int64(was[0]), g.hi-g.lo+1))
		case l.stepped():
			g := &l.grid[GridSim]
			at[0] = int32(min(max(int64(at[0])+int64(is[0])-int64(was[0]), g.lo), g.hi))
		case l.op > opBool && l.op <= opUint64 && !l.wide:
			at[0] = int32(l.clampInt(l.wordInt(later) + l.wordInt(actual) - l.wordInt(predicted)))
		case l.op == opFloat32:
			sum := l.float(later, GridSim) + l.float(actual, GridSim) - l.float(predicted, GridSim)
			at[0] = int32(math.Float32bits(float32(finite(sum))))
		case l.op == opFloat64:
			u := math.Float64bits(finite(l.float(later, GridSim) + l.float(actual, GridSim) - l.float(predicted, GridSim)))
			at[0], at[1] = int32(u), int32(u>>32)
		}
	}
	return changed
}
