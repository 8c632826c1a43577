// Package contain calls functions of the game, so that a panic in one does not stop the
// library's own goroutines.
package contain

import (
	"runtime/debug"
	"sync"
	"time"
)

// Failure is how a function of the game failed.
type Failure struct {
	Value any    // what it panicked with; Goexit if it ended its goroutine
	Stack []byte // of the panic, as runtime/debug.Stack formats it
}

// Goexit is the value of a function that called runtime.Goexit, as testing's FailNow does.
const Goexit = "runtime.Goexit was called"

// Call calls a function in a new goroutine, so that runtime.Goexit in it ends nothing
// else, and waits for it. It returns nil if the function returned. Call costs some
// microseconds: it is for what happens once for a player or a match.
func Call(fn func()) (failed *Failure) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if failed == nil {
				return
			}
			failed.Value, failed.Stack = Recovered(recover()), debug.Stack()
		}()
		failed = &Failure{}
		fn()
		failed = nil
	}()
	<-done
	return failed
}

// Recovered is the value of a deferred function's recover after its function did not return:
// nil then means runtime.Goexit.
func Recovered(v any) any {
	if v == nil {
		return Goexit
	}
	return v
}

// every is the time between two stacks of one function in a log.
const every = time.Hour

// Rarely says which failures to log: one an hour. It is safe for concurrent use.
type Rarely struct {
	mu      sync.Mutex
	told    bool
	last    time.Time
	skipped uint64
}

// Due reports whether to log a failure at now, and how many were left out since the last.
func (r *Rarely) Due(now time.Time) (skipped uint64, due bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told && now.Sub(r.last) < every {
		r.skipped++
		return 0, false
	}
	skipped, r.skipped, r.told, r.last = r.skipped, 0, true, now
	return skipped, true
}
