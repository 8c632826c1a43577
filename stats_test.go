package foretick_test

import (
	"testing"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/fieldtest"
)

// TestClientStatsAddLeavesNothingOut: a counter that is added to the struct is summed.
func TestClientStatsAddLeavesNothingOut(t *testing.T) {
	fieldtest.Adds(t, (*foretick.ClientStats).Add, "Connection")
}
