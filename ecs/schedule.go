package ecs

import (
	"errors"
	"fmt"
	"slices"
)

// Schedule holds the systems of a game and runs them in an order that it
// derives from what they declare. C is the execution context that the bodies
// get. It is built once; a built schedule serves any number of worlds, one
// execution at a time.
type Schedule[C any] struct {
	types   *Types
	stages  []string
	inOrder bool         // see InOrder
	systems []*system[C] // in order of Add until built, then in order of running
	first   *system[C]   // of those, the first tick one; nil until built
	errs    []error
	built   bool
	hook    Hook[C]
	batches []batch
	exec    Executor
	par     parallelRun[C]
	parts   partsRun
}

// Hook is told of each system that runs, on whatever rows. The index is that of
// [Schedule.Systems], c what the bodies get.
type Hook[C any] interface {
	// Before is called ahead of the body's first call, in the locked world.
	Before(c C, index int)
	// After is called behind its last, ahead of the flush of its commands.
	After(c C, index int)
}

// NewSchedule makes an empty schedule with one stage, "tick".
func NewSchedule[C any](t *Types) *Schedule[C] {
	if t == nil {
		misuse("NewSchedule is given nil Types: make them with NewTypes")
	}
	return &Schedule[C]{types: t, stages: []string{"tick"}}
}

// Stages names the stages in the order in which they run. Systems without a
// [Stage] go to the first. It replaces what was named before, and is called ahead
// of [Schedule.Build].
func (s *Schedule[C]) Stages(names ...string) {
	if s.built {
		misuse("Stages after Build: name them first")
	}
	if len(names) == 0 {
		s.errs = append(s.errs, errors.New("ecs: Stages: name at least one"))
		return
	}
	for i, name := range names {
		switch {
		case name == "":
			s.errs = append(s.errs, fmt.Errorf("ecs: Stages: name %d is empty: a stage needs a name", i+1))
		case slices.Contains(names[:i], name):
			s.errs = append(s.errs, fmt.Errorf("ecs: Stages: %q is named twice, and its systems would run twice: name it once", name))
		}
	}
	s.stages = slices.Clone(names)
}

// InOrder has the systems of each stage run in the order in which they were added,
// whatever they read and write: for a game whose author keeps the order by hand.
// [Before] and [After] hold all the same. Without it the order follows from what the
// systems declare: see [Schedule.Build]. Call it ahead of Build.
func (s *Schedule[C]) InOrder() {
	if s.built {
		misuse("InOrder after Build: call it first")
	}
	s.inOrder = true
}

// Add adds a system: a name, a body, and what the body matches and touches.
// The body is called once for each table that matches, with that table's rows.
// Errors are collected and given by [Schedule.Build]; after that Add panics with
// [UsageError].
func (s *Schedule[C]) Add(name string, run func(C, Rows), acc ...Access) {
	if s.built {
		misuse("system %q is added after Build: add every system first", name)
	}
	sys := &system[C]{name: name, run: run}
	fail := func(err error) {
		s.errs = append(s.errs, fmt.Errorf("ecs: system %q: %w", name, err))
	}
	switch {
	case run == nil:
		fail(errors.New("no body"))
	case name == "":
		fail(errors.New("a system needs a name"))
	case slices.ContainsFunc(s.systems, func(o *system[C]) bool { return o.name == name }):
		fail(errors.New("the name is taken"))
	}
	for _, err := range sys.declare(s.types, acc) {
		fail(err)
	}
	bits, err := s.types.tagBits(sys.tags)
	if err != nil {
		fail(err)
	}
	sys.bits = bits
	s.systems = append(s.systems, sys)
}

// Build orders the systems: stage by stage, and inside a stage creators of a
// component before its writers and writers before its readers, unless Before
// or After say otherwise; ties fall in order of Add. With [Schedule.InOrder] it is
// the order of Add. The order is derived from
// all systems, whatever their tags, so that server and client agree on it. It
// reports every error at once, and of cycles each one, with its systems.
func (s *Schedule[C]) Build() error {
	if s.built {
		return errors.New("ecs: the schedule is built already")
	}
	errs := s.errs
	for _, sys := range s.systems {
		if sys.stage == "" {
			sys.stage = s.stages[0]
		}
		if !slices.Contains(s.stages, sys.stage) {
			errs = append(errs, fmt.Errorf("ecs: system %q: no stage %q: name it in Stages", sys.name, sys.stage))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	var out []*system[C]
	for _, stage := range s.stages {
		var in []*system[C]
		for _, sys := range s.systems {
			if sys.stage == stage {
				in = append(in, sys)
			}
		}
		sorted, err := orderStage(in, s.types, s.inOrder)
		if err != nil {
			for _, err := range split(err) {
				errs = append(errs, fmt.Errorf("ecs: stage %q: %w", stage, err))
			}
		}
		out = append(out, sorted...)
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	s.systems = out
	for i, sys := range slices.Backward(out) {
		sys.place = int32(i + 1)
		if !sys.render {
			sys.next, s.first = s.first, sys
		}
	}
	s.built = true
	s.batch()
	return nil
}

// SetHook calls h around each system; nil calls nothing and costs nothing.
func (s *Schedule[C]) SetHook(h Hook[C]) { s.hook = h }

// Systems describes the systems in the order in which they run, tick and
// render ones together; in order of Add until the schedule is built.
func (s *Schedule[C]) Systems() []SystemInfo {
	out := make([]SystemInfo, len(s.systems))
	for i, sys := range s.systems {
		out[i] = sys.info()
	}
	return out
}

// Execute runs the tick systems whose tags the world holds. The world is
// locked around each system and flushed after it. It panics with [UsageError]
// when the schedule was not built, or for other [Types] than the world's. A panic
// in a body comes out of it; see [World.Recover].
func (s *Schedule[C]) Execute(w *World, c C) { s.execute(w, c, false) }

// ExecuteRender is Execute for the render systems.
func (s *Schedule[C]) ExecuteRender(w *World, c C) { s.execute(w, c, true) }

func (s *Schedule[C]) execute(w *World, c C, render bool) {
	s.mustBuilt(w)
	if s.exec != nil && !debug {
		s.executeParallel(w, c, render)
		return
	}
	for i, sys := range s.systems {
		if sys.render == render && sys.bits&^w.tags == 0 {
			s.runOne(i, sys, w, c)
		}
	}
}

func (s *Schedule[C]) runOne(i int, sys *system[C], w *World, c C) {
	if sys.once {
		s.run(i, sys, w, c, onceRows[:])
		return
	}
	s.run(i, sys, w, c, sys.query.All(w))
}

// onceRows is what a Once system is called with: zero Rows, once.
var onceRows [1]Rows

// ExecutePlayer runs the same tick systems over the rows of one owner only, at
// a cost proportional to them. Once systems run too. It takes no executor, and is
// otherwise as [Schedule.Execute].
func (s *Schedule[C]) ExecutePlayer(w *World, c C, o Owner) {
	s.mustBuilt(w)
	p := w.findPart(o)
	if p == nil {
		p = w.partOf(o)
	}
	if s.hook != nil || debug {
		s.executePart(w, c, p)
		return
	}
	// What follows is executePart spelt out, with few values alive over the call
	// of the body: one player's rows are few, and every spill shows.
	for sys := s.first; sys != nil; sys = sys.next {
		if sys.bits&^w.tags != 0 {
			continue
		}
		rows := onceRows[:]
		if q := sys.query; q != nil {
			if i := uint(q.index); i < uint(len(p.caches)) && p.caches[i].at == p.changed {
				rows = p.caches[i].rows
			} else {
				rows = q.refreshOwned(w, p)
			}
		}
		w.locks++
		if len(rows) == 1 {
			sys.run(c, rows[0])
		} else {
			for _, r := range rows {
				sys.run(c, r)
			}
		}
		if w.locks--; w.locks == 0 && len(w.commands) > 0 {
			w.flush()
		}
	}
}

func (s *Schedule[C]) executePart(w *World, c C, p *part) {
	for i, sys := range s.systems {
		switch {
		case sys.render || sys.bits&^w.tags != 0:
		case sys.once:
			s.run(i, sys, w, c, onceRows[:])
		default:
			s.run(i, sys, w, c, sys.query.ownedBy(w, p))
		}
	}
}

// run runs one system over some rows, locked, and flushes after it.
func (s *Schedule[C]) run(i int, sys *system[C], w *World, c C, rows []Rows) {
	w.locks++
	w.running, w.schedule = sys.place, s
	if s.hook != nil {
		s.hook.Before(c, i)
	}
	if debug {
		w.guardFor(sys.name, &sys.sets, &sys.singles, sys.query, sys.structural, rows)
	}
	body := sys.run
	for _, r := range rows {
		body(c, r)
	}
	if debug {
		w.unguard()
	}
	if s.hook != nil {
		s.hook.After(c, i)
	}
	w.running = 0
	w.locks--
	if w.locks == 0 && len(w.commands) > 0 {
		w.flush()
	}
}

func (s *Schedule[C]) mustBuilt(w *World) {
	if !s.built || s.types != w.types {
		s.refuse()
	}
}

func (s *Schedule[C]) refuse() {
	if !s.built {
		misuse("the schedule is not built: call Build and check its error first")
	}
	misuse("the schedule is of other Types than the world")
}
