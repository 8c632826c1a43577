package host

import (
	"sync/atomic"
	"time"
)

// A host that is overloaded, or of which a match is stuck, is alive but not ready: a fleet sends
// its new matches elsewhere, and nobody ends those that run.
const (
	// sliceOfLoad is the time over which ticks are judged together.
	sliceOfLoad = time.Second

	// unreadyAfter is how many slices in a row must be late before the host is not ready.
	unreadyAfter = 5

	// readyAfter is how many in a row must be in time before it is ready again.
	readyAfter = 30

	// shortestTick and longestTick bound what the host takes for the tick of a match. It sees the
	// steps alone: those of an overloaded match do not tell its tick, and longestTick then counts.
	shortestTick = time.Second / 128
	longestTick  = time.Second / 10

	// roundsAfter is the least time without a round of any worker after which the host is not alive.
	// A worker with nothing to do makes one a second.
	roundsAfter = 2 * time.Second
)

// load judges how late ticks begin. One goroutine calls judgeSlices, any may call the rest.
type load struct {
	due, behind atomic.Uint64 // ticks that began, and those of them that began more than a tick late
	round       atomic.Int64  // when a worker finished a round
	unready     atomic.Bool

	// These are of the goroutine that calls judgeSlices.
	begun      bool
	next       time.Duration // when the slice ends
	seen, last struct{ due, behind uint64 }
	late, calm int // slices in a row
}

// countTick counts a tick that begins late by some time.
func (l *load) countTick(late, tick time.Duration) {
	l.due.Add(1)
	if late > tick {
		l.behind.Add(1)
	}
}

// judgeSlices looks at the slices that have ended at now, and reports whether readiness changed. The 99th
// percentile of the ticks' delays is above a tick if more than one in a hundred is.
func (l *load) judgeSlices(now time.Duration, stuck bool) (changed bool) {
	if !l.begun {
		l.begun, l.next = true, now+sliceOfLoad
	}
	was := l.unready.Load()
	if stuck {
		l.late, l.calm = unreadyAfter, 0
	}
	if now >= l.next {
		due, behind := l.due.Load(), l.behind.Load()
		l.last.due, l.last.behind = due-l.seen.due, behind-l.seen.behind
		l.seen.due, l.seen.behind, l.next = due, behind, now+sliceOfLoad
		switch {
		case 100*l.last.behind > l.last.due:
			l.late, l.calm = l.late+1, 0
		case !stuck:
			l.late, l.calm = 0, l.calm+1
		}
	}
	if l.late >= unreadyAfter {
		l.unready.Store(true)
	} else if l.calm >= readyAfter {
		l.unready.Store(false)
	}
	return l.unready.Load() != was
}

// judgeLoad takes readiness from the host, or gives it back, and logs each change.
func (h *Host) judgeLoad(now time.Duration) {
	stuck := h.tally.stuck.Load()
	if !h.load.judgeSlices(now, stuck > 0) {
		return
	}
	line := []any{"ticks", h.load.last.due, "late", h.load.last.behind, "stuck", stuck, "matches", h.tally.matches.Load()}
	if h.load.unready.Load() {
		why := "the host is not ready: it is overloaded"
		if stuck > 0 {
			why = "the host is not ready: a match is stuck"
		}
		h.cfg.Logger.Warn(why, line...)
		return
	}
	h.cfg.Logger.Info("the host is ready again", line...)
}

// Live reports whether the host does its work: false where no worker finishes a step, for
// Config.Stall. Restart the process then, and for no other reason: each match that still runs would
// be lost. Where nobody watches, in Step's virtual time, it is true.
func (h *Host) Live() bool {
	matches, round := h.tally.matches.Load(), h.load.round.Load()
	if matches == 0 || round == 0 {
		return true
	}
	if h.tally.stuck.Load() >= matches {
		return false
	}
	return h.elapsed()-time.Duration(round) <= max(h.cfg.Stall, roundsAfter)
}

// Ready reports whether new matches should come here: false while the host drains, is overloaded
// or has a stuck match. The host is overloaded when the 99th percentile of the delays
// of ticks was above a tick, or 100 ms, in each of 5 s, until it was below in each of 30 s. A host
// that is not ready still makes the matches that it is asked for.
func (h *Host) Ready() bool { return !h.Draining() && !h.load.unready.Load() }

// Free returns how many more matches and players should come here: none while Ready reports false.
// Of players, -1 means no limit.
func (h *Host) Free() (matches, players int) {
	if !h.Ready() {
		return 0, 0
	}
	matches = max(h.cfg.MaxMatches-int(h.tally.matches.Load()+h.tally.lost.Load()), 0)
	if h.cfg.MaxPlayers == 0 {
		return matches, -1
	}
	return matches, max(h.cfg.MaxPlayers-int(h.tally.players.Load()), 0)
}
