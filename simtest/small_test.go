package simtest_test

import "github.com/foretick/foretick/internal/costtest"

// small makes tests play few of their seeds and links. FORETICK_LONG adds the others, which differ
// only in numbers. Under the race detector small is always true.
var small = raced || costtest.Count(0, 1) == 0

// ratesOf returns the tick rates for a row of a table: one of three in turn, or all of them with
// FORETICK_LONG.
func ratesOf(row int) []int {
	all := []int{30, 60, 128}
	if small {
		return all[row%len(all):][:1]
	}
	return all
}
