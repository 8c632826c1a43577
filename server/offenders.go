package server

import (
	"errors"
	"slices"
	"time"

	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// offenders drops the peers that break a rule which no honest client breaks.
type offenders struct {
	sessions   *sessions
	departures *departures
	stats      *stats.Counters
	logs       *peerLog
	clock      *matchClock
	tickRate   int
	// timeout is Config.Timeout.
	timeout time.Duration
}

// breaksRules reports whether a peer has done too often what no honest client does.
func (o *offenders) breaksRules(p *player) bool {
	c, rate := &p.faults, o.tickRate
	took := max(faultWindow, o.clock.now-c.window) // longer if the server was suspended
	switch {
	case c.packets > int(packetsTick*took/o.clock.interval)+packetsSpare:
		c.why = "more packets than there are ticks"
	case p.far()-min(c.far, p.far()) > uint64(farPerTick*rate):
		c.why = "commands for a distant future"
	case c.faults <= maxFaults:
		return false
	}
	return true
}

// answerFaults ends the connection of a peer that breaks the rules. It reports whether it did.
func (o *offenders) answerFaults(p *player) bool {
	if o.sessions.byPeer[p.session.peer] != p || !o.breaksRules(p) {
		return false
	}
	o.dropOffender(p)
	return true
}

// dropOffender ends the connection of a peer that broke a rule.
func (o *offenders) dropOffender(p *player) {
	o.stats.Offenders++
	o.logs.abuse("dropped: broke the rules", p, "why", p.faults.why)
	o.departures.dropPeer(p, transport.Protocol, p.faults.why)
}

// withholds reports whether a peer withholds acknowledgements: of everything, of snapshots, or
// of one part of a message.
func (o *offenders) withholds(p *player, t time.Duration) (string, bool) {
	switch {
	case min(t-p.faults.news, p.session.conn.Unanswered(t)) > o.timeout:
		return "acknowledges nothing", true
	case p.faults.blank.on(t, o.timeout, p.outbox.every):
		return "acknowledges no snapshot", true
	case p.session.conn.Withheld(t) > o.timeout:
		return "withholds an acknowledgement", true
	}
	return "", false
}

// dropMute drops a peer that withholds acknowledgements. It reports whether it did.
func (o *offenders) dropMute(p *player, t time.Duration) bool {
	why, is := o.withholds(p, t)
	if is {
		o.logs.abuse("dropped: silent in what counts", p, "why", why)
		o.departures.dropPeer(p, transport.Timeout, why)
	}
	return is
}

// dropSilent drops the peers that are silent for too long, or do not send what they must. It runs after
// the received datagrams were read. A peer that was silent while the server was suspended has its full
// time again.
func (o *offenders) dropSilent(t time.Duration) {
	rested := o.clock.rested(o.timeout)
	for _, p := range slices.Backward(o.sessions.players) {
		if p.session.state == local {
			continue
		}
		if o.clock.fetches(p, t, o.timeout) {
			p.session.since = t
		}
		switch {
		case p.session.state == away:
			if o.clock.lasted(t, p.session.since) > p.session.hold {
				o.departures.giveUpPlace(p, transport.Timeout, "did not come back in time")
			}
		case rested && p.session.conn.Silent(t) > o.timeout:
			o.departures.dropPeer(p, transport.Timeout, "silent for too long")
		case rested && (p.session.state == playing || p.session.state == watching) && o.dropMute(p, t):
		case p.session.state == greeting && o.clock.lasted(t, p.session.since) > greetingTime:
			o.logs.abuse("dropped: said no hello", p)
			o.departures.dropPeer(p, transport.Timeout, "said no hello")
		case p.session.state == refusing && p.knowsAll(t, o.clock):
			o.departures.dropPeer(p, p.session.kickCode, p.session.kickText)
		}
	}
}

// dropPoisoned ends the connection of a peer whose state can no longer be trusted.
func (o *offenders) dropPoisoned(p *player) {
	o.departures.dropPeer(p, transport.Malformed, poisonedText)
}

// dropLapsed ends the connection of a player that lapsed, and holds its place. A player that cannot
// have sent so many packets since its last one broke a rule.
func (o *offenders) dropLapsed(t time.Duration, p *player) {
	least := netcode.LongestSilence * o.clock.interval / packetsTick
	if p.outbox.levels <= mostLevels && p.session.conn.Silent(t) < least && o.clock.rested(guard.DefaultTimeout) {
		p.faults.why = "a sequence number that is far away"
		o.dropOffender(p)
		return
	}
	o.departures.dropPeer(p, transport.Timeout, game.Lapsed)
}

// Limits for a client. An honest client stays within them on any network: lost, duplicated, delayed and
// damaged packets never count against a peer.
const (
	faultWindow   = time.Second
	maxFaults     = 8   // how many a window may have before the connection ends
	mostMessages  = 16  // how many a packet may have; an honest one has at most six
	packetsTick   = 4   // how many packets a window may have for each of its ticks, besides packetsSpare
	packetsSpare  = 64  // how many packets a window may have besides those for its ticks
	farPerTick    = 100 // commands too far in the future in a window, for each tick of a second
	commandBodies = 1   // messages of commands in a packet

	mostBlank = 16          // how many snapshots in a row a network may lose while packets without one arrive
	distant   = time.Minute // an honest command is not so far ahead, unless the server was suspended
)

// peerFaults counts a peer's recent faults.
type peerFaults struct {
	window  time.Duration // when the window began
	faults  int
	packets int
	far     uint64        // the count of far commands when the window began
	news    time.Duration // when an acknowledgement last had something new
	why     string        // the last fault
	blank   blank
}

// faultsFrom returns the faults of a connection that begins.
func faultsFrom(t time.Duration) peerFaults {
	return peerFaults{window: t, news: t, blank: blank{since: t}}
}

// blank counts packets since the last acknowledged snapshot.
type blank struct {
	since time.Duration // when a snapshot was last acknowledged
	lost  int           // how many snapshots were lost since
	plain int           // how many packets without a snapshot were acknowledged since
}

// note counts the fate of a packet to the peer.
func (b *blank) note(t time.Duration, snapshot, delivered bool) {
	switch {
	case snapshot && delivered:
		*b = blank{since: t}
	case snapshot:
		b.lost++
	case delivered:
		b.plain++
	}
}

// on reports whether a peer deliberately acknowledges packets but no snapshots. A network loses 16
// snapshots in a row only together with the packets between them.
func (b *blank) on(t, timeout time.Duration, every uint32) bool {
	return t-b.since > timeout && b.lost >= mostBlank && b.plain >= mostBlank+4*int(every)
}

// roll begins a new window if the current one is over. The new one begins at the Step before this one,
// since packets that arrived after that have waited for this Step.
func (c *peerFaults) roll(t, before time.Duration, far uint64) {
	if t-c.window >= faultWindow {
		c.window, c.faults, c.packets, c.far = before, 0, 0, far
	}
}

func (c *peerFaults) fault(why string) { c.faults, c.why = c.faults+1, why }

// countMalformed counts something that a peer sent and that cannot be read.
func (p *player) countMalformed(all *stats.Counters, err error) {
	all.Malformed++
	p.faults.fault(err.Error())
}

// received counts a datagram, by the error that the connection returned for it.
func (c *peerFaults) received(err error) {
	switch {
	case err == nil, errors.Is(err, netcode.ErrGap): // many of either cost the same
		c.packets++
	case errors.Is(err, netcode.ErrChecksum), errors.Is(err, netcode.ErrDuplicate):
		// The network or another peer is the cause.
	case errors.Is(err, netcode.ErrStale):
		c.fault("a sequence number that is far away")
	case errors.Is(err, netcode.ErrBacklog):
		c.fault("fragments beyond the window")
	default:
		c.fault(err.Error())
	}
}
