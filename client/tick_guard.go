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
	guardBack   = 10 * time.Minute       // how far behind
	guardSpan   = 8 * time.Second        // how long a lead is remembered, at least
	guardFollow = 250 * time.Millisecond // how long snapshots out of time agree before they are followed
	guardAgree  = 3                      // and how many of them
)

// tickGuard judges whether the server can have reached the tick of a snapshot. It estimates
// the server's tick from the tick of the Welcome, the snapshots since, and the time passed.
// Without it, one forged tick far ahead would stay the newest until the server reaches it.
// A server that stalled is late, which is allowed.
type tickGuard struct {
	rate     float64       // rate is the ticks a second.
	interval time.Duration // interval is the time between snapshots.
	recent   [5]sighting   // recent are the newest snapshots. At first all are the Welcome.
	at       int           // at is the place of the oldest in recent.
	high     [2]sighting   // high has the greatest lead of this span and of the one before.
	since    time.Duration // since is when this span began.
	odd      sighting      // odd is the first snapshot out of time.
	odds     int           // odds is how many snapshots agree with odd.
}

// sighting is a tick, and when it was seen.
type sighting struct {
	tick foretick.Tick
	at   time.Duration
}

// newTickGuard starts with the tick of a Welcome.
func newTickGuard(rate int, interval, now time.Duration, t foretick.Tick) tickGuard {
	g := tickGuard{rate: float64(rate), interval: interval}
	g.startFrom(sighting{t, now})
	return g
}

// startFrom forgets all but one sighting.
func (g *tickGuard) startFrom(s sighting) {
	for i := range g.recent {
		g.recent[i] = s
	}
	g.high, g.since, g.odds = [2]sighting{s, s}, s.at, 0
}

// ahead returns the number of ticks by which a is ahead of the tick that b's server has
// reached by then.
func (g *tickGuard) ahead(a, b sighting) int64 {
	return int64(netcode.Distance(a.tick, b.tick)) - g.ticks(a.at-b.at)
}

func (g *tickGuard) ticks(d time.Duration) int64 { return int64(d.Seconds() * g.rate) }

// middle is the median of the newest snapshots: two forged ones do not move it.
func (g *tickGuard) middle(now time.Duration) sighting {
	sorted, here := g.recent, sighting{g.recent[0].tick, now}
	slices.SortFunc(sorted[:], func(a, b sighting) int { return cmp.Compare(g.ahead(here, a), g.ahead(here, b)) })
	return sorted[len(sorted)/2]
}

// inTime reports whether a server that the newest snapshots speak of can have
// reached tick t.
func (g *tickGuard) inTime(s sighting) bool {
	middle := g.ahead(s, g.middle(s.at))
	least := min(middle, g.ahead(s, g.high[0]), g.ahead(s, g.high[1]))
	return least <= g.slack() && middle >= -g.ticks(guardBack)
}

func (g *tickGuard) slack() int64 { return g.ticks(guardSlack + g.interval) }

// allow reports whether a snapshot of tick t may be read now. It also allows the
// last of three in a row that agree for a while: the server, or the client's clock,
// really jumped.
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

// decoded ends the reading of the server's bytes. A panic after this call is the game's and
// is not recovered.
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
	l.endConnection(&transport.DisconnectError{Code: transport.Malformed, Detail: guard.Unreadable})
}

// mostUsed is the share of the world's hard limits that a server's data may use. The rest
// is for one more Step: no message adds more sets than it has bits.
const mostUsed = 0.75

const crowdedDetail = "the server's entities have more combinations of components and owners than a client can hold"

// leaveCrowded ends the connection to a server that filled the world.
func (l *link) leaveCrowded() {
	l.stats.Malformed++
	l.endpoint.Disconnect(l.peer, transport.Malformed, "")
	l.endConnection(&transport.DisconnectError{Code: transport.Malformed, Detail: crowdedDetail})
}
