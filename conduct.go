package foretick

import (
	"errors"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// What a client may do to a server. An honest client does none of it, on any
// network: what a network does to packets (losing, doubling, delaying, damaging
// them) is never held against a peer.
const (
	faultWindow   = time.Second
	maxFaults     = 8   // in a window; more end the connection
	mostMessages  = 16  // in a packet; an honest one has four at most
	packetsSpare  = 64  // in a window, beyond four for each tick of its time
	farPerTick    = 100 // commands too far in the future in a window, for each tick of a second
	commandBodies = 1   // in a packet

	brief     = 10 * time.Second // a connection that ends before is charged to its address
	briefMost = 32               // of them at once
	briefRate = 2                // and a second, on end
	maxVisits = 4096             // addresses remembered
	mostBlank = 16               // snapshots in a row lost, while packets without one arrive, by a network
	distant   = time.Minute      // no stall that a connection survives puts a command so far ahead
)

// conduct is how a peer behaved lately.
type conduct struct {
	window  time.Duration // when it began
	faults  int
	packets int
	far     uint64        // commands, as of the window's beginning
	news    time.Duration // when an acknowledgement last told something new
	why     string        // the last fault
	blank   blank
}

// blank is what became of packets since a snapshot was last acknowledged.
type blank struct {
	since time.Duration // when that was
	lost  int           // snapshots lost since
	plain int           // packets without one acknowledged since
}

// note takes the fate of a packet to the peer.
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

// on tells whether a peer acknowledges packets, and none with a snapshot, on purpose.
// A network loses 16 snapshots in a row together with the packets around them.
func (b *blank) on(t, timeout time.Duration, every uint32) bool {
	return t-b.since > timeout && b.lost >= mostBlank && b.plain >= mostBlank+4*int(every)
}

// roll begins a new window when the old one is over: at the server's Step before,
// as what arrived since then waited for this one.
func (c *conduct) roll(t, before time.Duration, far uint64) {
	if t-c.window >= faultWindow {
		c.window, c.faults, c.packets, c.far = before, 0, 0, far
	}
}

func (c *conduct) fault(why string) { c.faults, c.why = c.faults+1, why }

// received judges a datagram by what the connection made of it.
func (c *conduct) received(err error) {
	switch {
	case err == nil:
		c.packets++
	case errors.Is(err, netcode.ErrChecksum), errors.Is(err, netcode.ErrDuplicate):
		// The network's doing, or somebody else's.
	case errors.Is(err, netcode.ErrStale):
		c.fault("a sequence number that is far away")
	case errors.Is(err, netcode.ErrBacklog):
		c.fault("fragments beyond the window")
	default:
		c.fault(err.Error())
	}
}

// far is how many commands of a player's were for too far in the future.
func (p *player) far() uint64 {
	if p.buffer == nil {
		return 0
	}
	_, _, far, _ := p.buffer.Stats()
	return far
}

// offends tells whether a peer did what no honest client can do too often.
func (s *Server) offends(p *player) bool {
	c, rate := &p.conduct, s.p.tickRate
	took := max(faultWindow, s.now-c.window) // more, where the server stood still
	switch {
	case c.packets > int(4*took/s.interval)+packetsSpare:
		c.why = "more packets than there are ticks"
	case p.far()-min(c.far, p.far()) > uint64(farPerTick*rate):
		c.why = "commands for a distant future"
	case c.faults <= maxFaults:
		return false
	}
	return true
}

// answerConduct ends the connection of a peer that breaks the rules; true when it
// did.
func (s *Server) answerConduct(p *player) bool {
	if s.byPeer[p.peer] != p || !s.offends(p) {
		return false
	}
	s.stats.Offenders++
	s.logAbuse("dropped: broke the rules", p, "why", p.conduct.why)
	s.drop(p, transport.Protocol, p.conduct.why)
	return true
}

// mute tells whether a peer is silent in what counts: it acknowledges nothing, or no
// snapshot, or one part of a message never.
func (s *Server) mute(p *player, t time.Duration) (string, bool) {
	switch {
	case min(t-p.conduct.news, p.conn.Unanswered(t)) > s.cfg.Timeout:
		return "acknowledges nothing", true
	case p.conduct.blank.on(t, s.cfg.Timeout, p.every):
		return "acknowledges no snapshot", true
	case p.conn.Withheld(t) > s.cfg.Timeout:
		return "withholds an acknowledgement", true
	}
	return "", false
}

// visits bounds how often the connections of one address come and go. Many at
// once are a family, or a school; many that end at once are not.
type visits struct {
	by    map[string]visit
	swept time.Duration
}

type visit struct {
	left float64
	at   time.Duration
}

// now is what an address may still spend.
func (v *visits) now(addr string, t time.Duration) float64 {
	e, known := v.by[addr]
	if !known {
		return briefMost
	}
	return min(briefMost, e.left+briefRate*(t-e.at).Seconds())
}

// charge takes a brief connection from its address's allowance.
func (v *visits) charge(addr string, t time.Duration) {
	if addr == "" {
		return
	}
	left := v.now(addr, t) - 1
	if v.by == nil {
		v.by = map[string]visit{}
	}
	if len(v.by) >= maxVisits {
		clear(v.by) // memory is bounded whatever comes
	}
	v.by[addr] = visit{max(left, -1), t}
}

// forget drops the addresses that have their whole allowance again, once a second.
func (v *visits) forget(t time.Duration) {
	if len(v.by) == 0 || t-v.swept < time.Second {
		return
	}
	v.swept = t
	for addr := range v.by {
		if v.now(addr, t) >= briefMost {
			delete(v.by, addr)
		}
	}
}

// dropMute drops a peer that is silent in what counts; true when it did.
func (s *Server) dropMute(p *player, t time.Duration) bool {
	why, is := s.mute(p, t)
	if is {
		s.logAbuse("dropped: silent in what counts", p, "why", why)
		s.drop(p, transport.Timeout, why)
	}
	return is
}

// settledAfter is how long a player plays until its connection counts no more among those
// of its address that do not play yet.
const settledAfter = 2 * time.Second

// mayWait reports whether an origin may have one more connection that does not play.
func (s *Server) mayWait(origin string) bool {
	most := s.cfg.MaxWaitingPerAddress
	return most < 0 || origin == "" || s.waiting[origin] < most
}

// await counts a connection that does not play yet.
func (s *Server) await(p *player) {
	if p.origin != "" {
		p.pending = true
		s.waiting[p.origin]++
	}
}

// settle ends that: it plays, or is gone.
func (s *Server) settle(p *player) {
	if !p.pending {
		return
	}
	p.pending = false
	if s.waiting[p.origin]--; s.waiting[p.origin] <= 0 {
		delete(s.waiting, p.origin)
	}
}

// turnAway refuses a peer before it is anybody: with Refused for good, with Full for
// now, so that a client that lost its connection tries again.
func (s *Server) turnAway(peer transport.PeerID, code transport.Code, address string, identity []byte, kind, text string) {
	s.stats.Refused++
	s.logRefusal(kind, peer, address, identity)
	s.endpoint.Disconnect(peer, code, text)
}

// brief charges a connection that ends to its address, if it was a short one.
func (s *Server) brief(p *player) {
	if s.now-p.came < brief {
		s.visits.charge(p.origin, s.now)
	}
}
