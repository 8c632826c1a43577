package inspect

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/inspect/trace"
	"github.com/foretick/foretick/internal/probe"
)

// Limits of questions.
const (
	mostAsked    = 64 // questions that wait for an end's tick
	mostAnswered = 4  // questions that run in a tick
)

// end is a server or a client.
type end struct {
	name, role string
	in         *Inspector
	internals  probe.Inspected
	counted    func() string     // returns the end's counters as one line; any goroutine may call it
	world      func() *ecs.World // returns the world; called between ticks only
	series     []Series
	samples    ring
	all        *ecs.Query // matches every entity
	collect    collector
	asked      questions
	tap        probe.Tap
	newest     atomic.Uint32 // newest tick that was collected
	faults     atomic.Uint64 // panics of this package
	fault      atomic.Pointer[string]

	mu        sync.Mutex
	opens     int  // number of those that want the tap: an open Inspector, and each waiting question
	installed bool // the collector's hooks are installed; written by the end's own goroutine only
	traces    map[uint16]*trace.Trace
}

// collector is the part of an end that differs between servers and clients. Its methods are
// called on the end's goroutine.
type collector interface {
	install()
	removeHooks()
	// sampleFigures fills a row of figures. It returns the row's tick. again reports whether the
	// row replaces the row before.
	sampleFigures(t probe.Tapped, row []float32) (tick Tick, again bool)
}

// question is a function that waits for the end of a tick.
type question struct {
	run  func()
	done chan struct{} // closed after run has returned
	err  error
}

// questions wait for the end of a tick, in the order in which they came.
type questions struct {
	mu      sync.Mutex
	waiting []*question
}

func (q *questions) addQuestion(one *question) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == mostAsked {
		return false
	}
	q.waiting = append(q.waiting, one)
	return true
}

// takeFirst returns the first question, nil if there is none.
func (q *questions) takeFirst() *question {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return nil
	}
	one := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	return one
}

// takeBack removes a question that nobody waits for any more.
func (q *questions) takeBack(one *question) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(x *question) bool { return x == one })
}

func newEnd(in *Inspector, name, role string, internals probe.Inspected, counted func() string) *end {
	e := &end{name: name, role: role, in: in, internals: internals, counted: counted}
	e.tap = probe.Tap{Call: e.takeTick, Clock: in.cfg.Clock}
	e.all = ecs.NewQuery(internals.Layout().Types)
	return e
}

func (e *end) describe() End {
	l := e.internals.Layout()
	out := End{Name: e.name, Role: e.role, Game: l.Name, Version: l.Version, TickRate: l.TickRate, Tick: e.newest.Load(), Faults: e.faults.Load(), Counted: e.counted()}
	if f := e.fault.Load(); f != nil {
		out.Fault = *f
	}
	return out
}

// openTap makes the end call its tap.
func (e *end) openTap() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.opens++; e.opens == 1 {
		e.internals.SetTap(&e.tap)
	}
}

func (e *end) isOpen() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.opens > 0
}

// closeTap undoes one openTap. After the last one, the next tick removes the tap.
func (e *end) closeTap() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.opens--
}

// takeTick is called by the server after each tick, or by the client after each Step. It collects
// figures and runs questions.
func (e *end) takeTick(t probe.Tapped) {
	defer e.contain()
	if !e.looked() {
		return
	}
	row := e.samples.row()
	if tick, again := e.collect.sampleFigures(t, row); tick != 0 {
		e.samples.putSample(tick, row, again)
		e.newest.Store(tick)
	}
	for range mostAnswered {
		q := e.asked.takeFirst()
		if q == nil {
			return
		}
		e.answer(q)
	}
}

// looked installs the collector's hooks, or removes them and the tap if nobody looks any more. It
// reports whether somebody looks.
func (e *end) looked() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.opens > 0 && !e.installed:
		e.samples.make(e.in.cfg.Samples, len(e.series))
		e.installed = true
		e.collect.install()
	case e.opens == 0:
		e.internals.SetTap(nil)
		if e.installed {
			e.installed = false
			e.collect.removeHooks()
		}
	}
	return e.opens > 0
}

func (e *end) answer(q *question) {
	defer func() {
		if r := recover(); r != nil {
			q.err = fmt.Errorf("inspect: the question failed: %v", r)
			e.noteFault(r)
		}
		close(q.done)
	}()
	q.run()
}

// contain recovers a panic of this package, so that it does not end the match.
func (e *end) contain() {
	if r := recover(); r != nil {
		e.noteFault(r)
	}
}

func (e *end) noteFault(r any) {
	text := fmt.Sprint(r)
	e.faults.Add(1)
	e.fault.Store(&text)
}

// askEnd runs fn at the end of the next tick, on the end's goroutine, and waits for it. When it
// returns an error, fn may still run: do not read what fn writes.
func (e *end) askEnd(ctx context.Context, fn func()) error {
	e.openTap()
	defer e.closeTap()
	q := &question{run: fn, done: make(chan struct{})}
	if !e.asked.addQuestion(q) {
		return ErrBusy
	}
	select {
	case <-q.done:
		return q.err
	case <-ctx.Done():
		e.asked.takeBack(q)
		return fmt.Errorf("inspect: %s computed no tick in time: %w", e.name, ctx.Err())
	}
}
