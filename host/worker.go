package host

import (
	"context"
	"runtime/pprof"
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
	number  atomic.Uint64 // of the goroutine
	busy    atomic.Int64  // nanoseconds spent in steps
	since   atomic.Int64  // when the step that runs began, nanoseconds after epoch; 0: none runs
	current atomic.Pointer[match]

	mu    sync.Mutex
	fresh []*match // handed over, and not taken yet

	mine []*match // the worker's alone
}

func newWorker() *worker { return &worker{wake: make(chan struct{}, 1)} }

// take hands a match to the worker.
func (w *worker) take(m *match) {
	w.load.Add(1)
	w.mu.Lock()
	w.fresh = append(w.fresh, m)
	w.mu.Unlock()
	w.signal()
}

func (w *worker) signal() {
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

// run steps the matches that have a tick due or must look at their mail now. It returns when the
// next tick is due; the
// zero time where there is no match.
func (w *worker) run(h *Host, now time.Time) (next time.Time) {
	everyone := w.all.Swap(false)
	mine := w.members()
	kept, at := mine[:0], 0
	defer func() {
		if at < len(mine) { // the game ended the goroutine
			w.loses(h, mine, len(kept), at)
		}
	}()
	for ; at < len(mine); at++ {
		m := mine[at]
		due := m.next.IsZero() || !now.Before(m.next)
		there := true
		if due || everyone || m.port.hurry.Load() {
			if due && !m.next.IsZero() && now.Sub(m.next) > lateAfter {
				h.tally.late.Add(1)
			}
			h.tally.steps.Add(1)
			w.begins(m)
			pprof.SetGoroutineLabels(m.labels)
			there = m.run(h, now)
			pprof.SetGoroutineLabels(context.Background())
			w.ends()
		}
		switch {
		case !there:
			w.load.Add(-1)
			h.reap(m)
		case h.moved(m):
			w.load.Add(-1)
		default:
			kept = append(kept, m)
			if next.IsZero() || m.next.Before(next) {
				next = m.next
			}
		}
	}
	clear(mine[len(kept):])
	w.mine = kept
	return next
}

// loses forgets the match mine[at], whose step ended the worker's goroutine, and keeps those before
// it that were kept, and those behind it.
func (w *worker) loses(h *Host, mine []*match, kept, at int) {
	m := mine[at]
	pprof.SetGoroutineLabels(context.Background())
	w.ends()
	w.mine = append(mine[:kept], mine[at+1:]...)
	clear(mine[len(w.mine):])
	w.load.Add(-1)
	m.fail(h)
	h.reap(m)
}
