package simtest_test

import (
	"testing"

	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/simtest"
)

// TestCountsAddLeavesNothingOut: a counter that is added to one of the structs is
// summed, or its greatest value is kept.
func TestCountsAddLeavesNothingOut(t *testing.T) {
	fieldtest.Adds(t, func(sum, one *simtest.Weather) { sum.Add(*one) })
	fieldtest.Adds(t, func(sum, one *simtest.RogueCounts) { sum.Add(*one) })
}
