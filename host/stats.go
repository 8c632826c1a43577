package host

import (
	"iter"
	"sync/atomic"

	"github.com/foretick/foretick/internal/counts"
)

// Stats has the counts of a host's work.
type Stats struct {
	Matches  int    // running matches
	Players  int    // peers in running matches
	Made     uint64 // matches ever begun
	Ended    uint64 // matches that ended, for whatever reason
	Panicked uint64 // matches that a panic ended
	Refused  uint64 // peers refused, for whatever reason: the sum of Refusals
	Dropped  uint64 // datagrams dropped because an inbox was full, or because a step of the match hung
	Moves    uint64 // matches that changed their worker
	Steps    uint64 // steps of matches
	Late     uint64 // ticks that began more than 5 ms late
	// Stalls counts steps that ran for more than 250 ms. The worker's other matches then moved away.
	Stalls uint64
	Stuck  int // matches that have been in one step for longer than Config.Stall
	// Abandoned counts matches that were given up after Config.Abandon.
	Abandoned uint64
	Lost      int // matches that were given up and whose step still runs: each takes a place of MaxMatches
	// Behind counts ticks that began more than a tick after they were due.
	Behind uint64
	// Unready is set while overload or a stuck match takes the host's readiness: see Host.Ready.
	Unready bool
	// HookPanics counts panics in Config.Match, Kind and OnEnd. One in Match or Kind refused a peer, or
	// failed a call of Allocate.
	HookPanics uint64

	Refusals ByRefusal // refused peers, by Refusal
}

// String returns the counters that are not zero as one line for a log.
func (s Stats) String() string { return counts.Line(s) }

// Refusal is why a host refused a peer. A match has reasons of its own: see stats.Refusal.
type Refusal uint8

// The reasons of a host.
const (
	RefusedUnnamed  Refusal = iota // Config.Match returned an error: usually the ticket names no match
	RefusedNoMatch                 // there is no such match, and the peer may not make it
	RefusedFull                    // a limit of players, matches or the heap is reached, or the match is full or over
	RefusedDraining                // the peer asked for a new match while the host drains
	RefusedTwice                   // Config.Same refuses a second connection of the identity
	refusals
)

var refusalNames = [refusals]string{"unnamed", "no_match", "full", "draining", "twice"}

// String returns the reason in small letters, as figures name it.
func (r Refusal) String() string {
	if r < refusals {
		return refusalNames[r]
	}
	return "unknown"
}

// ByRefusal counts refused peers by Refusal. The zero value has counted nothing.
type ByRefusal struct{ n [refusals]uint64 }

// Of returns how many peers were refused for r.
func (b ByRefusal) Of(r Refusal) uint64 { return counts.Of(b.n[:], r) }

// All returns the count of each reason, in their order, zeros included.
func (b ByRefusal) All() iter.Seq2[Refusal, uint64] { return counts.All[Refusal](b.n[:]) }

// String returns the counts that are not zero, such as "full 3, twice 1", or "none".
func (b ByRefusal) String() string { return counts.Named[Refusal](b.n[:]) }

// tally is what Stats reads. No lock guards it, so that no reader keeps a tick waiting.
type tally struct {
	matches, players, stuck, lost                      atomic.Int64
	made, ended, panicked, dropped, moves, steps, late atomic.Uint64
	hookPanics, stalls, abandoned                      atomic.Uint64
	refused                                            [refusals]atomic.Uint64
}

// Stats returns the counters so far. Any goroutine may call it, as often as it likes: no tick
// waits for it.
func (h *Host) Stats() (st Stats) {
	t := &h.tally
	st = Stats{
		Matches: int(t.matches.Load()), Players: int(t.players.Load()), Made: t.made.Load(), Ended: t.ended.Load(),
		Panicked: t.panicked.Load(), Dropped: t.dropped.Load(), Moves: t.moves.Load(), Steps: t.steps.Load(), Late: t.late.Load(), HookPanics: t.hookPanics.Load(),
		Stalls: t.stalls.Load(), Stuck: int(t.stuck.Load()), Abandoned: t.abandoned.Load(), Lost: int(t.lost.Load()),
		Behind: h.load.behind.Load(), Unready: h.load.unready.Load(),
	}
	for i := range t.refused {
		st.Refusals.n[i] = t.refused[i].Load()
		st.Refused += st.Refusals.n[i]
	}
	return st
}
