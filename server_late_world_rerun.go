package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
)

// rerun restores the world to the tick before the oldest late command, and runs everything
// up to the present again.
func (w *lateWorld) rerun() {
	from := w.from
	if w.from = 0; from == 0 {
		return
	}
	s := w.s
	now := s.sim.frame.Tick
	if int32(from-w.barrier) <= 0 || !w.history.Holds(w.slot(from-1)) {
		w.block()
		w.refresh()
		return
	}
	w.history.Save(w.scratch())
	w.beginRuns()
	w.restoreWorld(w.slot(from - 1))
	w.takeBack(from)
	w.held.drop(from)
	for _, p := range s.sessions.players {
		p.reasons.Rerun(from)
		if debugBuild {
			p.trail.Forget()
		}
	}
	s.sim.writes.outside.keep()
	for t := from; t != now; t++ {
		w.runTick(t)
		w.saveWorld(t)
		if s.late.test.ticks > 0 {
			s.late.test.runs[lateRun{0, t, len(s.p.Systems)}] = s.hash()
		}
		for _, p := range s.sessions.players {
			if p.again == nil {
				continue
			}
			if at := p.again.at(t); at.tick == t {
				at.given, at.used = p.shooter.Given(), max(at.used, p.shooter.Used())
			}
			if p.late != nil {
				if at := p.late.find(t); at != nil && at.state == came {
					at.state = settled
				}
				p.late.from = 0
			}
		}
	}
	w.endRuns()
	w.compare()
}

// beginRuns and endRuns are around ticks that run again.
func (w *lateWorld) beginRuns() {
	w.now, w.running = w.s.sim.frame.Tick, true
	for _, p := range w.s.sessions.players {
		if a := p.again; a != nil {
			a.command, a.offset, a.given = p.inputs.command, p.inputs.offset, p.shooter.Given()
		}
	}
}

func (w *lateWorld) endRuns() {
	f := &w.s.sim.frame
	f.Tick, f.Replay, w.running = w.now, false, false
	w.s.sim.spawnTick = 0
	w.s.past.AsOf(0)
	for _, p := range w.s.sessions.players {
		if a := p.again; a != nil {
			p.inputs.command, p.inputs.offset = a.command, a.offset
			p.shooter.TakeBack(a.given)
		}
	}
}

// runTick runs a tick again with what it had.
func (w *lateWorld) runTick(t Tick) {
	s, f := w.s, &w.s.sim.frame
	f.Tick, f.Replay = t, true
	s.sim.spawnTick = 0
	at := w.at(t)
	w.final = at.final
	s.past.AsOf(t - 1)
	w.spawns.begin()
	for _, p := range s.sessions.players {
		if p.again == nil {
			continue
		}
		given, before := p.again.at(t), p.again.at(t-1)
		if given.tick != t {
			continue
		}
		used := float64(-1)
		if before.tick == t-1 {
			used = before.used
		}
		p.inputs.command, p.inputs.offset = given.command, given.offset
		p.shooter.Again(given.given, t, used)
		if p.tracing.armed != nil && !s.late.test.running {
			s.traces.beginRerun(p, t)
		}
	}
	for _, r := range at.requests {
		_ = s.handleRequest(r.by, r.kind, at.bytes[r.from:r.upto])
	}
	s.fillCommands()
	s.p.schedule.Execute(s.sim.world, f)
	if len(s.traces.recording) > 0 {
		s.traces.end()
	}
	s.sim.writes.end()
	s.snap()
	s.sim.writes.outside.keep()
}

// compare tells the players whose predicted state has changed, and lets the jumps of bodies
// fade on screens.
func (w *lateWorld) compare() {
	s := w.s
	clear(w.marked)
	for i := range s.p.Components {
		c := &s.p.Components[i]
		if c.Unknown || c.Varies || !c.Predicted && !c.Lerped {
			continue
		}
		w.history.Diff(w.scratch(), c.ID, func(r ecs.Rows, k int, was unsafe.Pointer) {
			e, owner := r.Entity(k), r.Owner()
			if c.Predicted && int(owner) < len(w.marked) {
				w.marked[owner] = true
			}
			if c.Lerped && was != nil && s.sim.net(e) != 0 && !s.late.fades.hasCut(e) {
				s.late.fades.add(s, e, i, was, unsafe.Add(r.Column(c.ID), uintptr(k)*c.Size))
			}
		})
	}
	for _, p := range s.sessions.players {
		if (w.marked[p.owner] || w.marked[ecs.Nobody] && s.p.Common) && p.owner != w.by {
			p.reasons.Affected(w.now, s.p.lateCause(), Tick(s.p.TickRate/calmShare))
		}
	}
}

// The visibility of entities is no part of the world. undone is how it was before a tick's
// change, which has to be undone before the tick runs again.
type undone struct {
	tick   Tick
	kind   undoneKind
	player PlayerID
	e      ecs.Entity
	was    uint64
}

type undoneKind uint8

const (
	undoVisible undoneKind = iota
	undoTeam
	undoEntityTeam
	undoAudience
)

func (w *lateWorld) noteChange(u undone) {
	if w.on && w.opened && !w.s.late.test.running {
		u.tick = w.s.sim.frame.Tick
		w.undo = append(w.undo, u)
	}
}

func (w *lateWorld) noteVisible(player PlayerID, e ecs.Entity, was bool) {
	u := undone{kind: undoVisible, player: player, e: e}
	if was {
		u.was = 1
	}
	w.noteChange(u)
}

func (w *lateWorld) noteTeam(player PlayerID, was uint8) {
	w.noteChange(undone{kind: undoTeam, player: player, was: uint64(was)})
}

func (w *lateWorld) noteEntityTeam(e ecs.Entity, was uint8, had bool) {
	u := undone{kind: undoEntityTeam, e: e, was: uint64(was)}
	if !had {
		u.was = noTeam
	}
	w.noteChange(u)
}

const noTeam = 1 << 8

func (w *lateWorld) noteAudience(player PlayerID, e ecs.Entity, was schema.Audience) {
	w.noteChange(undone{kind: undoAudience, player: player, e: e, was: uint64(was)})
}

// takeBack undoes the changes of visibility from a tick on, the newest first.
func (w *lateWorld) takeBack(from Tick) {
	s := w.s
	for n := len(w.undo); n > 0 && int32(w.undo[n-1].tick-from) >= 0; n-- {
		u := w.undo[n-1]
		w.undo = w.undo[:n-1]
		if u.e != ecs.None && !s.sim.world.Alive(u.e) { // the tick spawned it, and may do so again
			w.forgetEntity(u)
			continue
		}
		switch u.kind {
		case undoVisible:
			s.setVisible(u.player, u.e, u.was == 1)
		case undoTeam:
			s.setTeam(u.player, uint8(u.was))
		case undoEntityTeam:
			if u.was == noTeam {
				delete(s.interest.entityTeams, u.e)
			} else {
				s.setEntityTeam(u.e, uint8(u.was))
			}
		case undoAudience:
			s.setAudience(u.player, u.e, ^schema.Audience(u.was), false)
			s.setAudience(u.player, u.e, schema.Audience(u.was), true)
		}
	}
}

// forgetEntity forgets a change of an entity that is not there.
func (w *lateWorld) forgetEntity(u undone) {
	switch p := w.s.sessions.player(u.player); {
	case u.kind == undoEntityTeam:
		delete(w.s.interest.entityTeams, u.e)
	case p != nil && u.kind == undoVisible:
		delete(p.interest.hides, u.e)
	case p != nil && u.kind == undoAudience:
		delete(p.interest.members, u.e)
	}
}
