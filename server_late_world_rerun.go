package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
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
	w.spawns.keep(from - 1)
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
		w.held.resume(t)
		w.saveWorld(t)
		if s.late.test.ticks > 0 {
			s.late.test.runs[lateRun{0, t, len(s.p.Systems)}] = s.sim.hash()
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
	w.compare(from)
}

// beginRuns and endRuns are around ticks that run again.
func (w *lateWorld) beginRuns() {
	w.now, w.running = w.s.sim.frame.Tick, true
	w.shapes = w.shapes[:0]
	for owner := range w.marked {
		w.shapes = append(w.shapes, w.s.sim.world.Structure(PlayerID(owner)))
	}
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
		if given.tick != t { // it came in that tick
			p.inputs.command, p.inputs.offset = w.none, 0
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
		_ = s.requests.handleRequest(r.by, r.kind, at.bytes[r.from:r.upto])
	}
	s.commands.fillCommands()
	s.around.runAgain(f, s.late.test.running)
	s.p.schedule.Execute(s.sim.world, f)
	s.around.runFirst(f)
	if len(s.traces.recording) > 0 {
		s.traces.end()
	}
	s.sim.writes.end()
	s.sim.roundTick(false)
	s.sim.writes.outside.keep()
}

// compare tells the players whose predicted state has changed, and lets the jumps of bodies
// fade on screens.
func (w *lateWorld) compare(from Tick) {
	s := w.s
	for owner, was := range w.shapes {
		w.marked[owner] = s.sim.world.Structure(PlayerID(owner)) != was
	}
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
			if cut, ok := w.cuts[e]; ok && was != nil && int32(cut-from) >= 0 {
				w.jumps(e) // to where it would be without an undone teleport, or with a new one
				return
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

// cut notes that an entity teleports in the tick that runs. It reports whether another run of
// the tick did the same.
func (w *lateWorld) cut(e ecs.Entity) bool {
	if !w.on {
		return false
	}
	t := w.s.sim.frame.Tick
	was, ok := w.cuts[e]
	if w.cuts[e] = t; ok && int32(was-t) > 0 {
		w.cuts[e] = was
	}
	return w.running && ok && was == t
}

// jumps tells screens and shots that an entity is elsewhere.
func (w *lateWorld) jumps(e ecs.Entity) {
	if w.s.late.fades.hasCut(e) {
		return
	}
	w.s.past.Cut(uint64(e))
	w.s.late.fades.cut = append(w.s.late.fades.cut, e)
	w.s.senders.source.Teleport(w.s.sim.net(e))
}

// The visibility of entities and their groups are no part of the world. undone is how it was
// before a tick's change, which has to be undone before the tick runs again.
type undone struct {
	tick   Tick
	kind   undoneKind
	player PlayerID
	e      ecs.Entity
	was    uint64
	net    snapshot.NetID
	eye    [3]float32
}

type undoneKind uint8

const (
	undoVisible undoneKind = iota
	undoTeam
	undoEntityTeam
	undoAudience
	undoEye
	undoGroup
)

func (w *lateWorld) noteChange(u undone) {
	switch {
	case !w.on || w.undoing || w.s.late.test.running:
	case !w.runs():
		w.block() // nothing does it again
	default:
		u.tick = w.s.sim.frame.Tick
		if u.e != ecs.None {
			u.net = w.s.sim.net(u.e)
		}
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

func (w *lateWorld) noteEye(player PlayerID, was *playerInterest) {
	u := undone{kind: undoEye, player: player, eye: was.eye}
	if was.hasEye {
		u.was = 1
	}
	w.noteChange(u)
}

func (w *lateWorld) noteAudience(player PlayerID, e ecs.Entity, was schema.Audience) {
	w.noteChange(undone{kind: undoAudience, player: player, e: e, was: uint64(was)})
}

func (w *lateWorld) noteGroup(e ecs.Entity, was uint32) {
	w.noteChange(undone{kind: undoGroup, e: e, was: uint64(was)})
}

// takeBack undoes these changes from a tick on, the newest first.
func (w *lateWorld) takeBack(from Tick) {
	s := w.s
	w.undoing = true
	defer func() { w.undoing = false }()
	for n := len(w.undo); n > 0 && int32(w.undo[n-1].tick-from) >= 0; n-- {
		u := w.undo[n-1]
		w.undo = w.undo[:n-1]
		if u.e != ecs.None && !s.sim.world.Alive(u.e) { // the tick spawned it, and may do so again
			w.forgetEntity(u)
			continue
		}
		switch u.kind {
		case undoVisible:
			s.interest.setVisible(u.player, u.e, u.was == 1)
		case undoEye:
			if p := s.sessions.player(u.player); p != nil {
				p.interest.eye, p.interest.hasEye = u.eye, u.was == 1
			}
		case undoGroup:
			s.interest.grouped[u.net] = uint32(u.was)
		case undoTeam:
			s.interest.setTeam(u.player, uint8(u.was))
		case undoEntityTeam:
			if u.was == noTeam {
				delete(s.interest.entityTeams, u.e)
			} else {
				s.interest.setEntityTeam(u.e, uint8(u.was))
			}
		case undoAudience:
			s.interest.setAudience(u.player, u.e, ^schema.Audience(u.was), false)
			s.interest.setAudience(u.player, u.e, schema.Audience(u.was), true)
		}
	}
}

// forgetEntity forgets a change of an entity that is not there.
func (w *lateWorld) forgetEntity(u undone) {
	switch p := w.s.sessions.player(u.player); {
	case u.kind == undoGroup:
		w.s.interest.grouped[u.net] = 0
	case u.kind == undoEntityTeam:
		delete(w.s.interest.entityTeams, u.e)
	case p != nil && u.kind == undoVisible:
		delete(p.interest.hides, u.e)
		if p.outbox.sender != nil {
			p.outbox.sender.SetVisible(u.net, true)
		}
		for _, o := range w.s.sessions.observers { // where somebody else hides it, it is hidden again when it appears
			o.outbox.sender.SetVisible(u.net, true)
		}
	case p != nil && u.kind == undoAudience:
		delete(p.interest.members, u.e)
		if p.outbox.sender != nil {
			p.outbox.sender.SetAudience(u.net, ^schema.Audience(0), false)
		}
	}
}

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
	return w.s.sim.hash()
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
	if was, ok := y.runs[lateRun{0, t, len(s.p.Systems)}]; ok && was != s.sim.hash() {
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
