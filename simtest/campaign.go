package simtest

import (
	"fmt"
	"path"
	"runtime"
	"strings"
	"testing"
)

// Check plays the plan with each of n seeds, 1 to n. It stops at the first seed that
// fails and reports it with the command that replays it. It logs each outcome,
// with the fields whose values do not fit their tags, and returns the outcomes that passed.
//
// A match runs in one goroutine and is deterministic: a failure repeats with its
// seed, with added prints or in a debugger.
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
			tb.Fatalf("simtest: seed %d: %v\nuntil then: %v\nto play it again: %s", seed, err, out, replay(tb.Name(), seed, testPackage()))
		}
		tb.Logf("%v", out)
		for _, line := range out.Lost {
			tb.Logf("seed %d: %s", seed, line)
		}
		all = append(all, out)
	}
	return all
}

// replay returns the command that replays a test's seed, from anywhere in the module.
func replay(test string, seed uint64, pkg string) string {
	if pkg != "" {
		pkg = " " + pkg
	}
	return fmt.Sprintf("%s=%d go test -count=1 -v%s -run '^%s$'%s", SeedVariable, seed, buildTags, strings.ReplaceAll(test, "/", "$/^"), pkg)
}

// testPackage returns the import path of the package whose test runs in this
// goroutine, "" if unknown.
func testPackage() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for last := ""; ; {
		f, more := frames.Next()
		if f.Function == "testing.tRunner" {
			return packageOf(last)
		}
		if last = f.Function; !more {
			return ""
		}
	}
}

// packageOf returns the import path in a function's name. For an external test
// package it is the package under test.
func packageOf(function string) string {
	function, _, _ = strings.Cut(function, "[") // type arguments
	dir, name := path.Split(function)
	name, _, _ = strings.Cut(name, ".")
	return dir + strings.ReplaceAll(strings.TrimSuffix(name, "_test"), "%2e", ".")
}

// String returns a one-line summary of the outcome.
func (o Outcome) String() string {
	return fmt.Sprintf("seed %d, trace %x…: %v, %d ticks, %d packets, %d snapshots, %d predictions corrected (%s), %d joins, %d leaves, %d kicks, %d processes killed, %d freezes, %d times at rest; %s",
		o.Seed, o.Trace[:6], o.Played, o.Ticks, o.Packets, o.Snapshots, o.Mended, countCauses(o.Causes), o.Joins, o.Leaves, o.Kicks, o.Kills, o.Freezes, o.Quiets, strings.Join(o.Worked, "; "))
}
