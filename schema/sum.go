package schema

import "github.com/foretick/foretick/internal/quantise"

// sums returns the fault of a field tagged sum, if there is one.
func (t *tag) sums(l *quantise.Leaf) (problem, fix string) {
	switch {
	case !t.sum:
		return "", ""
	case !l.CanSum():
		return "only a number can be a sum", "use an integer, or a float without angle, or drop sum"
	case t.press:
		return "sum and press exclude each other", "drop press: a sum is of all frames, also of the one with the press"
	case t.how() != quantise.Snap:
		return "a sum has nothing to interpolate", "drop " + t.how().String()
	case !l.HoldsZero():
		return "a sum begins at 0, which is out of its range", "give a range that holds 0"
	}
	return "", ""
}
