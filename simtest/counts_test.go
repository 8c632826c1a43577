package simtest_test

import (
	"testing"

	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/simtest/campaign"
)

// TestCountsAddLeavesNothingOut: Add sums every counter of the structs, or keeps its greatest
// value.
func TestCountsAddLeavesNothingOut(t *testing.T) {
	fieldtest.Adds(t, func(sum, one *campaign.Weather) { sum.Add(*one) })
	fieldtest.Adds(t, func(sum, one *campaign.RogueCounts) { sum.Add(*one) })
}
