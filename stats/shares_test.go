package stats_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/stats"
)

// TestShares: bounds rise from 0 to 1, each share is in its bucket, and no number is outside.
func TestShares(t *testing.T) {
	require.Zero(t, stats.ShareBound(0))
	require.Equal(t, 1.0, stats.ShareBound(stats.ShareBuckets-1))
	for i := range stats.ShareBuckets {
		var s stats.Shares
		require.Zero(t, s.Mean())
		s.Observe(stats.ShareBound(i))
		require.EqualValues(t, 1, s.Counts[i], "the bound belongs to its bucket")
		if i > 0 {
			require.Greater(t, stats.ShareBound(i), stats.ShareBound(i-1))
			s.Observe(math.Nextafter(stats.ShareBound(i-1), 1))
			require.EqualValues(t, 2, s.Counts[i])
		}
	}
	var s, other stats.Shares
	for _, x := range []float64{-1, math.Inf(-1), math.NaN(), 0} {
		s.Observe(x)
	}
	require.EqualValues(t, 4, s.Counts[0])
	other.Observe(math.Inf(1))
	other.Observe(2)
	require.EqualValues(t, 2, other.Counts[stats.ShareBuckets-1])
	s.Add(&other)
	require.EqualValues(t, 6, s.Count())
	require.InDelta(t, 2.0/6, s.Mean(), 1e-12)
	require.Zero(t, testing.AllocsPerRun(100, func() { s.Observe(0.3) }))
}
