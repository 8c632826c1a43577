package dtls_test

import (
	"flag"
	"slices"
	"testing"
	"time"
)

// With -soak the tests whose names begin with TestSoak run at full length, with -v they print their figures:
//
//	go test ./transport/dtls -run Soak -soak -v
var soak = flag.Bool("soak", false, "run the soak tests at full length: some five minutes")

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

func percentile(d []time.Duration, p int) time.Duration {
	slices.Sort(d)
	return d[min(len(d)*p/100, len(d)-1)].Round(100 * time.Microsecond)
}
