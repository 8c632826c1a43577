package snapshot

// Number returns the value of a field as a number in the field's own unit, by its index
// in [Schema.Fields], of a component's words on a grid: 0 or 1 for a bool, the length of
// a slice, and 0 for strings and rotations. It panics when the index is out of range.
func (s *Schema) Number(field int, words []int32, g Grid) float64 {
	l := &s.leaves[field]
	switch l.op {
	case opText, opQuat:
		return 0
	case opLength, opRef, opBool:
		return float64(words[l.word])
	}
	return l.float(words, g)
}
