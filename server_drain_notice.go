package foretick

import "github.com/foretick/foretick/ecs"

// tellDrain calls ServerConfig.OnDrain in the first tick after the server began to drain. It reports
// whether it did.
func (s *Server) tellDrain() bool {
	if s.drain.told || s.drain.reason == nil || s.cfg.OnDrain == nil {
		return false
	}
	s.drain.told = true
	defer s.contain(ecs.Nobody, "OnDrain")
	s.cfg.OnDrain(&s.sim.frame, *s.drain.reason)
	return true
}
