// Package costtest limits what decoding may cost, and declares what tests cost. [Bound] asserts,
// and [Cost] measures, the memory and the time that decoding bytes takes, in proportion to their
// number: docs/RELIABILITY.md, row 7. [Long], [Ratio], [Sockets], [Memory] and [Allocations]
// declare a test's kind, so that FORETICK_LONG and FORETICK_WITHOUT choose which tests run.
package costtest

import (
	"runtime"
	"testing"
	"time"
)

// What decoding may take.
const (
	Bytes = 64 << 10                       // most bytes that decoding may allocate, in addition to twice the input
	Time  = slower * 10 * time.Millisecond // for each 1 200 bytes begun: ten times the limit on a quiet machine
)

// tries is how often decode is called until it stays within its limits. Other programs on the
// machine may make it exceed them.
const tries = 5

// Bound calls decode, which reads size bytes from outside, up to five times. It fails the test
// if decode allocates too much or takes too long every time. decode must do the same each time.
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

// Cost returns the bytes that fn allocates, and the time that it takes. On Linux that is fn's
// processor time, without other programs' work. fn must do its work itself, in one goroutine.
func Cost(fn func()) (memory uint64, took time.Duration) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	took = work(fn)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, took
}
