package foretick_test

import (
	"testing"

	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/simtest"
)

// TestClientStatsAddLeavesNothingOut: a counter that is added to the struct is summed.
func TestClientStatsAddLeavesNothingOut(t *testing.T) {
	fieldtest.Adds(t, simtest.AddStats, "Connection", "Clock")
}
