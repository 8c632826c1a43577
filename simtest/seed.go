package simtest

import (
	"os"
	"strconv"
	"testing"
)

// seedVariable is the environment variable that makes [Check] play a single
// seed, to replay a failed match.
const seedVariable = "SIMTEST_SEED"

// wantedSeed returns the seed in the environment, if any.
func wantedSeed(tb testing.TB) (uint64, bool) {
	tb.Helper()
	s := os.Getenv(seedVariable)
	if s == "" {
		return 0, false
	}
	seed, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		tb.Fatalf("simtest: %s=%q is not a number", seedVariable, s)
	}
	return seed, true
}
