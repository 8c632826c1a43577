package foretick

import "time"

// tick computes one tick and sends its results.
func (s *Server) tick(now time.Duration) {
	s.sim.frame.Tick++
	s.run.ticking, s.sim.writes.outside.next = true, false
	began := s.figures.begin(s, now)
	tap := s.inspected.begin(&s.times)
	s.takeCommands()
	s.late.world.begin()
	s.settle()
	changed := s.sessions.changing()
	s.changePlayers()
	told := s.tellDrain()
	s.late.world.open(changed || told)
	s.handleRequests()
	s.simulate()
	s.run.captured = true
	s.capture()
	s.report()
	if len(s.sessions.kicks) > 0 {
		s.late.world.stop() // the last packets have what waits
	}
	s.late.decide()
	s.send(now)
	s.run.captured = false
	if tap != nil {
		s.tapped(tap, now)
	}
	s.dropKicked()
	s.run.ticking, s.sim.writes.outside.next = false, true
	s.figures.end(s, began)
	s.run.finish()
	if r := s.sink; r != nil {
		r.Tick(s.sim.frame.Tick, s.hashWorld())
	}
}

// simulate runs the game's systems with the commands of the tick.
func (s *Server) simulate() {
	s.sim.writes.outside.look(causeOutside)
	s.markHidden()
	s.late.rerun()
	s.fillCommands()
	if debugBuild {
		s.sim.losses.begin()
		s.beginTrails()
	}
	if s.traces.wake.Load() || s.traces.replayed || s.reports.listen != nil {
		s.beginTraces()
	}
	s.p.schedule.Execute(s.sim.world, &s.sim.frame)
	s.late.world.close()
	if len(s.traces.recording) > 0 {
		s.traces.end()
	}
	if debugBuild {
		s.settleTrails()
	}
	s.sim.writes.end()
	s.lookForLosses()
	s.runCalls()
	s.markHidden() // by the tick itself, too
	s.snap()
	s.sim.writes.outside.keep()
	s.late.save()
}

// report counts the tick, and shows it to the program around the server.
func (s *Server) report() {
	s.stats.Ticks++
	s.postAll()
	if s.cfg.OnTick != nil {
		s.cfg.OnTick(&s.sim.frame)
	}
	s.settled()
	s.countPlayed()
}
