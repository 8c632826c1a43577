package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// What frames ask of the server: see serverEnd. Systems, handlers and hooks reach the
// server through it alone.

func (s *Server) spawn(k *ecs.Prefab, owner PlayerID) ecs.Entity {
	s.run.refuseCaptured("Spawn")
	if s.sim.writes.sharedRuns() {
		s.sim.refuseSpawn(k)
	}
	return s.sim.spawn(k, owner)
}

func (s *Server) destroy(e ecs.Entity) bool {
	s.run.refuseCaptured("Destroy")
	return s.sim.destroy(e)
}

// shownBefore returns the offset that a player's command of this tick states, 0: none.
func (s *Server) shownBefore(player PlayerID) uint8 {
	if p := s.sessions.player(player); p != nil {
		return p.inputs.offset
	}
	return 0
}

func (s *Server) simulates(e ecs.Entity) bool { return s.sim.world.Alive(e) }

func (s *Server) prefabOf(e ecs.Entity) *ecs.Prefab {
	if k := s.p.prefabNamed(s.p.identity.Find(s.sim.world, e)); k != nil {
		return k.ECS
	}
	return nil
}

// raised notes that an event was raised, for the notes to the player that predicts it. It
// returns what becomes of the event, and whether that player's screen is in this very world.
func (s *Server) raised(by ecs.Entity, owner PlayerID, event int) (fate eventFate, shown bool) {
	if p := s.sessions.player(owner); p != nil && !s.sim.clientOnly(by) && !s.late.test.running {
		p.raise(s.sim.frame.Tick, event)
	}
	return s.late.raise(owner), s.preview != nil && !s.late.world.running && s.preview.shows(by, owner)
}

// mayRunAgain reports whether the running code is a shared system, whose run for a player may
// be undone. practice is true in a sync test, whose results do not count.
func (s *Server) mayRunAgain(owner PlayerID) (again, practice bool) {
	p := s.sessions.player(owner)
	if s.late.world.on {
		return s.late.world.runs(), false // its tests restore the queues, too
	}
	return p != nil && s.late.ready(p) && s.sim.writes.sharedRuns(), s.late.test.running
}

// finalFor returns the newest tick of a player that no late command can change.
func (s *Server) finalFor(owner PlayerID) Tick {
	if s.late.world.on {
		return s.late.world.finalTick()
	}
	now := s.sim.frame.Tick
	if s.late.player != nil {
		now = s.late.now
	}
	if p := s.sessions.player(owner); p != nil && s.late.ready(p) {
		return p.late.firstOpen(now+1) - 1
	}
	return now
}

// final is finalFor all players.
func (s *Server) final() Tick {
	t := s.finalFor(0)
	for _, p := range s.sessions.players {
		t = min(t, s.finalFor(p.owner))
	}
	return t
}

// nestedTooDeep counts events whose handlers are not called.
func (s *Server) nestedTooDeep(events int) { s.stats.EventsNested += uint64(events) }

// readRequest reads a request with fn. It reports whether the request can be handled.
func (s *Server) readRequest(player PlayerID, payload []byte, fn func() error) (ok bool, err error) {
	p := s.sessions.player(player)
	err = s.decode(p, payload, fn)
	return err == nil && !p.session.poisoned, err
}

// pack writes a message, valid until the next call.
func (s *Server) pack(message int, described *schema.Schema, at unsafe.Pointer) []byte {
	s.sim.losses.sent(s.p.Messages[message].Name, described, at)
	s.senders.scratch = described.Pack(at, s.senders.scratch[:0])
	return s.senders.scratch
}

// beforeSystem is called before each system.
func (s *Server) beforeSystem(system int) {
	for _, fn := range s.hooks.system {
		fn(s.systemRun(system, false))
	}
	if s.late.player != nil {
		s.traces.ranBefore()
		s.late.apply(system - 1)
		s.traces.runs(system)
		s.sim.writes.running = system
		return
	}
	if len(s.traces.recording) > 0 {
		s.traces.before(system)
	}
	if s.late.world.running && s.late.test.running {
		s.sim.writes.running = system
		return
	}
	s.sim.writes.before(system)
	if s.late.world.running {
		return
	}
	if debugBuild {
		s.settleTrails()
		s.sim.losses.beforeSystem(s.sim.world, system, s.sim.frame.Tick)
	}
	s.times.before()
}

// afterSystem is called after each system.
func (s *Server) afterSystem(system int) {
	if len(s.traces.recording) > 0 {
		s.traces.steps.after(system)
	}
	for _, fn := range s.hooks.system {
		fn(s.systemRun(system, true))
	}
	if s.late.player != nil {
		s.sim.writes.running = -1
		s.late.compareRun(system)
		return
	}
	if s.late.world.running {
		if s.late.test.running {
			s.sim.writes.running = -1
		} else {
			s.sim.writes.after(system)
		}
		s.late.compareRun(system)
		return
	}
	s.late.noteRun(system)
	s.times.after(system)
	s.sim.writes.after(system)
	if debugBuild {
		s.sim.losses.afterSystem(s.sim.world, system, s.sim.frame.Tick)
	}
	if debugBuild && s.sim.writes.both[system] {
		s.trails.due = true
	}
}

// beforeRows is called before a shared system that may write other rows runs for some. It
// reads the rows that carry singletons, which the system did not declare.
func (s *Server) beforeRows(rows ecs.Rows) {
	was := s.sim.world.Guard(false)
	s.sim.writes.others.ahead(rows)
	s.sim.world.Guard(was)
}

// afterRows is called after it.
func (s *Server) afterRows(rows ecs.Rows) {
	was := s.sim.world.Guard(false)
	s.sim.row.take()
	s.sim.writes.others.behind(rows)
	s.sim.world.Guard(was)
}

// deferred returns the number of structural commands that wait for the end of the system.
func (s *Server) deferred() int { return s.sim.world.Deferred() }

// afterChanges is called after a shared system that may add and remove components ran for
// some rows. The commands from first on are its own.
func (s *Server) afterChanges(first int, rows ecs.Rows) {
	for i := first; i < s.sim.world.Deferred(); i++ {
		if e, id, ok := s.sim.world.DeferredChange(i); ok {
			s.sim.writes.others.shaped(e, id, rows)
		}
	}
}

// teleport tells the past and the snapshots.
func (s *Server) teleport(e ecs.Entity) bool {
	if s.late.test.running && !s.late.world.on {
		return true
	}
	s.past.EndLife(uint64(e))
	if s.late.test.running {
		return true // a test in the whole world runs the tick's shots again, too
	}
	if s.preview != nil {
		s.preview.canvas.cut = append(s.preview.canvas.cut, e)
	}
	if s.late.world.cut(e) {
		return true // screens and shots know of it
	}
	s.past.Cut(uint64(e))
	if s.late.window > 0 {
		s.late.fades.cut = append(s.late.fades.cut, e)
	}
	if id := s.p.identity.Find(s.sim.world, e); id != nil {
		s.senders.source.Teleport(snapshot.NetID(id.Net))
	}
	return true
}
