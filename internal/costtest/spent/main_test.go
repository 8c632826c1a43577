package main

import "testing"

// TestWithoutExec: the go commands of a test run their own tests without this program.
func TestWithoutExec(t *testing.T) {
	for flags, want := range map[string]string{
		"": "", "-v": "-v", "-mod=readonly -v": "-mod=readonly -v",
		"-v '-exec=/d/spender /d/spent'":               "-v",
		"'-exec=/d/spender /d/spent'":                  "",
		"-v '-exec=/d/spender /d/spent' -trimpath":     "-v -trimpath",
		"'-ldflags=-s -w' '-exec=/d/spender /d/spent'": "'-ldflags=-s -w'",
	} {
		if got := withoutExec(flags); got != want {
			t.Errorf("%q: %q instead of %q", flags, got, want)
		}
	}
}
