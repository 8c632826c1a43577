// Package seedtest names the seed of a failed match, and the command that plays it again. Packages that play matches
// from seeds use it: simtest and rollback/rollbacktest.
package seedtest

import (
	"fmt"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// variable is the environment variable that makes a check play a single seed, to replay a failed match.
const variable = "SIMTEST_SEED"

// Range returns the first and the last seed of a check that plays n matches: 1 and n, or twice the seed in the
// environment.
func Range(tb testing.TB, n int) (first, last uint64) {
	tb.Helper()
	s := os.Getenv(variable)
	if s == "" {
		return 1, uint64(n)
	}
	seed, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		tb.Fatalf("%s=%q is not a number: unset it, or use the seed of a match", variable, s)
	}
	return seed, seed
}

// Command returns the command that replays a test's seed, from anywhere in the module. The caller runs in the test's
// goroutine.
func Command(tb testing.TB, seed uint64) string {
	pkg := testPackage()
	if pkg != "" {
		pkg = " " + pkg
	}
	return fmt.Sprintf("%s=%d go test -count=1 -v%s -run '^%s$'%s", variable, seed, BuildTags, strings.ReplaceAll(tb.Name(), "/", "$/^"), pkg)
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
