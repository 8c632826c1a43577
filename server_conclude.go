package foretick

// concludeEvents handles every event that waits, and sends every message that is held, because
// a level or the match ends now:
//
//  1. No tick up to here runs again, so what waited for late inputs stands.
//  2. The handlers of OnServer and OnFinal run in the order of a tick. What they raise is
//     handled in further rounds, maxNesting at most. Events left then are dropped and counted.
//  3. Messages that waited for their tick are sent.
//
// What handlers ask for meanwhile, such as the next level, waits for the caller's finish.
func (s *Server) concludeEvents() {
	was := s.run.changing
	s.run.changing = true
	defer func() { s.run.changing = was }()
	s.late.blockAll()
	for round := 0; s.waitingEvents() > 0; round++ {
		if round == maxNesting {
			s.nestedTooDeep(s.waitingEvents())
			s.clearEvents()
			break
		}
		s.handleEvents()
	}
	s.late.world.sendAll()
}

// concludeMatch is concludeEvents where the match ends: for what handlers ask for, it is closed.
func (s *Server) concludeMatch() {
	was := s.run.closing
	s.run.closing = func() {}
	defer func() { s.run.closing = was }()
	s.concludeEvents()
}

// concludeAndSend is concludeMatch where no more packets follow: it sends each player a last one
// if there is more to tell.
func (s *Server) concludeAndSend() {
	before := s.pendingMessages()
	s.concludeMatch()
	if s.pendingMessages() > before {
		s.sendPending(s.clock.now)
	}
}

// pendingMessages returns how many reliable messages are not acknowledged.
func (s *Server) pendingMessages() (n int) {
	for _, p := range s.sessions.players {
		if p.connected() {
			n += p.session.conn.Pending()
		}
	}
	return n
}

// handleEvents runs the handlers of what waits, outside of a tick.
func (s *Server) handleEvents() {
	f := &s.sim.frame
	for _, q := range f.queues {
		q.findFinal()
	}
	for _, sys := range s.p.schedule.Systems() {
		if handle := s.p.handlers.eventSystems[sys.Name]; handle != nil {
			s.sim.world.Lock()
			handle(f)
			s.sim.world.Unlock()
		}
	}
}

// waitingEvents returns how many events wait for their handlers.
func (s *Server) waitingEvents() (n int) {
	for _, q := range s.sim.frame.queues {
		n += q.waitingEvents()
	}
	return n
}

// clearEvents drops all events that wait.
func (s *Server) clearEvents() {
	for _, q := range s.sim.frame.queues {
		q.clear()
	}
}
