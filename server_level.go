package foretick

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/foretick/foretick/ecs"
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
	s.undraw()
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
			s.reintroduce(p)
			p.outbox.entered, p.outbox.epoch = false, s.level.epoch
			p.shooter.Enter()
		}
		if p.session.state == local {
			p.shooter.Enter()
		}
		if p.session.state == watching {
			p.outbox.sender.Close()
			s.introduceObserver(p)
			p.outbox.entered, p.outbox.epoch = false, s.level.epoch
		}
	}
	if s.run.building = build != nil; s.run.building {
		build(&s.sim.frame)
	}
}

// Limits of [Server.Do].
const (
	maxCalls    = 256 // that wait for one tick's end
	maxCallName = 128 // bytes
)

// call is a function that waits for the end of a tick.
type call struct {
	name string // with callHandler ahead of it
	run  func(*Frame)
	edit *tape.Edit // that run makes; nil: anything
}

const callHandler = "call "

// calls are the functions that any goroutine passed to [Server.Do].
type calls struct {
	mu      sync.Mutex
	waiting []call
	refused error // why none is taken any more

	running []call // the tick's: no other goroutine touches them
}

// Do queues a function for the end of a tick. Any goroutine may call it, also while Run
// runs: an HTTP handler, a console, an editor. The function runs in the server's own
// goroutine after the systems and event handlers of the tick, and before its snapshots.
// There it may read and change everything that a request's handler may. It reads and sets
// fields by path with [ecs.World.Value] and [ecs.World.SetValue] of f.World.
//
// name describes the call, such as "editor: heal player 3". It has 1 to 128 bytes.
// Recordings have it, and a panic in the function is reported with it. Where a
// function makes a client's prediction wrong, the explanation names an edit.
//
// Functions run once, in the order of the calls. One that is queued by a function waits for
// the next tick. Do does not wait: let the function close a channel to learn of its end. A
// panic in it is logged and counted in [stats.Server].Panics, and the match continues.
//
// Do returns an error when name or function is missing, when 256 functions wait already,
// [ErrEnded] after the last tick, and [transport.ErrClosed] when the server is closed or a
// system has panicked. A function that waits then never runs.
func (s *Server) Do(name string, fn func(f *Frame)) error {
	switch {
	case fn == nil:
		return fmt.Errorf("foretick: Server.Do(%q) has no function to call", name)
	case name == "" || len(name) > maxCallName:
		return fmt.Errorf("foretick: Server.Do has a name of %d bytes: use 1 to %d, that say who asks for what", len(name), maxCallName)
	}
	return s.calls.add(call{name: callHandler + name, run: fn})
}

var errCalls = fmt.Errorf("foretick: Server.Do: %d functions wait for the end of the tick already: try again after it", maxCalls)

func (c *calls) add(one call) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.refused != nil:
		return c.refused
	case len(c.waiting) == maxCalls:
		return errCalls
	}
	c.waiting = append(c.waiting, one)
	return nil
}

// take returns what waits, valid until the next call.
func (c *calls) take() []call {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.running)
	c.waiting, c.running = c.running[:0], c.waiting
	return c.running
}

// refuse drops what waits and takes no more. The first reason stays.
func (c *calls) refuse(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.waiting)
	c.waiting = c.waiting[:0]
	if c.refused == nil || errors.Is(c.refused, ErrEnded) {
		c.refused = why
	}
}

// runCalls runs what waits for the tick's end, and notes the players whose predicted state
// it changed.
func (s *Server) runCalls() {
	calls := s.calls.take()
	if r := s.sink; r != nil {
		calls = s.recordCalls(r, calls)
	}
	if len(calls) == 0 {
		return
	}
	o := &s.sim.writes.outside
	o.keep()
	o.by = s.p.editCause()
	for i := range calls {
		s.run.callNumber = i
		s.runCall(&calls[i])
	}
	o.look(o.by)
	o.by = causeOutside
	s.late.blockAll()
}

func (s *Server) runCall(c *call) {
	defer s.contain(ecs.Nobody, c.name)
	s.run.calling = true
	defer func() { s.run.calling = false }()
	for _, fn := range s.hooks.call {
		fn(c.name[len(callHandler):])
	}
	c.run(&s.sim.frame)
}

// stopCalls takes no more functions from a server that computes no more ticks.
func (s *Server) stopCalls() {
	switch {
	case s.run.closed || s.run.failed || s.drain.linger != nil:
		s.calls.refuse(transport.ErrClosed)
	case s.run.over:
		s.calls.refuse(ErrEnded)
	}
}
