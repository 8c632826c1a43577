package host

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick/internal/contain"
	"github.com/foretick/foretick/transport"
)

// match is one match. Its worker owns what has no lock of its own.
type match struct {
	name    string
	kind    string          // guarded by the host's lock until it begins, then fixed
	labels  context.Context // for profiles
	port    *port
	server  Server                 // nil: not made yet
	made    atomic.Pointer[Server] // the same, for Drain
	home    *worker                // guarded by the host's lock
	target  atomic.Pointer[worker] // where it moves to after its step
	next    time.Time              // when a tick is due
	tick    time.Duration          // between two ticks, as seen
	ended   *End
	asked   bool          // to shut down
	busy    atomic.Int64  // nanoseconds spent in its steps
	slow    bool          // logged as slow; guarded by the host's lock
	reaped  bool          // guarded by the host's lock
	lost    *End          // of a match that was given up; guarded by the host's lock
	weighed time.Duration // what the watch has seen of busy
}

// runMatch steps a match, and reports whether it is still there.
func (m *match) runMatch(h *Host, now time.Time) bool {
	if m.server == nil && !m.make(h) {
		return false
	}
	if reason := h.stops.Load(); reason != nil && !m.asked {
		m.asked = true
		m.guard(func() { _ = m.server.Shutdown(*reason, h.cfg.Linger) })
	}
	m.guard(func() {
		m.server.Step(now)
		next := m.server.Next()
		if d := next.Sub(m.next); !m.next.IsZero() && d > 0 { // one tick, if the step was in time
			m.tick = min(m.tick, max(d, shortestTick))
		}
		m.next = next
	})
	if m.ended != nil && m.ended.Panic != nil {
		m.closeFailed(h)
		return false
	}
	return !m.port.isClosed()
}

// closeFailed closes a match whose game panicked.
func (m *match) closeFailed(h *Host) {
	if m.server == nil {
		h.cfg.Logger.Error("a match could not be made", "match", m.name, "err", m.ended.Err, "panic", m.ended.Panic)
		_ = m.port.Close(codeRefused, "the match could not be made")
		return
	}
	contain.Call(func() { _ = m.server.Close("the match failed") }) // which may end its goroutine again
	_ = m.port.Close(0, "the match failed")                         // in case Close failed too
}

// make makes the server of a match.
func (m *match) make(h *Host) bool {
	var err error
	m.guard(func() { m.server, err = h.cfg.NewMatch(m.name, m.port) })
	switch {
	case m.ended != nil:
	case err != nil:
		m.ended = &End{Match: m.name, Err: err}
	case m.server == nil:
		m.ended = &End{Match: m.name, Err: errNoServer}
	default:
		m.made.Store(&m.server)
		m.tick = longestTick
		if reason := h.drains.Load(); reason != nil {
			m.server.Drain(*reason)
		}
		return true
	}
	m.server = nil
	m.closeFailed(h)
	return false
}

// guard calls a function of the game, and keeps its panic. A function that calls runtime.Goexit
// ends the worker's goroutine too, which begins another: see Host.work.
func (m *match) guard(fn func()) {
	returned := false
	defer func() {
		if !returned {
			m.ended = &End{Match: m.name, Panic: contain.Recovered(recover()), Stack: debug.Stack()}
		}
	}()
	fn()
	returned = true
}

// moved hands a match over to the worker that it is to move to, between two steps.
func (h *Host) moved(m *match) bool {
	if m.target.Load() == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	to := m.target.Swap(nil)
	if to == m.home {
		return false
	}
	m.home = to
	m.slow = m.slow && to.lone
	h.tally.moves.Add(1)
	to.takeMatch(m)
	if to.lone {
		h.loners = append(h.loners, to)
		h.start(to)
	}
	return true
}

// reap forgets a match that has ended. Only the first call for a match does anything.
func (h *Host) reap(m *match) {
	_ = m.port.Close(transport.Closed, "") // where NewMatch or Close failed
	h.mu.Lock()
	if m.reaped {
		h.mu.Unlock()
		return
	}
	m.reaped = true
	end := End{Match: m.name}
	switch {
	case m.lost != nil: // the rest is its goroutine's
		end = *m.lost
	case m.ended != nil:
		end = *m.ended
	}
	if h.matches[m.name] == m {
		delete(h.matches, m.name)
		h.strike(m)
	}
	h.tally.matches.Store(int64(len(h.matches)))
	h.tally.ended.Add(1)
	if end.Panic != nil {
		h.tally.panicked.Add(1)
	}
	h.mu.Unlock()
	if end.Panic != nil {
		if _, ok := m.server.(taped); ok {
			h.aside(func() { h.report(m, end) })
			return
		}
	}
	h.report(m, end)
}
