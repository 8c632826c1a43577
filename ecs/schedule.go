package ecs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foretick/foretick/internal/misuse"
)

// Schedule holds the systems of a game and derives their running order from
// their declarations. C is the execution context that the bodies receive. Build
// it once; then it works for any number of worlds, one execution at a time.
type Schedule[C any] struct {
	types   *Types
	stages  []string
	inOrder bool         // inOrder is true after a call of InOrder.
	systems []*system[C] // systems are in order of Add until built, and then in running order.
	first   *system[C]   // first is the first tick system. It is nil until built.
	errs    []error
	built   bool
	hook    Hook[C]
	batches []batch
	exec    Executor
	par     parallelRun[C]
	parts   partsRun
}

// Hook is called around each system that runs. index is the position in
// [Schedule.Systems]; c is the context that the bodies receive.
type Hook[C any] interface {
	// Before is called before the body's first call, with the world locked.
	Before(c C, index int)
	// After is called after the body's last call, before its commands are
	// flushed.
	After(c C, index int)
}

// NewSchedule returns an empty schedule with one stage, "tick".
func NewSchedule[C any](t *Types) *Schedule[C] {
	if t == nil {
		misuse.Panicf("ecs: NewSchedule is given nil Types: make them with NewTypes")
	}
	return &Schedule[C]{types: t, stages: []string{"tick"}}
}

// Stages sets the names of the stages, in their order. Systems
// without a [Stage] go to the first. A second call replaces the names. Call it before
// [Schedule.Build].
func (s *Schedule[C]) Stages(names ...string) {
	if s.built {
		misuse.Panicf("ecs: Stages after Build: name them first")
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

// InOrder makes the systems of each stage run in the order of Add, whatever
// they read and write. It is for games whose author orders the systems by hand.
// [Before] and [After] still apply. Without InOrder the declarations determine
// the order: see [Schedule.Build]. Call it before Build.
func (s *Schedule[C]) InOrder() {
	if s.built {
		misuse.Panicf("ecs: InOrder after Build: call it first")
	}
	s.inOrder = true
}

// Add adds a system: a name, a body, and the declarations of its rows and
// accesses. The body is called once for each matching table, with the rows of
// that table. [Schedule.Build] returns the errors. After Build, Add panics with
// [UsageError].
func (s *Schedule[C]) Add(name string, run func(C, Rows), acc ...Access) {
	if s.built {
		misuse.Panicf("ecs: system %q is added after Build: add every system first", name)
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

// Build orders the systems, stage by stage. Inside a stage, creators of a component run before its writers and
// writers before its readers, unless Before or After say otherwise; ties keep the order of Add. With
// [Schedule.InOrder] the order is that of Add. The order depends on all systems, whatever their tags, so server
// and client agree on it. Build reports every error at once, and the shortest cycle of each group of systems
// that form cycles.
func (s *Schedule[C]) Build() error {
	if s.built {
		return errors.New("ecs: the schedule is already built")
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

// SetHook sets the hook that is called around each system; nil means no hook,
// at no cost.
func (s *Schedule[C]) SetHook(h Hook[C]) { s.hook = h }

// Systems describes the tick and render systems in running order; in order of
// Add until the schedule is built.
func (s *Schedule[C]) Systems() []SystemInfo {
	out := make([]SystemInfo, len(s.systems))
	for i, sys := range s.systems {
		out[i] = sys.info()
	}
	return out
}

// Execute runs the tick systems whose tags the world has. It locks the world
// around each system and flushes it afterwards. It panics with [UsageError]
// when the schedule was not built, or belongs to other [Types] than the world.
// A panic in a body passes through; see [Control.Recover].
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
		s.runSystem(i, sys, w, c, onceRows[:])
		return
	}
	s.runSystem(i, sys, w, c, sys.query.All(w))
}

// onceRows is the argument for a Once system: zero Rows, once.
var onceRows [1]Rows

// ExecutePlayer runs the tick systems over the rows of one owner only, at a
// cost proportional to those rows. Once systems run too. It uses no executor;
// otherwise it works like [Schedule.Execute].
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
	// This is executePart inlined, with few live values across the call of the
	// body: one player has few rows, so every spill shows.
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
			w.flushCommands()
		}
	}
}

func (s *Schedule[C]) executePart(w *World, c C, p *part) {
	for i, sys := range s.systems {
		switch {
		case sys.render || sys.bits&^w.tags != 0:
		case sys.once:
			s.runSystem(i, sys, w, c, onceRows[:])
		default:
			s.runSystem(i, sys, w, c, sys.query.ownedBy(w, p))
		}
	}
}

// runSystem runs one system over some rows with the world locked, and flushes after
// it.
func (s *Schedule[C]) runSystem(i int, sys *system[C], w *World, c C, rows []Rows) {
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
		if debug && r.t != nil {
			w.guard.owner = r.Owner()
		}
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
		w.flushCommands()
	}
}

func (s *Schedule[C]) mustBuilt(w *World) {
	if !s.built || s.types != w.types {
		s.refuseWorld()
	}
}

func (s *Schedule[C]) refuseWorld() {
	if !s.built {
		misuse.Panicf("ecs: the schedule is not built: call Build and check its error first")
	}
	misuse.Panicf("ecs: the schedule is of other Types than the world")
}
