package host

import (
	"sync/atomic"
	"time"
)

// A host that is overloaded, or has a stuck match, is alive but not ready: a fleet sends its new
// matches elsewhere, but does not end the running ones.
const (
	// sliceOfLoad is the time over which ticks are judged together.
	sliceOfLoad = time.Second

	// unreadyAfter is how many slices in a row must be late before the host is not ready.
	unreadyAfter = 5

	// readyAfter is how many slices in a row must be in time before the host is ready again.
	readyAfter = 30

	// shortestTick and longestTick bound the estimate of a match's tick, which the host takes from the
	// times of the steps. Steps of an overloaded match do not show its tick; then longestTick counts.
	shortestTick = time.Second / 128
	longestTick  = time.Second / 10

	// roundsAfter is the least time without a finished round of any worker after which the host is not
	// alive. An idle worker finishes one round a second.
	roundsAfter = 2 * time.Second
)

// load judges how late ticks begin. One goroutine calls judgeSlices; any goroutine may call the other
// methods.
type load struct {
	due, behind atomic.Uint64 // ticks that began, and those that began more than a tick late
	round       atomic.Int64  // when a worker last finished a round
	unready     atomic.Bool

	// Only the goroutine that calls judgeSlices uses the fields below.
	begun bool          // next is set
	next  time.Duration // when the current slice ends
	// seen has the counters at the end of the last slice, last what that slice added to them.
	seen, last struct{ due, behind uint64 }
	late, calm int // late slices in a row, and slices in time in a row
}

// countTick counts a tick that begins late by some time.
func (l *load) countTick(late, tick time.Duration) {
	l.due.Add(1)
	if late > tick {
		l.behind.Add(1)
	}
}

// judgeSlices judges the slices that have ended at now, and reports whether readiness changed. A slice
// is late if more than one tick in a hundred began more than a tick late: the 99th percentile is above
// a tick.
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

// judgeLoad updates whether the host is ready, and logs each change.
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

// Live reports whether the host does its work. It returns false if no worker has finished a round for
// Config.Stall, or if every match is stuck. Restart the process then, and for no other reason: a
// restart loses every match that still runs. In Step's virtual time nothing measures that, and it
// returns true.
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

// Ready reports whether new matches should come here. It returns false while the host drains, is
// overloaded or has a stuck match. The host becomes overloaded when the 99th percentile of the ticks'
// delays was above a tick, or 100 ms, in each of the last 5 s. It recovers when that was not so in each
// of 30 s. A host that is not ready still makes the matches that it is asked for.
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
