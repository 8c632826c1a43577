// Package costtest holds what tests may cost. [Bound] and [Cost] assert the memory and the
// time that decoding bytes takes, in proportion to how many they are: docs/RELIABILITY.md,
// row 7. [Long], [Ratio], [Sockets], [Memory] and [Allocations] declare what kind of test
// one is, so that FORETICK_LONG and FORETICK_WITHOUT choose which run.
package costtest

import (
	"runtime"
	"testing"
	"time"
)

// What decoding may take.
const (
	Bytes = 64 << 10                       // and twice the input
	Time  = slower * 10 * time.Millisecond // for each 1 200 bytes begun: ten times what they may take on a quiet machine
)

// tries is how often a decoder may be seen to take too much, by what others do on the
// machine at the same time.
const tries = 5

// Bound calls decode, which reads size bytes from outside, and fails the test if it
// allocates or works too much for them each time: it is called again where it seems to.
// It must do the same each time.
func Bound(t testing.TB, size int, decode func()) {
	t.Helper()
	memory, limit := uint64(Bytes+2*size), Time*time.Duration(1+size/1200)
	var took time.Duration
	var bytes uint64
	for range tries {
		if bytes, took = Cost(decode); bytes <= memory && took <= limit {
			return
		}
	}
	t.Fatalf("%d bytes took %v and %d bytes of memory: at most %v and %d", size, took, bytes, limit, memory)
}

// Cost is what fn allocates, and the time that the processor works on it: on Linux, what other
// programs do at the same time does not count. fn must do its work itself, in one goroutine.
func Cost(fn func()) (memory uint64, took time.Duration) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	took = work(fn)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, took
}
