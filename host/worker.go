package host

import (
	"context"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// worker owns some of the matches. Its goroutine steps them.
type worker struct {
	wake chan struct{}
	all  atomic.Bool  // step every match once, whether anything is due or not
	load atomic.Int64 // number of matches

	// Host.watchWorkers reads these fields.
	number atomic.Uint64 // number of the worker's goroutine; 0 in virtual time, where watchWorkers does not run
	busy   atomic.Int64  // nanoseconds spent in rounds
	// since is when the running step began, in the time of Host.elapsed. It is 0 if no step runs, and
	// taken if the watch took the list of matches during the step.
	since   atomic.Int64
	current atomic.Pointer[match] // the match that was stepped last
	counted int64                 // the value of busy at the last balance

	mu    sync.Mutex
	fresh []*match // matches handed over and not yet in mine

	// mine are the worker's matches. The worker's goroutine owns the list, except during a step: see
	// hang.go.
	mine []*match
	last int64 // the newest value of since; only the goroutine uses it

	// The host's lock guards these.
	hang *hang         // the running step, if the watch took it
	lone bool          // the worker has one match and gets no other
	left bool          // Run does not wait for its goroutine
	calm time.Duration // when the match was last busy: a hang ended, or it took over a quarter of the time

	// over is set by the goroutine when its match was given up. The goroutine then ends.
	over bool
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

// members returns the worker's matches, including those just handed over.
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

// runMatches steps the matches that have a tick due or must read their inboxes now. It returns when the
// next tick is due, or the zero time if there is no match.
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
			if i >= len(w.mine) || w.mine[i] != m { // the watch took the other matches
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

// stepMatch steps a match, and reports whether it goes on. If the game ends the goroutine, stepMatch
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

// begins records that a step of a match begins. In virtual time it does nothing, since watchWorkers
// does not run there.
func (w *worker) begins(h *Host, m *match) {
	if w.number.Load() != 0 {
		w.current.Store(m)
		w.last = max(w.last+1, int64(h.elapsed())) // no two steps may have the same value
		w.since.Store(w.last)
	}
}
