package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
)

// noteRun notes the world after a system's first run.
func (w *lateWorld) noteRun(system int) {
	y, now := &w.s.late.test, w.s.sim.frame.Tick
	y.runs[lateRun{0, now, system}] = w.hashRun()
	delete(y.runs, lateRun{0, now - w.window - 2, system})
}

// hashRun returns the world's hash. The row of singletons is what they are now: in a first run
// it is brought up to date at other times than in a repeated one.
func (w *lateWorld) hashRun() uint64 {
	w.s.sim.row.take()
	return w.s.hash()
}

// compareRun compares the world after a system's repeated run with that of the first one.
func (w *lateWorld) compareRun(system int) {
	y := &w.s.late.test
	run, sum := lateRun{0, w.s.sim.frame.Tick, system}, w.hashRun()
	if !y.running {
		y.runs[run] = sum
		return
	}
	if was, ok := y.runs[run]; ok && was != sum {
		y.system = system
	}
}

// worldSyncTest runs the newest ticks again, whose result has to be the same.
func (l *lateInputs) worldSyncTest() {
	w, y := &l.world, &l.test
	if y.ticks == 0 {
		return
	}
	now := l.s.sim.frame.Tick
	from := now - y.ticks
	for ; from != now; from++ {
		if int32(from-w.barrier) > 0 && w.at(from).tick == from && w.history.Holds(w.slot(from-1)) {
			break
		}
	}
	if from == now {
		return
	}
	w.history.Save(w.scratch())
	w.saveQueues(w.scratch())
	w.beginRuns()
	y.running, y.system = true, -1
	w.restoreWorld(w.slot(from - 1))
	l.s.sim.writes.outside.keep()
	for t := from; t != now; t++ {
		w.runTick(t)
		if w.reports(t) {
			break
		}
	}
	w.endRuns()
	w.restoreWorld(w.scratch())
	l.s.sim.writes.outside.keep()
	y.running = false
}

// reports compares the end of a tick with its first run's, and reports the first difference.
func (w *lateWorld) reports(t Tick) (any bool) {
	s, y := w.s, &w.s.late.test
	d := probe.Desync{Kind: probe.Impure, Tick: t}
	if was, ok := y.runs[lateRun{0, t, len(s.p.Systems)}]; ok && was != s.hash() {
		any = true
	}
	if !any && y.system < 0 {
		return false
	}
	found := false
	for id := range ecs.ID(s.p.Types.Len()) {
		if found {
			break
		}
		w.history.Diff(w.slot(t), id, func(r ecs.Rows, k int, was unsafe.Pointer) {
			if found {
				return
			}
			found = true
			d.Entity, d.Component = r.Entity(k), s.p.Types.Info(id).Name
			if i := s.p.Index(id); i >= 0 && was != nil {
				c := &s.p.Components[i]
				d.Component = c.Name
				d.Field, d.First, d.Again = firstField(c, was, unsafe.Add(r.Column(id), uintptr(k)*c.Size))
			}
		})
	}
	if y.system >= 0 {
		d.System = s.p.schedule.Systems()[y.system].Name
	}
	y.found(d)
	return true
}
