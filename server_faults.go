package foretick

import (
	"time"

	"github.com/foretick/foretick/transport"
)

// offends reports whether a peer did things too often that no honest client can do.
func (s *Server) offends(p *player) bool {
	c, rate := &p.faults, s.p.TickRate
	took := max(faultWindow, s.clock.now-c.window) // more, where the server stood still
	switch {
	case c.packets > int(packetsTick*took/s.clock.interval)+packetsSpare:
		c.why = "more packets than there are ticks"
	case p.far()-min(c.far, p.far()) > uint64(farPerTick*rate):
		c.why = "commands for a distant future"
	case c.faults <= maxFaults:
		return false
	}
	return true
}

// answerFaults ends the connection of a peer that breaks the rules. It returns true if it
// did.
func (s *Server) answerFaults(p *player) bool {
	if s.sessions.byPeer[p.session.peer] != p || !s.offends(p) {
		return false
	}
	s.offend(p)
	return true
}

// offend ends the connection of a peer that broke a rule.
func (s *Server) offend(p *player) {
	s.stats.Offenders++
	s.logs.abuse(s.clock.now, "dropped: broke the rules", p, "why", p.faults.why)
	s.drop(p, transport.Protocol, p.faults.why)
}

// mute reports whether a peer withholds acknowledgements: of everything, of snapshots, or
// of one part of a message.
func (s *Server) mute(p *player, t time.Duration) (string, bool) {
	switch {
	case min(t-p.faults.news, p.session.conn.Unanswered(t)) > s.cfg.Timeout:
		return "acknowledges nothing", true
	case p.faults.blank.on(t, s.cfg.Timeout, p.outbox.every):
		return "acknowledges no snapshot", true
	case p.session.conn.Withheld(t) > s.cfg.Timeout:
		return "withholds an acknowledgement", true
	}
	return "", false
}

// dropMute drops a peer that withholds acknowledgements. It returns true if it did.
func (s *Server) dropMute(p *player, t time.Duration) bool {
	why, is := s.mute(p, t)
	if is {
		s.logs.abuse(s.clock.now, "dropped: silent in what counts", p, "why", why)
		s.drop(p, transport.Timeout, why)
	}
	return is
}

func (s *Server) malformed(p *player, err error) {
	s.stats.Malformed++
	p.faults.fault(err.Error())
}
