package client

import (
	"cmp"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

const (
	guardSlack  = time.Second            // how far ahead of its time a snapshot may be
	guardBack   = 10 * time.Minute       // how far behind its time a snapshot may be
	guardSpan   = 8 * time.Second        // how long a lead is remembered, at least
	guardFollow = 250 * time.Millisecond // how long snapshots at a wrong time have to agree before they are believed
	guardAgree  = 3                      // how many of them have to agree
)

// tickGuard decides whether the server can have reached the tick of a snapshot. It estimates the
// server's tick from the tick of the Welcome, the snapshots since, and the time passed. Without it, a
// forged tick far in the future would stay the newest until the server reached it. A server that
// stalled is late, which is allowed.
type tickGuard struct {
	rate     float64       // ticks per second
	interval time.Duration // the time between snapshots
	recent   [5]sighting   // the newest snapshots; at first all are the Welcome
	at       int           // the index of the oldest in recent
	high     [2]sighting   // the greatest lead of this span, and of the one before
	since    time.Duration // when this span began
	odd      sighting      // the first snapshot at a wrong time
	odds     int           // how many snapshots agree with odd
}

// sighting is a tick, and the time at which it was seen.
type sighting struct {
	tick foretick.Tick
	at   time.Duration
}

// newTickGuard begins with the tick of a Welcome.
func newTickGuard(rate int, interval, now time.Duration, t foretick.Tick) tickGuard {
	g := tickGuard{rate: float64(rate), interval: interval}
	g.startFrom(sighting{t, now})
	return g
}

// startFrom forgets all sightings except one.
func (g *tickGuard) startFrom(s sighting) {
	for i := range g.recent {
		g.recent[i] = s
	}
	g.high, g.since, g.odds = [2]sighting{s, s}, s.at, 0
}

// ahead returns how many ticks a is ahead of the tick that the server of b has reached at the time of
// a.
func (g *tickGuard) ahead(a, b sighting) int64 {
	return int64(netcode.Distance(a.tick, b.tick)) - g.ticks(a.at-b.at)
}

func (g *tickGuard) ticks(d time.Duration) int64 { return int64(d.Seconds() * g.rate) }

// middle returns the median of the newest snapshots. Two forged ones do not move it.
func (g *tickGuard) middle(now time.Duration) sighting {
	sorted, here := g.recent, sighting{g.recent[0].tick, now}
	slices.SortFunc(sorted[:], func(a, b sighting) int { return cmp.Compare(g.ahead(here, a), g.ahead(here, b)) })
	return sorted[len(sorted)/2]
}

// inTime reports whether a server with the newest snapshots can have reached the tick of a sighting.
func (g *tickGuard) inTime(s sighting) bool {
	middle := g.ahead(s, g.middle(s.at))
	least := min(middle, g.ahead(s, g.high[0]), g.ahead(s, g.high[1]))
	return least <= g.slack() && middle >= -g.ticks(guardBack)
}

func (g *tickGuard) slack() int64 { return g.ticks(guardSlack + g.interval) }

// allow reports whether a snapshot of tick t may be read now. It also allows the last of three in a row
// that agree for a while, because then the server, or the client's clock, really jumped.
func (g *tickGuard) allow(now time.Duration, t foretick.Tick) bool {
	s := sighting{t, now}
	if g.inTime(s) {
		g.odds = 0
		return true
	}
	if off := g.ahead(s, g.odd); g.odds == 0 || max(off, -off) > g.slack() {
		g.odd, g.odds = s, 1
		return false
	}
	g.odds++
	if g.odds < guardAgree || now-g.odd.at < max(guardFollow, 2*g.interval) {
		return false
	}
	g.startFrom(s)
	return true
}

// noteSnapshot records a snapshot that was read.
func (g *tickGuard) noteSnapshot(now time.Duration, t foretick.Tick) {
	g.recent[g.at] = sighting{t, now}
	g.at = (g.at + 1) % len(g.recent)
	middle := g.middle(now)
	if now-g.since >= guardSpan {
		g.high[1], g.high[0], g.since = g.high[0], middle, now
	} else if g.ahead(middle, g.high[0]) > 0 {
		g.high[0] = middle
	}
}

// decoded ends the reading of the server's bytes. A later panic is the game's and is not recovered.
func (l *link) decoded() { l.decoding = false }

// guard ends the connection if reading a packet panicked, which should never happen. The
// game continues. A debug build panics again. It must be deferred directly.
func (l *link) guard(packet []byte) {
	if !l.decoding {
		return
	}
	l.decoding = false
	if game.DebugBuild {
		return
	}
	v := recover()
	if v == nil {
		return
	}
	l.stats.CorePanics++
	guard.LogPanic(l.cfg.Logger, v, packet)
	l.endpoint.Disconnect(l.peer, transport.Malformed, "")
	l.endConnection(&transport.DisconnectError{Code: transport.Malformed, Reason: guard.Unreadable})
}

// mostUsed is the share of the world's hard limits that a server's data may use. The rest is for one
// more Step, since no message adds more sets than it has bits.
const mostUsed = 0.75

const crowdedReason = "the server's entities have more combinations of components and owners than a client can hold"

// leaveCrowded ends the connection to a server whose entities filled the world.
func (l *link) leaveCrowded() {
	l.stats.Malformed++
	l.endpoint.Disconnect(l.peer, transport.Malformed, "")
	l.endConnection(&transport.DisconnectError{Code: transport.Malformed, Reason: crowdedReason})
}
