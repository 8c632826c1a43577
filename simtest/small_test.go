package simtest_test

import "github.com/foretick/foretick/internal/costtest"

// small has tests that play the same for many seeds and links play few of them: those that
// FORETICK_LONG adds differ in numbers alone. Under the race detector they are always few.
var small = raced || costtest.Count(0, 1) == 0

// ratesOf returns the tick rates that a row of a table plays at: one of three in turn, and all
// of them with FORETICK_LONG.
func ratesOf(row int) []int {
	all := []int{30, 60, 128}
	if small {
		return all[row%len(all):][:1]
	}
	return all
}
