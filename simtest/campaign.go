package simtest

import (
	"fmt"
	"strings"
	"testing"
)

// Check plays the plan from each of n seeds, 1 to n, and reports the first that
// fails, with the command that plays it again. Each outcome is logged. It
// returns those that passed.
//
// A match is one goroutine, the same every time: what fails once fails again
// from its seed, with prints, or in a debugger.
func Check(tb testing.TB, p Plan, n int) []Outcome {
	tb.Helper()
	first, last := uint64(1), uint64(n)
	if seed, ok := wantedSeed(tb); ok {
		first, last = seed, seed
	}
	var all []Outcome
	for seed := first; seed <= last; seed++ {
		out, err := p.Run(seed)
		if err != nil {
			tb.Fatalf("simtest: seed %d: %v\nto play it again: %s", seed, err, replay(tb.Name(), seed))
		}
		tb.Logf("%v", out)
		all = append(all, out)
	}
	return all
}

// replay is the shortest command that plays a test's seed again.
func replay(test string, seed uint64) string {
	return fmt.Sprintf("%s=%d go test -count=1 -v -run '^%s$'", SeedVariable, seed, strings.ReplaceAll(test, "/", "$/^"))
}

// String sums the outcome up in a line.
func (o Outcome) String() string {
	return fmt.Sprintf("seed %d, trace %x…: %v, %d ticks, %d packets, %d snapshots, %d corrections, %d joins, %d leaves, %d kills, %d freezes, %d times at rest; %s",
		o.Seed, o.Trace[:6], o.Played, o.Ticks, o.Packets, o.Snapshots, o.Mended, o.Joins, o.Leaves, o.Kills, o.Freezes, o.Quiets, strings.Join(o.Worked, "; "))
}
