package server

import (
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/probe"
)

// systemHooks has the four lists of what a server does around each system. The first hook of a list is
// called first before a system and last after it. ARCHITECTURE.md has their order as a table. The lists
// are made with the server, and again between ticks when a trace begins or ends, a sync test begins, or
// a watcher is added.
type systemHooks struct {
	sim      *simulation
	late     *late.Room
	traces   *traceRequests
	trails   *writeTrails
	times    *systemTimes
	watchers []systemWatcher

	first      []game.SystemHook // in the first run of a tick, and in Server.Draw
	ownAgain   []game.SystemHook // when a player's part of a tick runs again, with Late
	worldAgain []game.SystemHook // when the world runs again, with Late.World
	test       []game.SystemHook // in a sync test of either

	again *[]game.SystemHook // ownAgain or worldAgain
}

// arrangeHooks makes the lists for the current traces, tests and watchers.
func (a *systemHooks) arrangeHooks() {
	traced := a.traces.armed()
	a.first, a.ownAgain, a.worldAgain, a.test, a.again = nil, nil, nil, nil, &a.ownAgain
	for _, w := range a.watchers {
		a.first, a.ownAgain, a.worldAgain, a.test = append(a.first, w), append(a.ownAgain, w), append(a.worldAgain, w), append(a.test, w)
	}
	if a.late.Whole {
		a.again = &a.worldAgain
	}
	if traced {
		a.first, a.worldAgain = append(a.first, a.traces), append(a.worldAgain, a.traces)
		a.ownAgain = append(a.ownAgain, traceSettles{a.traces})
	}
	tested := a.late.Tests()
	if tested {
		a.worldAgain = append(a.worldAgain, laterRuns{a.late})
	}
	a.ownAgain, a.test = append(a.ownAgain, laterRuns{a.late}), append(a.test, laterRuns{a.late})
	if traced {
		a.ownAgain = append(a.ownAgain, traceBegins{a.traces})
	}
	a.ownAgain, a.test = append(a.ownAgain, named{}), append(a.test, named{})
	a.worldAgain = append(a.worldAgain, a.sim.writes)
	a.first = append(a.first, a.sim.writes)
	if game.DebugBuild {
		a.first = append(a.first, a.trails, &a.sim.losses)
	}
	a.first = append(a.first, a.times)
	if tested {
		a.first = append(a.first, firstRuns{a.late})
	}
	a.runFirst()
}

// runAgain sets the hooks for ticks that run again.
func (a *systemHooks) runAgain(test bool) {
	if a.sim.frames.Around = *a.again; test {
		a.sim.frames.Around = a.test
	}
}

// runFirst sets the hooks for the first run of a tick.
func (a *systemHooks) runFirst() { a.sim.frames.Around = a.first }

// named sets which system runs, where no other hook does so.
type named struct{}

func (named) BeforeSystem(run *game.SystemRun, system int) { run.By = system + 1 }

func (named) AfterSystem(run *game.SystemRun, _ int) { run.By = 0 }

// systemWatcher calls a function when a system begins or ends.
type systemWatcher struct {
	writes *writeWatch
	late   *late.Room
	tell   func(probe.SystemRun)
}

func (w systemWatcher) BeforeSystem(_ *game.SystemRun, system int) { w.tellRun(system, false) }

func (w systemWatcher) AfterSystem(_ *game.SystemRun, system int) { w.tellRun(system, true) }

func (w systemWatcher) tellRun(system int, after bool) {
	run := probe.SystemRun{Tick: w.writes.frame.Tick, System: w.writes.p.SystemName(uint32(system) + 1), Shared: w.writes.both[system], After: after}
	run.Again, _ = w.late.Again()
	w.tell(run)
}
