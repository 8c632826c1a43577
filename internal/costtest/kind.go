package costtest

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The environment variables that choose tests by what they cost.
const (
	// LongVariable is a number. At 1 the tests that call [Long] run, and at n they play n
	// times the matches. Unset or 0, they are skipped.
	LongVariable = "FORETICK_LONG"

	// WithoutVariable lists kinds of tests that are skipped, separated by commas, for
	// example "ratio,memory".
	WithoutVariable = "FORETICK_WITHOUT"
)

// kinds are the kinds that WithoutVariable may list.
var kinds = []string{"allocations", "memory", "ratio", "sockets"}

// Long declares that a test is a campaign: many seeds, or minutes of play. It is skipped
// unless FORETICK_LONG is 1 or more.
func Long(t testing.TB) {
	t.Helper()
	if longs() == 0 {
		t.Skipf("a long test: %s=1 runs it", LongVariable)
	}
}

// Count returns how many matches a test plays: usual, or long times the number in
// FORETICK_LONG.
func Count(usual, long int) int {
	if n := longs(); n > 0 {
		return long * n
	}
	return usual
}

// Ratio declares that a test compares speeds, or counts over many matches. Running it in another
// kind of build or on another machine shows nothing new.
func Ratio(t testing.TB) { t.Helper(); declare(t, "ratio") }

// Sockets declares that a test uses real sockets, and so waits for the clock.
func Sockets(t testing.TB) { t.Helper(); declare(t, "sockets") }

// Memory declares that a test fills memory up to its bounds, or measures the heap.
func Memory(t testing.TB) { t.Helper(); declare(t, "memory") }

// Allocations declares that a test counts allocations, which the race detector and
// debug builds add to.
func Allocations(t testing.TB) { t.Helper(); declare(t, "allocations") }

// Concurrent declares that several goroutines run in a test that does not start them itself. It
// is for packages whose other tests mostly run in one goroutine. It skips nothing: .ci/run runs
// these tests, and those that start goroutines, under the race detector.
func Concurrent(testing.TB) {}

// Figures declares that a test logs figures that .ci/run prints. It skips nothing.
func Figures(testing.TB) {}

func declare(t testing.TB, kind string) {
	t.Helper()
	t.Attr("cost", kind) // what .ci/run runs once more, alone, if it fails beside others
	without := os.Getenv(WithoutVariable)
	if without == "" {
		return
	}
	for _, one := range strings.Split(without, ",") {
		if !slices.Contains(kinds, one) {
			t.Fatalf("%s=%s: %q is no kind of test: use some of %s", WithoutVariable, without, one, strings.Join(kinds, ","))
		}
		if one == kind {
			t.Skipf("a test of the kind %s: %s=%s leaves it out", kind, WithoutVariable, without)
		}
	}
}

// longs returns the number in FORETICK_LONG.
func longs() int {
	s := os.Getenv(LongVariable)
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		panic(LongVariable + "=" + s + ": it must be a number, 0 or more")
	}
	return n
}
