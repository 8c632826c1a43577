//go:build foretick_debug

package simtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Figures of debug builds are not those of the game: none are reported.
func TestBenchRefusesDebugBuilds(t *testing.T) {
	_, err := BenchConfig{}.measureMatches(func() Player { panic("played") })
	require.ErrorContains(t, err, "without -tags foretick_debug")
	failed := false
	r := testing.Benchmark(func(b *testing.B) {
		defer func() { failed = b.Failed() }()
		Bench(b, func() Player { panic("played") }, BenchConfig{})
	})
	require.True(t, failed)
	require.Empty(t, r.Extra)
}
