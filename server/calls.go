package server

import (
	"errors"
	"fmt"
	"sync"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/tape"
)

// Limits of [Server.Do].
const (
	maxCalls    = 256 // how many may wait for the end of a tick
	maxCallName = 128 // bytes
)

// call is a function that waits for the end of a tick.
type call struct {
	name string // the name given to Do, after callHandler
	run  func(*foretick.ServerFrame)
	edit *tape.Edit // the edit that run makes; nil: run may do anything
}

const callHandler = "call "

// calls are the functions that any goroutine passed to [Server.Do].
type calls struct {
	mu      sync.Mutex
	waiting []call
	refused error // why no more functions are accepted; nil: they are

	// Only the server's goroutine uses the following fields.
	running []call // the functions of this tick
	queued  []tape.Queued
	panics  *panics
	hooks   *peerHooks
	step    *progress
	// sink is the recorder's. It is nil if nothing is recorded.
	sink tape.Sink
}

// Do queues a function for the end of a tick. Any goroutine may call it, also while Run
// runs: an HTTP handler, a console, an editor. The function runs in the server's own
// goroutine after the systems and event handlers of the tick, and before its snapshots.
// There it may read and change everything that a request's handler may. It reads and sets
// fields by path with [ecs.World.Value] and [ecs.World.SetValue] of f.World.
//
// name describes the call, such as "editor: heal player 3". It has 1 to 128 bytes. Recordings have it,
// and a panic in the function is reported with it. If a function makes a client's prediction wrong, the
// explanation names an edit.
//
// Functions run once, in the order of the calls. One that is queued by a function waits for
// the next tick. Do does not wait: let the function close a channel to learn of its end. A
// panic in it is logged and counted in [stats.Counters].Panics, and the match continues.
//
// Do returns an error when name or function is missing, when 256 functions wait already,
// [ErrEnded] after the last tick, and [transport.ErrClosed] when the server is closed or a
// system has panicked. A function that waits then never runs.
func (s *Server) Do(name string, fn func(f *foretick.ServerFrame)) error {
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

// take returns the waiting functions. The result is valid until the next call.
func (c *calls) take() []call {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.running)
	c.waiting, c.running = c.running[:0], c.waiting
	return c.running
}

// refuse drops the waiting functions and accepts no more. The first reason is kept, unless it was
// ErrEnded.
func (c *calls) refuse(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.waiting)
	c.waiting = c.waiting[:0]
	if c.refused == nil || errors.Is(c.refused, ErrEnded) {
		c.refused = why
	}
}

// runCalls runs the functions that wait for the end of the tick, and notes in o the players whose
// predicted state they changed, with a cause. It reports whether any ran.
func (c *calls) runCalls(f *foretick.Frame, o *outsideWrites, cause int) bool {
	calls := c.take()
	if c.sink != nil {
		calls = c.recordCalls(f.Tick, calls)
	}
	if len(calls) == 0 {
		return false
	}
	o.keep()
	o.by = cause
	for i := range calls {
		c.step.callNumber = i
		c.runCall(f, &calls[i])
	}
	o.look(o.by)
	o.by = game.CauseOutside
	return true
}

func (c *calls) runCall(f *foretick.Frame, one *call) {
	defer c.panics.Contain(ecs.Nobody, one.name)
	c.step.calling = true
	defer func() { c.step.calling = false }()
	for _, fn := range c.hooks.call {
		fn(one.name[len(callHandler):])
	}
	one.run(forServer(f))
}

// recordCalls records the functions that run at the end of a tick, and returns those to run: a replay
// may replace them.
func (c *calls) recordCalls(t foretick.Tick, calls []call) []call {
	c.queued = c.queued[:0]
	for i, one := range calls {
		c.queued = append(c.queued, tape.Queued{Name: one.name[len(callHandler):], Edit: one.edit, Own: i})
	}
	run, replaced := c.sink.Queued(t, c.queued)
	if !replaced {
		return calls
	}
	var out []call
	for _, q := range run {
		switch fn, _ := q.Run.(func(*foretick.ServerFrame)); {
		case q.Own >= 0:
			out = append(out, calls[q.Own])
		case q.Edit != nil:
			out = append(out, editCall(q.Edit, nil))
		case fn != nil:
			out = append(out, call{name: callHandler + q.Name, run: fn})
		default: // the tape does not have the function's changes
			out = append(out, call{name: callHandler + q.Name, run: func(*foretick.ServerFrame) {}})
		}
	}
	return out
}

// editCall returns a call that sets a field by its path. It passes the result to done, unless done is
// nil.
func editCall(e *tape.Edit, done func(error)) call {
	name := fmt.Sprintf("edit %v %s", ecs.Entity(e.Entity), e.Path)
	return call{name: callHandler + name[:min(len(name), maxCallName)], edit: e, run: func(f *foretick.ServerFrame) {
		var err error
		if ecs.Entity(e.Entity) == ecs.None {
			err = f.World.SetSingletonValue(e.Path, e.Value)
		} else {
			err = f.World.SetValue(ecs.Entity(e.Entity), e.Path, e.Value)
		}
		if done != nil {
			done(err)
		}
	}}
}
