package main

import (
	"os"
	"slices"
	"testing"
)

// longer reports whether tests play in their long form.
func longer() bool { n := os.Getenv("FORETICK_LONG"); return n != "" && n != "0" }

// long skips a test that plays for minutes, unless FORETICK_LONG=1.
func long(t *testing.T) {
	t.Helper()
	if !longer() {
		t.Skip("a long test: FORETICK_LONG=1 runs it")
	}
}

// virtual skips a match in virtual time under -short: it runs in one goroutine, so the
// race detector finds nothing in it.
func virtual(t *testing.T, args ...string) {
	t.Helper()
	if slices.Contains(args, "-transport") {
		sockets(t)
	} else if testing.Short() {
		t.Skip("a match in virtual time, which -short leaves out")
	}
}

// sockets skips a test over real sockets in a debug build, whose checks find in them what
// they find in virtual time.
func sockets(t *testing.T) {
	t.Helper()
	if debugBuild {
		t.Skip("over sockets, which debug builds leave out")
	}
}
