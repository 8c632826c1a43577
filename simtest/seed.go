package simtest

import (
	"os"
	"strconv"
	"testing"
)

// SeedVariable is the environment variable that has [Check] play one seed
// alone: the way to play a failed match again.
const SeedVariable = "SIMTEST_SEED"

// wantedSeed is the one that the environment names, if any.
func wantedSeed(tb testing.TB) (uint64, bool) {
	tb.Helper()
	s := os.Getenv(SeedVariable)
	if s == "" {
		return 0, false
	}
	seed, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		tb.Fatalf("simtest: %s=%q is no number", SeedVariable, s)
	}
	return seed, true
}
