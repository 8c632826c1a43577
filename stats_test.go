package foretick_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
)

// TestClientAddLeavesNothingOut: a counter that is added to the struct is summed.
func TestClientAddLeavesNothingOut(t *testing.T) {
	fieldtest.Adds(t, simtest.AddStats, "Connection", "Clock")
}

// TestConfirmOfTheEnds: the shares 0 and 1 are the shortest and the longest time, and no
// input is no time.
func TestConfirmOfTheEnds(t *testing.T) {
	var none, some stats.Client
	require.Zero(t, none.Confirm(0.5))
	for _, ms := range []int{30, 40, 50, 1999} {
		some.Confirmed++
		some.ConfirmedWithin[ms]++
	}
	for q, want := range map[float64]int{-1: 30, 0: 30, 0.25: 40, 0.5: 50, 0.99: 1999, 1: 1999, math.Inf(1): 1999} {
		require.Equal(t, time.Duration(want)*time.Millisecond, some.Confirm(q), "%v", q)
	}
	require.Equal(t, 30*time.Millisecond, some.Confirm(math.NaN()))

	some.Confirmed, some.ConfirmedWithin = 1, none.ConfirmedWithin
	some.ConfirmedWithin[40]++
	require.Equal(t, 40*time.Millisecond, some.Confirm(1))
}
