package foretick

import "github.com/foretick/foretick/internal/late"

// conclusion handles what waits when a level or the match ends.
type conclusion struct {
	sim  *simulation
	run  *serverRun
	late *late.Room
}

// concludeEvents handles every event that waits, and sends every message that is held, because
// a level or the match ends now:
//
//  1. No tick up to here runs again, so what waited for late inputs stands.
//  2. The handlers of OnServer and OnFinal run in the order of a tick. What they raise is
//     handled in further rounds, maxNesting at most. Events left then are dropped and counted.
//  3. Messages that waited for their tick are sent.
//
// What handlers ask for meanwhile, such as the next level, waits for the caller's finish.
func (c *conclusion) concludeEvents() {
	was := c.run.changing
	c.run.changing = true
	defer func() { c.run.changing = was }()
	c.late.BlockAll()
	for round := 0; c.sim.waitingEvents() > 0; round++ {
		if round == maxNesting {
			c.sim.stats.EventsNested += uint64(c.sim.waitingEvents())
			c.sim.clearEvents()
			break
		}
		c.sim.handleEvents()
	}
	c.late.SendMessages()
}

// concludeMatch is concludeEvents where the match ends: for what handlers ask for, it is closed.
func (c *conclusion) concludeMatch() {
	was := c.run.closing
	c.run.closing = func() {}
	defer func() { c.run.closing = was }()
	c.concludeEvents()
}

// handleEvents runs the handlers of what waits, outside of a tick.
func (m *simulation) handleEvents() {
	f := &m.frame
	for _, q := range f.queues {
		q.findFinal()
	}
	for _, sys := range m.p.schedule.Systems() {
		if handle := m.p.handlers.eventSystems[sys.Name]; handle != nil {
			m.world.Lock()
			handle(f)
			m.world.Unlock()
		}
	}
}

// waitingEvents returns how many events wait for their handlers.
func (m *simulation) waitingEvents() (n int) {
	for _, q := range m.frame.queues {
		n += q.waitingEvents()
	}
	return n
}

// clearEvents drops all events that wait.
func (m *simulation) clearEvents() {
	for _, q := range m.frame.queues {
		q.clear()
	}
}
