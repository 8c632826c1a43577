package foretick

import "time"

// A server that is behind computes several ticks in one Step. Their packets would all leave at the
// same moment, and clients draw no more than the newest. So a Step sends the packets of its
// last tick alone. Where many play, packets are most of a tick's work: without them the
// server catches up, instead of falling further behind and skipping ticks.

// behind reports whether another tick is due at t after the one that comes next. After a single
// stall in which ticks were skipped it reports false: every packet tells clients to
// set their clocks, and one of them may be lost.
func (s *Server) behind(t time.Duration) bool {
	if slip := &s.clock.slip; slip.lost > 0 && !slip.again {
		return false
	}
	next := s.sim.frame.Tick + 1
	return next < lastTick && s.clock.due(next+1) <= t
}

// waits reports whether a player's packet can wait for a later tick of this Step. Those of
// players who join, leave or are traced do not, nor those in the last tick of a level or a match:
// something in them belongs to its tick.
func (s *Server) waits(p *player) bool {
	return s.run.behind && len(s.sessions.kicks) == 0 && s.run.closing == nil && s.run.after == nil &&
		(p.session.state == playing || p.session.state == watching) && p.outbox.welcomed && p.tracing.armed == nil
}

// owe counts a snapshot that waits. The Step's last packet has one, even if the player's
// rate has none due then.
func (s *Server) owe(p *player) {
	if p.due(s.sim.frame.Tick) {
		p.outbox.owed = true
		s.stats.SnapshotsSkipped++
	}
}
