package nettest

import (
	"flag"
	"runtime"
	"slices"
	"testing"
	"time"
)

// Soak is the flag that runs the TestSoak tests at full length; with -v they print their figures:
//
//	go test ./transport/udp ./transport/dtls ./transport/ws -run Soak -soak -v -timeout 30m
var Soak = flag.Bool("soak", false, "run the soak tests at full length: some ten minutes")

// Length returns full with -soak, else short; it logs what is shortened.
func Length[T any](t testing.TB, what string, short, full T) T {
	t.Helper()
	if *Soak {
		t.Logf("full length: %s %v", what, full)
		return full
	}
	t.Logf("short form: %s %v; %v with -soak", what, short, full)
	return short
}

// Patience is the time that tests wait for something that must happen: much longer than needed on an idle machine.
// Limit checks at full length that it happens quickly.
const Patience = time.Minute

// Limit returns d at full length, when the test has the machine to itself. In short form, next to other work, it
// returns at least ten seconds.
func Limit(d time.Duration) time.Duration {
	if *Soak {
		return d
	}
	return max(10*time.Second, d)
}

// Until waits for a condition and checks it every few milliseconds.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for begin := time.Now(); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > Patience {
			t.Fatalf("timed out waiting until %s", what)
		}
	}
}

// Percentile sorts d and returns its p-th percentile.
func Percentile(d []time.Duration, p int) time.Duration {
	slices.Sort(d)
	return d[min(len(d)*p/100, len(d)-1)].Round(100 * time.Microsecond)
}

// Heap returns the bytes in use on the heap.
func Heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
