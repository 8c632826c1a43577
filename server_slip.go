package foretick

import "time"

// slip skips the ticks that are due and that the Step has no room for, and logs why, once a
// minute at most.
func (s *Server) slip() {
	lost := s.clock.skip(s.sim.frame.Tick)
	if lost == 0 {
		return
	}
	s.stats.Slips++
	s.stats.TicksLost += lost
	if skipped, ok := s.logs.limits.allow("slip", s.clock.now); ok {
		s.cfg.Logger.Warn("the server falls behind and skips ticks", "why", s.whySlip(), "lost", lost, "tick", s.sim.frame.Tick, "skipped", skipped)
	}
}

// whySlip returns what an operator can change.
func (s *Server) whySlip() string {
	took := s.figures.took
	switch {
	case s.times.clock == nil:
		return "ticks take longer than their interval, or Step was called late: set ServerConfig.Clock to tell which"
	case took >= s.clock.interval:
		return "a tick took " + took.Round(time.Microsecond).String() + " of " + s.clock.interval.String() + ": see the times of systems in Server.Figures"
	}
	return "Step was called " + (s.clock.now - s.clock.before).Round(time.Microsecond).String() + " after the Step before, and ticks are short: the process or its loop stood still"
}
