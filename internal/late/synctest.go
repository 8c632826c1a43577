package late

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/schema"
)

// syncTest runs the newest ticks again before each tick, and looks for results that differ from the
// first run. A late input would cause the same differences.
type syncTest struct {
	ticks   Tick // ticks is how many ticks are run again. 0 means that the test is off.
	found   func(probe.Desync)
	running bool
	// skips is true if the first system that differed reads other rows or singletons.
	skips bool
	// system is the first system after which the runs differed, as far as known. −1 means none yet.
	system int
	runs   map[runOf]uint64
}

// runOf identifies a run of a system in a tick: for one player, or for Nobody if the world runs.
type runOf struct {
	owner  ecs.Owner
	tick   Tick
	system int
}

// BeginTest makes the server run the last ticks again before each tick. found receives each difference.
func (r *Room) BeginTest(ticks int, found func(probe.Desync)) error {
	switch {
	case r.Window == 0:
		return errors.New("foretick: a server runs ticks again only with late inputs: set server.Config.Late.Window")
	case ticks < 0 || Tick(ticks) > r.Window:
		return fmt.Errorf("foretick: a server's sync test goes %d ticks back: use up to %d, the ticks of server.Config.Late.Window", ticks, r.Window)
	case *r.Tick != 0:
		return errors.New("foretick: a server's sync test begins before the first Step")
	}
	r.test = syncTest{ticks: Tick(ticks), found: found, runs: map[runOf]uint64{}}
	return nil
}

// Tests reports whether a sync test is on.
func (r *Room) Tests() bool { return r.test.ticks > 0 }

// testedRuns runs ticks again for a test and leaves everything as it was. partRuns and worldRuns
// implement it.
type testedRuns interface {
	// may reports whether a tick can run again from what is saved.
	may(t Tick) bool
	// enter restores the state at the end of the tick before from.
	enter(from Tick)
	run(t Tick)
	leave()
	// differs reports whether the state at the end of a tick differs from that of the first run, as far
	// as the hashes show, and in which components to look for the difference.
	differs(t Tick) (history *ecs.History, in []ecs.ID, differs bool)
}

// testRuns runs the newest ticks again and reports a result that differs.
func (r *Room) testRuns(runs testedRuns) {
	y, now := &r.test, *r.Tick
	from := now - y.ticks
	for from != now && !runs.may(from) {
		from++
	}
	if from == now {
		return
	}
	y.running, y.system, y.skips = true, -1, false
	runs.enter(from)
	for t := from; t != now; t++ {
		runs.run(t)
		if history, in, differs := runs.differs(t); differs && r.report(t, history, in) {
			break
		}
	}
	runs.leave()
	y.running = false
}

// report reports the first difference of a tick from its first run. It returns false if there is none.
func (r *Room) report(t Tick, history *ecs.History, in []ecs.ID) bool {
	y, d := &r.test, probe.Desync{Kind: probe.Impure, Tick: t}
	found := false
	for _, id := range in {
		history.Diff(r.Slot(t), id, func(rows ecs.Rows, k int, was unsafe.Pointer) {
			if found {
				return
			}
			found = true
			d.Entity, d.Component = rows.Entity(k), r.Layout.Types.Info(id).Name
			if i := r.Layout.Index(id); i >= 0 {
				c := &r.Layout.Components[i]
				d.Component = c.Name
				if was != nil {
					d.Field, d.First, d.Again = firstField(c, was, unsafe.Add(rows.Column(id), uintptr(k)*c.Size))
				}
			}
		})
		if found {
			break
		}
	}
	switch {
	case !found && !r.Whole:
		return false
	case y.skips:
		return true // the system read other rows or a singleton, which have changed since
	case y.system >= 0:
		d.System = r.Systems[y.system].Name
	}
	y.found(d)
	return true
}

// firstField returns the first field in which two values of a component differ on the simulation grid,
// and its two values.
func firstField(c *layout.Component, was, now unsafe.Pointer) (name string, first, again float64) {
	a, b := make([]int32, c.Schema.Words()), make([]int32, c.Schema.Words())
	c.Schema.Quantise(was, schema.GridSim, nil, a)
	c.Schema.Quantise(now, schema.GridSim, nil, b)
	if i := c.Schema.FirstDifference(a, b); i >= 0 {
		return c.Schema.Field(i).Name, c.Schema.Number(i, a, schema.GridSim), c.Schema.Number(i, b, schema.GridSim)
	}
	return "", 0, 0
}

// partRuns runs one player's part again.
type partRuns struct {
	r *Room
	p *Player
}

func (s partRuns) may(t Tick) bool {
	return s.p.find(t) != nil && s.p.history.Holds(s.r.Slot(t-1)) && ecs.Engine(s.r.World).Structure(s.p.owner) == s.p.shape
}

func (s partRuns) enter(from Tick) { s.r.enterPart(s.p, from) }

func (s partRuns) run(t Tick) {
	if at := s.p.at(t); at.tick == t {
		s.r.rerunTick(s.p, at)
	}
}

func (s partRuns) leave() {
	s.r.part.player, s.r.part.at = nil, nil
	s.p.history.Restore(s.r.scratch())
}

func (s partRuns) differs(Tick) (history *ecs.History, in []ecs.ID, differs bool) {
	for i := range s.r.Layout.Components {
		if c := &s.r.Layout.Components[i]; c.Predicted {
			in = append(in, c.ID)
		}
	}
	return s.p.history, in, true
}

// worldRuns runs the whole world again.
type worldRuns struct{ r *Room }

func (s worldRuns) may(t Tick) bool {
	w := &s.r.world
	return int32(t-w.barrier) > 0 && s.r.worldTick(t).tick == t && w.history.Holds(s.r.Slot(t-1))
}

func (s worldRuns) enter(from Tick) {
	s.r.keepWorld(s.r.scratch())
	s.r.beginRuns()
	s.r.restoreWorld(s.r.Slot(from - 1))
}

func (s worldRuns) run(t Tick) { s.r.runTick(t) }

func (s worldRuns) leave() {
	s.r.endRuns()
	s.r.restoreWorld(s.r.scratch())
}

func (s worldRuns) differs(t Tick) (history *ecs.History, in []ecs.ID, differs bool) {
	r := s.r
	if was, ok := r.test.runs[runOf{ecs.Nobody, t, len(r.Systems)}]; (!ok || was == r.host.Hash(false)) && r.test.system < 0 {
		return nil, nil, false
	}
	for id := range ecs.ID(r.Layout.Types.Len()) {
		in = append(in, id)
	}
	return r.world.history, in, true
}

// noteRun stores the hash after a system's first run.
func (r *Room) noteRun(owner ecs.Owner, system int, sum uint64) {
	now := *r.Tick
	r.test.runs[runOf{owner, now, system}] = sum
	delete(r.test.runs, runOf{owner, now - r.Window - 2, system})
}

// NoteRun stores the hash of the state after a system's first run, for the sync test.
func (r *Room) NoteRun(system int) {
	switch {
	case r.Whole:
		r.noteRun(ecs.Nobody, system, r.host.Hash(true))
	case r.shared[system]:
		for _, p := range *r.Players {
			if r.ready(p) {
				r.noteRun(p.owner, system, r.sumPart(p))
			}
		}
	}
}

// BeforeSystem applies to a player's part that runs again what others did to it before this system.
func (r *Room) BeforeSystem(system int) {
	if !r.Whole {
		r.setWrites(system - 1)
	}
}

// CompareRun compares the state after a system's repeated run with that after its first run. A run with
// a late command becomes the new first run.
func (r *Room) CompareRun(system int) {
	y := &r.test
	if y.ticks == 0 || y.running && y.system >= 0 || !r.Whole && !r.shared[system] {
		return
	}
	run := runOf{ecs.Nobody, *r.Tick, system}
	var sum uint64
	if r.Whole {
		sum = r.host.Hash(true)
	} else {
		run.owner, sum = r.part.player.owner, r.sumPart(r.part.player)
	}
	if !y.running {
		y.runs[run] = sum
		return
	}
	if was, ok := y.runs[run]; ok && was != sum {
		read := &r.Systems[system]
		y.system, y.skips = system, !r.Whole && len(read.OtherReads)+len(read.SingleReads) > 0
	}
}

// sumPart returns a hash of a player's predicted state.
func (r *Room) sumPart(p *Player) (sum uint64) {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	for _, rows := range r.Entities.Owned(r.World, p.owner) {
		for i := range r.Layout.Components {
			c := &r.Layout.Components[i]
			base := rows.Column(c.ID)
			if !c.Predicted || base == nil {
				continue
			}
			for k, e := range rows.Entities() {
				x := (offset^uint64(e))*prime ^ uint64(c.ID)
				for _, b := range unsafe.Slice((*byte)(unsafe.Add(base, uintptr(k)*c.Size)), c.Size) {
					x = (x ^ uint64(b)) * prime
				}
				sum += x
			}
		}
	}
	return sum
}
