package host

import (
	"context"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// worker owns some of the matches. Its own goroutine steps them.
type worker struct {
	wake chan struct{}
	all  atomic.Bool // every match is to be stepped, whether anything is due or not
	load atomic.Int64

	// What the watch reads.
	number  atomic.Uint64         // of the goroutine; 0: nobody watches
	busy    atomic.Int64          // nanoseconds spent in steps
	since   atomic.Int64          // when the step that runs began, in time of elapsed; 0: none runs; or taken
	current atomic.Pointer[match] // the newest that was stepped
	counted int64                 // what the watch has seen of busy

	mu    sync.Mutex
	fresh []*match // handed over, and not taken yet

	mine []*match // the goroutine's, but in a step: see hang.go
	last int64    // the newest value of since, the goroutine's

	// The host's lock guards these.
	hang *hang         // the step that runs, if the watch took it
	lone bool          // it has one match, and gets no other
	left bool          // Run does not wait for its goroutine
	calm time.Duration // when its newest hang ended

	over bool // its match was given up: the goroutine ends, which writes this
}

func newWorker() *worker { return &worker{wake: make(chan struct{}, 1)} }

// takeMatch hands a match to the worker.
func (w *worker) takeMatch(m *match) {
	w.load.Add(1)
	w.mu.Lock()
	w.fresh = append(w.fresh, m)
	w.mu.Unlock()
	w.wakeUp()
}

func (w *worker) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// members returns the matches of the worker, those handed over included.
func (w *worker) members() []*match {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mine = append(w.mine, w.fresh...)
	clear(w.fresh)
	w.fresh = w.fresh[:0]
	return w.mine
}

// lateAfter is the delay of a tick that is counted as late.
const lateAfter = 5 * time.Millisecond

// runMatches steps the matches that have a tick due or must look at their mail now. It returns when the
// next tick is due; the
// zero time where there is no match.
func (w *worker) runMatches(h *Host, now time.Time) (next time.Time) {
	everyone := w.all.Swap(false)
	w.members()
	for i := 0; i < len(w.mine); {
		m := w.mine[i]
		due := m.next.IsZero() || !now.Before(m.next)
		there := true
		if due || everyone || m.port.hurry.Load() {
			if due && !m.next.IsZero() {
				late := now.Sub(m.next)
				if late > lateAfter {
					h.tally.late.Add(1)
				}
				h.load.countTick(late, m.tick)
			}
			h.tally.steps.Add(1)
			there = w.stepMatch(h, m, now)
			if w.over {
				return next
			}
			if i >= len(w.mine) || w.mine[i] != m { // the watch took the others
				i = 0
			}
		}
		if !there || h.moved(m) {
			w.dropMatch(i)
			continue
		}
		i++
		if next.IsZero() || m.next.Before(next) {
			next = m.next
		}
	}
	return next
}

// dropMatch forgets a match.
func (w *worker) dropMatch(i int) {
	w.mine = slices.Delete(w.mine, i, i+1)
	w.load.Add(-1)
}

// stepMatch steps a match, and reports whether it is still there. If the game ends the goroutine, step
// ends the match, and Host.work begins another goroutine.
func (w *worker) stepMatch(h *Host, m *match, now time.Time) (there bool) {
	w.begins(h, m)
	returned := false
	defer func() {
		if !returned {
			m.closeFailed(h)
			h.reap(m)
		}
		pprof.SetGoroutineLabels(context.Background())
		if w.number.Load() != 0 {
			m.busy.Add(int64(h.elapsed()) - w.last)
			if !w.since.CompareAndSwap(w.last, 0) {
				h.wakes(w)
			}
		}
		if !returned {
			w.dropMatch(slices.Index(w.mine, m))
		}
	}()
	pprof.SetGoroutineLabels(m.labels)
	if there = m.runMatch(h, now); !there {
		h.reap(m)
	}
	returned = true
	return there
}

// begins marks that a step of a match begins. Where no goroutine runs the worker, nobody watches.
func (w *worker) begins(h *Host, m *match) {
	if w.number.Load() != 0 {
		w.current.Store(m)
		w.last = max(w.last+1, int64(h.elapsed())) // no two steps have the same
		w.since.Store(w.last)
	}
}
