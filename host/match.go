package host

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick/internal/contain"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
)

// match is one match of a host. Fields without a lock of their own belong to the match's worker.
type match struct {
	name    string
	kind    string          // guarded by the host's lock until the match begins, then fixed
	labels  context.Context // for profiles
	port    *port
	server  Match                  // nil until NewMatch returned it
	tape    taped                  // the server's recorder; nil if it has none
	made    atomic.Pointer[Match]  // points to server, for Drain and Figures
	home    *worker                // guarded by the host's lock
	target  atomic.Pointer[worker] // the worker that the match moves to after its step; nil if it stays
	next    time.Time              // when its next tick is due
	tick    time.Duration          // estimated time between two ticks
	ended   *End                   // how the match failed; nil if it did not
	asked   bool                   // Shutdown was called
	busy    atomic.Int64           // nanoseconds spent in the match's steps
	slow    bool                   // logged as slow; guarded by the host's lock
	reaped  bool                   // reap was called; guarded by the host's lock
	lost    *End                   // set when the match is given up; guarded by the host's lock
	weighed time.Duration          // the value of busy when the watch last weighed the match
}

// runMatch steps a match, and reports whether it goes on.
func (m *match) runMatch(h *Host, now time.Time) bool {
	if m.server == nil && !m.make(h) {
		return false
	}
	if s := h.stops.Load(); s != nil && !m.asked {
		m.asked = true
		m.guard(func() { _ = m.server.Shutdown(s.reason, s.linger) })
	}
	m.guard(func() {
		m.server.Step(now)
		next := m.server.Next()
		if d := next.Sub(m.next); !m.next.IsZero() && d > 0 { // the time of one tick, if the step was in time
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
	contain.Call(func() { _ = m.server.Close("the match failed") }) // Close may end the goroutine again
	_ = m.port.Close(0, "the match failed")                         // in case the server's Close failed
}

// make makes the server or relay of a match.
func (m *match) make(h *Host) bool {
	var err error
	m.guard(func() { err = m.callNewMatch(h) })
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

// callNewMatch sets m.server to what Config.NewMatch returned.
func (m *match) callNewMatch(h *Host) (err error) {
	made, err := h.cfg.NewMatch(m.name, m.port)
	if missing(made) {
		return err
	}
	m.server = made
	if srv, ok := made.(*server.Server); ok {
		m.tape, _ = probe.OfServer(srv).Recorder().(taped)
	}
	return err
}

// guard calls a function of the game. It records a panic in m.ended. A function that calls
// runtime.Goexit also ends the worker's goroutine; Host.work then begins another.
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

// moved hands a match to its target worker, if it has one, and reports whether it moved. Call it
// between two steps.
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
	_ = m.port.Close(transport.Closed, "") // if NewMatch or Close failed
	h.mu.Lock()
	if m.reaped {
		h.mu.Unlock()
		return
	}
	m.reaped = true
	end := End{Match: m.name}
	switch {
	case m.lost != nil: // the step still runs and may write m.ended
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
		if m.tape != nil {
			h.aside(func() { h.report(m, end) })
			return
		}
	}
	h.report(m, end)
}
