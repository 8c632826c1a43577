package quantise

// Number is [schema.Schema.Number].
func (s *Plan) Number(field int, words []int32, g Grid) float64 {
	l := &s.Leaves[field]
	switch l.Class {
	case Text, Quat:
		return 0
	case Length, Ref, Bool:
		return float64(words[l.Word])
	}
	return l.float(words, g)
}
