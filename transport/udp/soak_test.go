package udp_test

import (
	"flag"
	"testing"
)

// With -soak the tests in the files soak_*_test.go run at full length, with -v they print their figures:
//
//	go test ./transport/udp -run Soak -soak -v
var soak = flag.Bool("soak", false, "run the soak tests at full length: some two minutes")

// length returns the full figure with -soak, else the short one; what is left out is said.
func length[T any](t *testing.T, what string, short, full T) T {
	t.Helper()
	if *soak {
		t.Logf("full length: %s %v", what, full)
		return full
	}
	t.Logf("short form: %s %v, where -soak has %v", what, short, full)
	return short
}
