package server

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// NextLevel ends the current level and starts another one within the match. It destroys
// every replicated entity. Then build, which may be nil, spawns the new ones, including
// those of the players (see [Server.Players]): copy what players keep before the call.
// Players keep their connections and places, and the tick number continues. data is the
// game's, at most 1024 bytes. Every client receives it reliably before anything of the new
// level, and drops everything of the old level after it.
//
// Call it between Steps, or in a tick from a Server system or a handler. In a tick it
// takes effect at the tick's end, and of several calls the last one counts. The hooks
// OnJoin, OnLeave, OnDisconnect and OnReconnect run first, in the old level, for players
// who came or went since the last tick. Then the handlers of OnServer and OnFinal run for every
// event that waits. A call from such a hook or handler takes effect after this
// level change.
//
// NextLevel returns an error for too much data, in build, after a panic in a system, and in a
// function that Step calls outside of ticks, such as Config.Observe. It returns
// [transport.ErrClosed] when the server is closed or closing.
func (s *Server) NextLevel(data []byte, build func(f *foretick.ServerFrame)) error {
	if len(data) > netcode.MaxLevelData {
		return fmt.Errorf("foretick: NextLevel has %d bytes of data: the most is %d; name the level, and send the rest as messages", len(data), netcode.MaxLevelData)
	}
	switch {
	case s.run.closed || s.run.closing != nil || s.drain.linger != nil:
		return transport.ErrClosed
	case s.run.failed:
		return errors.New("foretick: NextLevel after a panic in a system: the match cannot go on, so close the server")
	case s.run.building:
		return errors.New("foretick: NextLevel inside of the build function of a level: call it after the level change, or in a system")
	}
	if err := s.run.refuses("NextLevel"); err != nil {
		return err
	}
	data = slices.Clone(data)
	s.tape.outside(tape.Call{Op: tape.Level, Data: data, Built: build != nil})
	if s.run.defers() {
		s.run.after = func() { s.levels.beginLevel(data, build) }
		return nil
	}
	s.sim.undraw()
	s.levels.beginLevel(data, build)
	s.run.finish()
	return nil
}

// playedLevel is the current level.
type playedLevel struct {
	epoch uint8
	named bool // NextLevel was called, so clients are told of the level
	data  []byte
	tick  foretick.Tick // the first tick of the level
}

// info returns the data about the level that clients receive.
func (l *playedLevel) info() netcode.LevelInfo {
	return netcode.LevelInfo{Epoch: l.epoch, Tick: l.tick, Data: l.data}
}

// levels changes levels.
type levels struct {
	*conclusion
	level    *playedLevel
	sessions *sessions
	senders  *senders
	past     *rewind.Past
	turnover *turnover
}

// beginLevel ends the current level and begins the next one.
func (l *levels) beginLevel(data []byte, build func(f *foretick.ServerFrame)) {
	l.run.changing = true
	defer func() { l.run.changing, l.run.building = false, false }()
	l.turnover.changePlayers()
	l.concludeEvents()
	l.level.epoch++
	l.level.data, l.level.tick, l.level.named = data, l.sim.frame.Tick+1, true
	l.sim.clear()
	l.past.Reset()
	for _, p := range l.sessions.players {
		p.outbox.levels++
		switch p.session.state {
		case playing, watching:
			p.outbox.sender.Close()
			l.senders.openSender(p)
		}
		if p.session.state == playing || p.session.state == local {
			p.shooter.Enter()
		}
	}
	if l.run.building = build != nil; l.run.building {
		build(forServer(&l.sim.frame))
	}
}

// conclusion handles what still waits when a level or the match ends.
type conclusion struct {
	sim  *simulation
	run  *progress
	late *late.Room
}

// concludeEvents handles every event that waits, and sends every message that is held, because a level
// or the match ends now:
//
//  1. No tick up to here runs again, so the values that waited for late inputs are final.
//  2. The handlers of OnServer and OnFinal run in the order of a tick. Events that they raise
//     are handled in further rounds, MaxNesting at most. Events left then are dropped and counted.
//  3. Messages that waited for their tick are sent.
//
// Requests that handlers make meanwhile, such as for the next level, wait for the caller's finish.
func (c *conclusion) concludeEvents() {
	was := c.run.changing
	c.run.changing = true
	defer func() { c.run.changing = was }()
	c.late.BlockAll()
	for round := 0; c.sim.waitingEvents() > 0; round++ {
		if round == game.MaxNesting {
			c.sim.stats.EventsNested += uint64(c.sim.waitingEvents())
			c.sim.clearEvents()
			break
		}
		c.sim.handleEvents()
	}
	c.late.SendMessages()
}

// concludeMatch is concludeEvents for the end of the match: handlers find the server closed.
func (c *conclusion) concludeMatch() {
	was := c.run.closing
	c.run.closing = func() {}
	defer func() { c.run.closing = was }()
	c.concludeEvents()
}

// handleEvents runs the handlers of the waiting events, outside of a tick.
func (m *simulation) handleEvents() {
	f := &m.frame
	for _, q := range m.frames.Queues {
		q.FindFinal()
	}
	for _, sys := range m.p.Schedule.Systems() {
		if handle := m.p.Handlers.EventSystems[sys.Name]; handle != nil {
			ecs.Engine(m.world).Lock()
			handle(f)
			ecs.Engine(m.world).Unlock()
		}
	}
}

// waitingEvents returns how many events wait for their handlers.
func (m *simulation) waitingEvents() (n int) {
	for _, q := range m.frames.Queues {
		n += q.WaitingEvents()
	}
	return n
}

// clearEvents drops all waiting events.
func (m *simulation) clearEvents() {
	for _, q := range m.frames.Queues {
		q.Clear()
	}
}
