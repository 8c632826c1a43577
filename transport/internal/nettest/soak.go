package nettest

import (
	"flag"
	"runtime"
	"slices"
	"testing"
	"time"
)

// Soak is the flag with which the tests whose names begin with TestSoak run at full length; with -v they print their
// figures:
//
//	go test ./transport/udp ./transport/dtls ./transport/ws -run Soak -soak -v -timeout 30m
var Soak = flag.Bool("soak", false, "run the soak tests at full length: some ten minutes")

// Length returns the full figure with -soak, else the short one; what is left out is said.
func Length[T any](t testing.TB, what string, short, full T) T {
	t.Helper()
	if *Soak {
		t.Logf("full length: %s %v", what, full)
		return full
	}
	t.Logf("short form: %s %v, where -soak has %v", what, short, full)
	return short
}

// Patience is how long something that must happen is waited for: far longer than it takes on a machine with nothing else to
// do. That it happens soon is asserted at full length, by Limit.
const Patience = time.Minute

// Limit returns what a test asks for at full length, when the machine is its own, and at least ten seconds in short form,
// beside whatever else runs.
func Limit(d time.Duration) time.Duration {
	if *Soak {
		return d
	}
	return max(10*time.Second, d)
}

// Until waits for a condition, for which it asks every few milliseconds.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for begin := time.Now(); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > Patience {
			t.Fatalf("in vain waited until %s", what)
		}
	}
}

// Percentile sorts d and returns the time that p in a hundred of it do not exceed.
func Percentile(d []time.Duration, p int) time.Duration {
	slices.Sort(d)
	return d[min(len(d)*p/100, len(d)-1)].Round(100 * time.Microsecond)
}

// Heap returns the bytes that are in use on the heap.
func Heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
