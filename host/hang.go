package host

import (
	"errors"
	"slices"
	"time"

	"github.com/foretick/foretick/internal/contain"
)

// ErrStuck is the error of a match that was given up, because a step of it did not end in
// Config.Abandon. See [End].
var ErrStuck = errors.New("host: a step of the match did not end")

// The deadlines of a step that does not end. They count from the step's start:
//
//  1. hungAfter: the worker keeps this match alone, and the match's port keeps only the newest datagrams.
//  2. Config.Stall: the match counts as stuck, and one log line has its stack.
//  3. Config.Abandon: the match is over for its players and for the host. Its players are disconnected.
//
// A worker's goroutine owns the worker's list of matches, except while a step runs. Then the watch
// (Host.watchWorkers) may take the list: both sides swap worker.since, and the first to swap wins. A
// goroutine that loses finds a list of one match, the one that it steps, and goes on as the worker of
// that match alone.
const (
	hungAfter = 250 * time.Millisecond

	// weighEvery is the time between two checks of how much of its worker's time each match takes.
	weighEvery = 500 * time.Millisecond

	// calmAfter is the time after which a match with its own worker shares a worker again. In all of it
	// no step may have hung, and the match may have taken at most a quarter of the worker's time.
	calmAfter = 10 * time.Second

	// endGrace is the time that the host waits beyond the linger of Shutdown for steps that hang. Then it gives
	// them up.
	endGrace = time.Second
)

// taken is the value of worker.since after the watch took the worker's list during a step that hangs.
const taken = -1

// hang is a step that has run for longer than hungAfter. The host's lock guards it.
type hang struct {
	worker    *worker
	match     *match
	began     time.Duration
	told      bool
	abandoned bool
}

// lookForHangs checks the steps that run at now, in the time that Host.elapsed returns.
func (h *Host) lookForHangs(now time.Duration) {
	var told, lost []*hang
	h.mu.Lock()
	for _, w := range slices.Concat(h.workers, h.loners) {
		if since := w.since.Load(); since > 0 && now-time.Duration(since) >= hungAfter {
			h.seize(w, since)
		}
	}
	abandonAfter := h.abandonAfter(now)
	stuck := 0
	for _, g := range h.hangs {
		switch took := now - g.began; {
		case took >= abandonAfter:
			lost = append(lost, g)
		case took >= h.cfg.Stall:
			stuck++
			if !g.told {
				g.told = true
				told = append(told, g)
			}
		}
	}
	for _, g := range lost {
		h.giveUp(g)
	}
	h.tally.stuck.Store(int64(stuck))
	var slow []*match
	if passed := now - h.weighed; passed >= weighEvery {
		slow, h.weighed = h.weigh(now, passed), now
	}
	h.mu.Unlock()
	for _, g := range told {
		h.cfg.Logger.Error("a step of a match does not end", "match", g.match.name, "since", now-g.began, "stack", stackOf(g.worker.number.Load()))
	}
	for _, g := range lost {
		h.bury(g, now)
	}
	for _, m := range slow {
		h.logSlow(m, "over half of its worker's time")
	}
}

// abandonAfter returns the time after which a step is given up. The host is locked.
func (h *Host) abandonAfter(now time.Duration) time.Duration {
	limit := max(h.cfg.Abandon, h.cfg.Stall)
	stop := h.stops.Load()
	if stop == nil {
		return limit
	}
	if h.stopped == 0 {
		h.stopped = max(now, 1)
	}
	patience := min(max(stop.linger, 0), longest) + endGrace
	if now-h.stopped < patience {
		return limit
	}
	return min(limit, patience)
}

// seize moves the worker's other matches to a new worker while one match's step hangs. The host is
// locked.
func (h *Host) seize(w *worker, since int64) {
	m := w.current.Load()
	if !w.since.CompareAndSwap(since, taken) {
		return // the step has just ended
	}
	m.port.hold()
	h.tally.stalls.Add(1)
	w.hang = &hang{worker: w, match: m, began: time.Duration(since)}
	h.hangs = append(h.hangs, w.hang)
	if w.lone {
		m.target.Store(nil)
		return
	}
	w.lone = true
	h.loners = append(h.loners, w)
	other := newWorker()
	other.mine = slices.DeleteFunc(slices.Clone(w.members()), func(o *match) bool { return o == m })
	w.mine = []*match{m}
	w.load.Store(1)
	for _, o := range other.mine {
		o.home = other
	}
	for _, o := range h.matches {
		o.target.CompareAndSwap(w, other)
	}
	other.load.Store(int64(len(other.mine)))
	h.workers[slices.Index(h.workers, w)] = other
	h.start(other)
}

// wakes ends a hang: its step has ended after the watch took the worker's list. The worker's goroutine
// calls it.
func (h *Host) wakes(w *worker) {
	now := h.elapsed()
	h.mu.Lock()
	g := w.hang
	w.hang, w.calm = nil, now
	w.over = g.abandoned
	w.since.Store(0)
	m := g.match
	first := !m.slow
	m.slow = true
	if g.abandoned {
		h.lost--
		h.tally.lost.Store(int64(h.lost))
	} else {
		h.dropHang(g)
		m.port.releaseHeld()
	}
	h.mu.Unlock()
	took := now - g.began
	switch {
	case g.abandoned:
		if m.server != nil {
			contain.Call(func() { _ = m.server.Close("the match hung") })
		}
		line := []any{"match", m.name, "took", took}
		if m.ended != nil {
			line = append(line, "value", m.ended.Panic, "stack", string(m.ended.Stack))
		}
		h.cfg.Logger.Warn("a match that was given up has ended", line...)
	case g.told:
		h.cfg.Logger.Warn("a step of a match has ended: the match goes on", "match", m.name, "took", took)
	case first:
		h.logSlow(m, took)
	}
}

// logSlow logs that a match has got a worker of its own. took is the time that it took.
func (h *Host) logSlow(m *match, took any) {
	h.cfg.Logger.Warn("a match is slow: it runs on a worker of its own", "match", m.name, "took", took)
}

// dropHang removes a hang from the list. The host is locked.
func (h *Host) dropHang(g *hang) {
	h.hangs = slices.DeleteFunc(h.hangs, func(o *hang) bool { return o == g })
}

// giveUp makes the host no longer wait for the goroutine of a step that hangs. The host is locked.
func (h *Host) giveUp(g *hang) {
	g.abandoned = true
	g.match.lost = &End{Match: g.match.name, Err: ErrStuck, Stack: []byte(stackOf(g.worker.number.Load()))}
	h.dropHang(g)
	h.loners = slices.DeleteFunc(h.loners, func(w *worker) bool { return w == g.worker })
	h.lost++
	h.tally.lost.Store(int64(h.lost))
	h.tally.abandoned.Add(1)
	g.worker.left = true
	h.running.Done()
}

// bury ends a match that was given up: it disconnects the players and removes the match from the host.
func (h *Host) bury(g *hang, now time.Duration) {
	line := []any{"match", g.match.name, "since", now - g.began}
	if !g.told { // only one of the two log lines has the stack
		line = append(line, "stack", string(g.match.lost.Stack))
	}
	h.cfg.Logger.Error("a match is given up: its place is lost until its step ends", line...)
	_ = g.match.port.Close(0, "the match does not respond")
	h.aside(func() { h.reap(g.match) })
}

// weigh moves each match that took over half of its worker's time to a worker of its own, and returns
// these matches. It also moves calm matches back to shared workers. The host is locked.
func (h *Host) weigh(now, passed time.Duration) (slow []*match) {
	for _, m := range h.matches {
		busy := time.Duration(m.busy.Load())
		took := busy - m.weighed
		m.weighed = busy
		switch w := m.home; {
		case w.lone && took > passed/4:
			w.calm = now
		case !w.lone && took > passed/2 && w.load.Load() > 1:
			if own := (&worker{wake: make(chan struct{}, 1), lone: true, calm: now}); m.target.CompareAndSwap(nil, own) && !m.slow {
				m.slow = true
				slow = append(slow, m)
			}
		}
	}
	h.bringBack(now)
	return slow
}

// bringBack moves matches that have been calm for calmAfter back to shared workers. The host is locked.
func (h *Host) bringBack(now time.Duration) {
	for _, w := range h.loners {
		if w.hang == nil && now-w.calm >= calmAfter && len(h.workers) > 0 {
			if m := w.current.Load(); m != nil && m.home == w && m.target.CompareAndSwap(nil, h.leastLoaded()) {
				w.wakeUp()
			}
		}
	}
}
