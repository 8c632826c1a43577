package foretick

import (
	"errors"
	"fmt"
	"slices"

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
// function that Step calls outside of ticks, such as ServerConfig.Observe. It returns
// [transport.ErrClosed] when the server is closed or closing.
func (s *Server) NextLevel(data []byte, build func(f *Frame)) error {
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
	s.outside(tape.Call{Op: tape.Level, Data: data, Built: build != nil})
	if s.run.defers() {
		s.run.after = func() { s.nextLevel(data, build) }
		return nil
	}
	s.sim.undraw()
	s.nextLevel(data, build)
	s.run.finish()
	return nil
}

func (s *Server) nextLevel(data []byte, build func(f *Frame)) {
	s.run.changing = true
	defer func() { s.run.changing, s.run.building = false, false }()
	s.changePlayers()
	s.concludeEvents()
	s.level.epoch++
	s.level.data, s.level.tick, s.level.named = data, s.sim.frame.Tick+1, true
	s.sim.clear()
	s.past.Reset()
	for _, p := range s.sessions.players {
		p.outbox.levels++
		if p.session.state == playing {
			p.outbox.sender.Close()
			p.outbox.sender = s.newSender(p)
			s.interest.reintroducePlayer(p)
			p.outbox.entered, p.outbox.epoch = false, s.level.epoch
			p.shooter.Enter()
		}
		if p.session.state == local {
			p.shooter.Enter()
		}
		if p.session.state == watching {
			p.outbox.sender.Close()
			p.outbox.sender = s.newSender(p)
			s.interest.introduceObserver(p)
			p.outbox.entered, p.outbox.epoch = false, s.level.epoch
		}
	}
	if s.run.building = build != nil; s.run.building {
		build(&s.sim.frame)
	}
}
