package foretick

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/schema"
)

// lateSyncTest runs the newest ticks of each player again, before each tick, and looks for
// results that differ from the first run. A late input would change them, too.
type lateSyncTest struct {
	ticks   Tick // that are run again; 0: it is off
	found   func(probe.Desync)
	running bool
	skips   bool // a system that reads other rows or singletons was the first that differed
	system  int  // after which the runs differed first, as far as known; −1: none yet
	runs    map[lateRun]uint64
}

// lateRun names the run of a system in a tick for a player.
type lateRun struct {
	owner  PlayerID
	tick   Tick
	system int
}

// beginSyncTest makes the server run so many ticks again before each tick.
func (l *lateInputs) beginSyncTest(ticks int, found func(probe.Desync)) error {
	switch {
	case l.window == 0:
		return errors.New("foretick: a server runs ticks again only with LateInputs: set ServerConfig.LateInputs")
	case ticks < 0 || Tick(ticks) > l.window:
		return fmt.Errorf("foretick: a server's sync test goes %d ticks back: use up to %d, the ticks of ServerConfig.LateInputs", ticks, l.window)
	case l.s.sim.frame.Tick != 0:
		return errors.New("foretick: a server's sync test begins before the first Step")
	}
	if r := l.s.sink; r != nil {
		tell := found
		found = func(d probe.Desync) {
			r.Report(fmt.Sprintf("desync in tick %d after system %q: %s.%s", d.Tick, d.System, d.Component, d.Field))
			tell(d)
		}
	}
	l.test = lateSyncTest{ticks: Tick(ticks), found: found, runs: map[lateRun]uint64{}}
	return nil
}

// logDesyncs is the sync test of debug builds: it logs the first fault of each component.
func (l *lateInputs) logDesyncs() {
	told := map[string]bool{}
	_ = l.beginSyncTest(1, func(d probe.Desync) {
		if key := d.System + " " + d.Component; !told[key] {
			told[key] = true
			l.s.cfg.Logger.Warn("a tick that runs again for a late input has another result: keep state in components, not in Go variables",
				append(l.who(), "tick", d.Tick, "system", d.System, "component", d.Component, "field", d.Field, "first", d.First, "again", d.Again)...)
		}
	})
}

// who names the player whose part runs again, if it is one's.
func (l *lateInputs) who() []any {
	if l.player == nil {
		return nil
	}
	return l.player.who()
}

// noteRun notes the state of the players' parts after a shared system's first run.
func (l *lateInputs) noteRun(system int) {
	if l.test.ticks == 0 {
		return
	}
	if l.world.on {
		l.world.noteRun(system)
		return
	}
	if !l.shared[system] {
		return
	}
	now := l.s.sim.frame.Tick
	for _, p := range l.s.sessions.players {
		if l.ready(p) {
			l.test.runs[lateRun{p.owner, now, system}] = l.sumPart(p)
			delete(l.test.runs, lateRun{p.owner, now - l.window - 2, system})
		}
	}
}

// compareRun compares the state after a shared system's repeated run with that of the first
// one. The run with a late command becomes the first.
func (l *lateInputs) compareRun(system int) {
	y := &l.test
	if y.ticks == 0 || y.running && y.system >= 0 {
		return
	}
	if l.world.on {
		l.world.compareRun(system)
		return
	}
	if !l.shared[system] {
		return
	}
	run, sum := lateRun{l.player.owner, l.s.sim.frame.Tick, system}, l.sumPart(l.player)
	if !y.running {
		y.runs[run] = sum
		return
	}
	if was, ok := y.runs[run]; ok && was != sum {
		y.system = system
		read := l.s.p.schedule.Systems()[system]
		y.skips = len(read.OtherReads)+len(read.SingleReads) > 0
	}
}

// sumPart is a digest of a player's predicted state.
func (l *lateInputs) sumPart(p *player) uint64 {
	sum := uint64(0)
	l.eachOwn(p, func(e ecs.Entity, c *layout.Component, at unsafe.Pointer) {
		x := (fnvOffset^uint64(e))*fnvPrime ^ uint64(c.ID)
		for _, b := range unsafe.Slice((*byte)(at), c.Size) {
			x = (x ^ uint64(b)) * fnvPrime
		}
		sum += x
	})
	return sum
}

// eachOwn visits the predicted components of a player's entities.
func (l *lateInputs) eachOwn(p *player, visit func(e ecs.Entity, c *layout.Component, at unsafe.Pointer)) {
	for _, rows := range l.s.sim.entities.Owned(l.s.sim.world, p.owner) {
		for i := range l.s.p.Components {
			c := &l.s.p.Components[i]
			base := rows.Column(c.ID)
			if !c.Predicted || base == nil {
				continue
			}
			for k, e := range rows.Entities() {
				visit(e, c, unsafe.Add(base, uintptr(k)*c.Size))
			}
		}
	}
}

// syncTest runs the newest ticks of each player again, whose result has to be the same.
func (l *lateInputs) syncTest() {
	if l.test.ticks == 0 {
		return
	}
	for _, p := range l.s.sessions.players {
		if l.ready(p) && p.late.from == 0 {
			l.syncTestOf(p)
		}
	}
}

func (l *lateInputs) syncTestOf(p *player) {
	s, st, y := l.s, p.late, &l.test
	f := &s.sim.frame
	l.now = f.Tick
	from := l.now - l.test.ticks
	for ; from != l.now; from++ {
		if st.find(from) != nil && st.history.Holds(st.slot(from-1)) {
			break
		}
	}
	if from == l.now || s.sim.world.Structure(p.owner) != st.shape {
		return
	}
	st.history.Save(st.scratch())
	st.history.Restore(st.slot(from - 1))
	l.keep(st)
	l.player, y.running, y.system, y.skips = p, true, -1, false
	for t := from; t != l.now; t++ {
		if at := st.at(t); at.tick == t {
			l.rerunTick(p, at)
		}
		if y.differs(l, p, st, t) {
			break
		}
	}
	l.player, l.at, y.running = nil, nil, false
	f.Tick, f.Replay = l.now, false
	s.sim.spawnTick = 0
	st.history.Restore(st.scratch())
}

// differs compares the end of a tick with its first run's, and reports the first difference.
func (y *lateSyncTest) differs(l *lateInputs, p *player, st *playerLate, t Tick) (any bool) {
	for i := range l.s.p.Components {
		c := &l.s.p.Components[i]
		if !c.Predicted || any {
			continue
		}
		st.history.Diff(st.slot(t), c.ID, func(r ecs.Rows, k int, was unsafe.Pointer) {
			if any {
				return
			}
			any = true
			if y.skips {
				return // it read what others or a singleton have become since
			}
			d := probe.Desync{Kind: probe.Impure, Tick: t, Entity: r.Entity(k), Component: c.Name}
			if y.system >= 0 {
				d.System = l.s.p.schedule.Systems()[y.system].Name
			}
			if was != nil {
				d.Field, d.First, d.Again = firstField(c, was, unsafe.Add(r.Column(c.ID), uintptr(k)*c.Size))
			}
			y.found(d)
		})
	}
	return any
}

// firstField returns the first field in which two values of a component differ on the grid of
// the simulation, and its values.
func firstField(c *layout.Component, was, now unsafe.Pointer) (name string, first, again float64) {
	a, b := make([]int32, c.Schema.Words()), make([]int32, c.Schema.Words())
	c.Schema.Quantise(was, schema.GridSim, nil, a)
	c.Schema.Quantise(now, schema.GridSim, nil, b)
	if i := c.Schema.FirstDifference(a, b); i >= 0 {
		return c.Schema.Field(i).Name, fieldValue(c, i, a), fieldValue(c, i, b)
	}
	return "", 0, 0
}
